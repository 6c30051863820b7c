// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"strconv"
	"time"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// holderStack returns the stack whose site is where a thread was while it held the root: as holderStack of a window's trace.
func (w *incidentWriter) holderStack(h *incident.Hold) jvmthread.StackID {
	if h.Doing.Wait != jvmthread.WaitNone || h.Doing.Stack != jvmthread.NoStack {
		return h.Doing.Stack
	}
	for i := range w.inc.Waits {
		wt := &w.inc.Waits[i]
		if wt.Interval.Peer == h.Thread && h.Of.Is(wt.Interval.Lock) && wt.Detail.OwnerStack != jvmthread.NoStack && wt.Start >= h.Start && wt.Start < h.End {
			return wt.Detail.OwnerStack
		}
		if g := w.giver(wt); g != nil && g.Thread == h.Thread && g.Start == h.Start && wt.Giver.Stack != jvmthread.NoStack && w.waits.Site(wt.Giver.Stack).Own {
			return wt.Giver.Stack
		}
	}
	return jvmthread.NoStack
}

// did says what a thread did while it held the root, or "".
func (w *incidentWriter) did(h *incident.Hold) string {
	if h == nil || h.Doing.Seq == jvmthread.NoSeq {
		return ""
	}
	return w.doingOf(&h.Doing, w.holderStack(h))
}

func (w *incidentWriter) doingOf(iv *jvmthread.Interval, at jvmthread.StackID) string {
	return wording.Doing(iv.State, iv.Wait, w.Emitter.object(iv.Wait, iv.Lock.Class, iv.Stack), w.waits.Site(at).Function)
}

// explain says in a sentence what happened: the cause before the symptom.
func (w *incidentWriter) explain(culprit *incident.Holder) string {
	w.text = w.text[:0]
	inc, root := w.inc, w.inc.Root()
	switch {
	case inc.Deadlock != nil:
		cycle := w.cycle(inc.Deadlock) // overwrites the text
		w.text = append(append(w.text[:0], "deadlock: "...), cycle...)
		w.say("; ", plural(uint64(inc.Threads), "thread"), " waited ", wording.Duration(inc.Blocked))
	case culprit != nil:
		hold := inc.DoingOf(culprit.Thread)
		w.say(w.threadName(culprit.Thread), " held ", w.what(), " for ", wording.Duration(culprit.Held))
		if did := w.did(hold); did != "" {
			w.say(", ", did)
		}
		w.say("; ", w.waiters(root), " waited ", wording.Duration(root.Time), " for it")
		if share := inc.Share(culprit); share < nearlyAll {
			w.say(", ", wording.Percent(share), " of that while ", w.threadName(culprit.Thread), " did")
		}
	default:
		w.say(w.waiters(root), " waited ", wording.Duration(root.Time), " for ", w.what())
		if inc.Kind == incident.CarriersStarved {
			w.keepers()
		} else {
			w.inTurn()
		}
	}
	w.others()
	if n := inc.TimedOut; n > 0 {
		w.say("; ", plural(n, "wait"), " timed out")
	}
	return string(w.text)
}

// nearlyAll is the share from which it need not be stated.
const nearlyAll = 0.9

// what returns what threads waited for: "OrderBook", "a connection of HikariPool".
func (w *incidentWriter) what() string {
	l := w.inc.Root()
	if l.Kind == jvmthread.WaitCarrier {
		return wording.Unit(l.Kind, "")
	}
	object := w.object
	if object == "" {
		object = "an unknown object"
	}
	if unit := wording.Unit(l.Kind, w.waits.Site(l.Stack).Entry); unit != "" {
		return unit + " of " + object
	}
	return object
}

// waiters says how many threads waited for a lock, or which one.
func (w *incidentWriter) waiters(l *incident.Lock) string {
	if l.Threads == 1 {
		return w.threadName(l.Thread)
	}
	return plural(uint64(l.Threads), "thread")
}

// inTurn says who held the root if no thread is the cause.
func (w *incidentWriter) inTurn() {
	inc := w.inc
	if known := inc.Known(); known < contention.MostlyKnown {
		w.say("; who held it for ", wording.Percent(1-known), " of that time is not known")
		w.gaveBack()
		return
	}
	w.say("; ", plural(uint64(len(inc.Holders)), "thread"))
	if inc.Root().Kind == jvmthread.WaitLock {
		w.say(" held it in turn")
	} else {
		w.say(" held one")
	}
	if hold, share := inc.Doing(); hold != nil {
		if did := w.did(hold); did != "" {
			w.say(", ", did)
			if share < nearlyAll {
				w.say(" for ", wording.Percent(share), " of the time")
			}
		}
	}
}

// gaveBack says who ended most of the waits for a pool whose holders are mostly unknown, and what that thread did while it held its part.
func (w *incidentWriter) gaveBack() {
	g := w.inc.Giver()
	if g == nil {
		return
	}
	w.say("; ", w.threadName(g.Thread), " gave it back")
	if g.Doing.Seq == jvmthread.NoSeq {
		return
	}
	if did := w.doingOf(&g.Doing, g.Doing.Stack); did != "" {
		w.say(", ", did, " before")
	}
}

// keepers says which threads kept carriers, each with what it did.
func (w *incidentWriter) keepers() {
	inc := w.inc
	if len(inc.Holders) == 0 {
		w.say("; no thread kept one for ", wording.Duration(time.Duration(timeline.LongMount)), ": there are too few for the load")
		return
	}
	for i := range inc.Holders {
		h := &inc.Holders[i]
		if i == maxHolders {
			w.say("; ", plural(uint64(len(inc.Holders)-i), "more thread"), " kept one")
			return
		}
		w.say("; ", w.threadName(h.Thread), " kept one for ", wording.Duration(h.Held))
		hold := inc.DoingOf(h.Thread)
		if did := w.did(hold); did != "" {
			w.say(", ", did)
		}
	}
}

// maxOthers bounds the other locks that an explanation lists, of each kind.
const maxOthers = 3

// others lists the locks that were the root only for a time, and those for which threads waited only because of the root.
func (w *incidentWriter) others() {
	if w.inc.Kind != incident.Deadlock {
		w.locksThat("; ", (*incident.Lock).WasRoot)
		w.locksThat("; because of that, ", func(l *incident.Lock) bool { return !l.WasRoot() })
	}
}

func (w *incidentWriter) locksThat(begin string, match func(*incident.Lock) bool) {
	root, n := w.inc.Root(), 0
	for i := range w.inc.Locks {
		l := &w.inc.Locks[i]
		if l == root || !match(l) {
			continue
		}
		switch n {
		case 0:
			w.say(begin, w.waiters(l), " waited ")
		case maxOthers:
			w.say(", ...")
			return
		default:
			w.say(", ", w.waiters(l), " ")
		}
		n++
		w.say(wording.Duration(l.Time), " for ", w.Emitter.object(l.Kind, l.ID.Lock.Class, l.Stack))
	}
}

// explainHold says what a thread did while it held the root, and what that cost.
func (w *incidentWriter) explainHold(h *incident.Hold, object string) string {
	w.text = append(w.text[:0], w.threadName(h.Thread)...)
	if object == w.object {
		object = w.what()
	}
	verb := " held "
	if h.Of.Kind == incident.AwaitedCarriers {
		verb = " kept "
	}
	w.say(verb, object, " for ", wording.Duration(h.End.Sub(h.Start)))
	if did := w.did(h); did != "" {
		w.say(", ", did)
	}
	w.say("; others waited ", wording.Duration(h.Blocked), " meanwhile")
	return string(w.text)
}

// explainWait says who held the lock, and who passed it on.
func (w *incidentWriter) explainWait(wt *incident.Wait) string {
	w.text = w.text[:0]
	w.say(w.threadName(wt.Interval.Thread), " waited ", wording.Duration(time.Duration(wt.End-wt.Start)))
	if id := wt.Holder.Thread; id != jvmthread.NoThread {
		did := ""
		if wt.Holder.Doing.Seq != jvmthread.NoSeq {
			did = w.doingOf(&wt.Holder.Doing, wt.Holder.Doing.Stack)
		}
		w.say("; ")
		w.text = wording.AppendHeld(w.text, wt.Interval.Wait, w.threadName(id), wt.Share, did)
	}
	if wt.Giver.Kind != jvmthread.InteractionNone {
		w.say("; ")
		w.Emitter.explain(&wt.Giver)
	}
	return string(w.text)
}

func plural(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatUint(n, 10) + " " + noun + "s"
}
