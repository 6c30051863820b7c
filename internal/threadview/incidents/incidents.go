// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package incidents answers: what stays of an episode of contention when its windows are gone? It finds incidents in the windows of the page, as
// the thread_span processor does in its own, and keeps them in the store in words, together with potential deadlocks and notifies that no
// thread heard.
package incidents

import (
	"cmp"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/wording"
)

const (
	minTime      = 10 * time.Millisecond // that threads waited, all together, as the default of thread_span
	maxPerWindow = 5                     // the store keeps few of a session
)

// Keeper keeps the incidents of one session. One goroutine owns it.
type Keeper struct {
	session *store.Session
	symbols *symbols.Table
	waits   *waits.Classifier
	finder  *incident.Finder
	emitter *threadpdata.Emitter

	pairs map[classes]bool
	calls map[call]jvmthread.Time
}

// New returns a Keeper for a session of a store, with the symbols and the classifier of waits of the engine that cuts its windows.
func New(id jvmthread.SessionID, session *store.Session, sym *symbols.Table, classifier *waits.Classifier) *Keeper {
	return &Keeper{
		pairs: make(map[classes]bool), calls: make(map[call]jvmthread.Time), session: session, symbols: sym, waits: classifier, emitter: threadpdata.NewEmitter(id, sym, classifier),
		finder: sessions.NewIncidents(incident.Options{MinTime: minTime, MaxPerWindow: maxPerWindow, Whole: true}, classifier),
	}
}

// Window keeps the incidents that ended in a window.
func (k *Keeper) Window(w *window.Window) {
	for i := range w.Hints {
		k.hint(&w.Hints[i], w)
	}
	for i := range w.LostNotifies {
		k.lost(&w.LostNotifies[i])
	}
	for _, inc := range k.finder.Find(w).Incidents {
		k.session.AddIncident(k.textOf(inc))
	}
}

// Held estimates the bytes of the incidents that are not over.
func (k *Keeper) Held() int { return k.finder.Held() + k.emitter.Held() }

func (k *Keeper) textOf(inc *incident.Incident) store.Incident {
	texts := k.emitter.IncidentText(inc, store.MaxIncidentHolds, store.MaxIncidentWaits)
	out := store.Incident{
		IncidentID: store.IncidentID{Kind: inc.Kind.String(), Start: inc.Start, First: inc.First}, End: inc.End, Open: inc.Open,
		Object: texts.Object, Name: texts.Name, Text: texts.Text, Blocked: inc.Blocked, Longest: inc.Longest, Count: inc.Count, Threads: inc.Threads, TimedOut: inc.TimedOut,
	}
	out.Cast, out.More = inc.Cast(store.MaxIncidentCast)
	out.Waiters = k.waiters(inc.Waiters())
	for i := range inc.Waits {
		if id := inc.Waits[i].Detail.Span.TraceID; id != [16]byte{} && !slices.Contains(out.Requests, id) {
			out.Requests = append(out.Requests, id)
		}
	}
	for i := range texts.Holds {
		h := &texts.Holds[i]
		out.Holds = append(out.Holds, store.IncidentPart{
			Start: h.Start, End: h.End, Thread: h.Hold.Thread, Name: h.Thread, Object: h.Object, Blocked: h.Blocked, Text: h.Text,
			Function: k.waits.Site(h.Stack).Function, Frames: k.frames(h.Stack),
		})
	}
	for i := range texts.Waits {
		wt := &texts.Waits[i]
		part := store.IncidentPart{
			Start: wt.Start, End: wt.End, Thread: wt.Interval.Thread, Name: wt.Thread, Object: wt.Object, Text: wt.Text,
			Function: k.waits.Site(wt.Interval.Stack).Function, Frames: k.frames(wt.Interval.Stack),
		}
		if span := wt.Detail.Span; !span.IsZero() {
			part.Trace, part.Span = hex.EncodeToString(span.TraceID[:]), hex.EncodeToString(span.SpanID[:])
		}
		out.Waits = append(out.Waits, part)
	}
	return out
}

// maxNames bounds the names that waiters lists.
const maxNames = 3

// waiters says how many threads of which names there are: 19 × settlement-*, 3 × matcher-*, main.
func (k *Keeper) waiters(ids []jvmthread.ThreadID) string {
	counts, common := make(map[string]int), make(map[string]string)
	for _, id := range ids {
		name := wording.ThreadName(k.symbols.Thread(id).Name, id)
		pool := contention.Pool(name)
		if counts[pool]++; counts[pool] > 1 {
			name = contention.Common(common[pool], name)
		}
		common[pool] = name
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var out []string
	rest := len(ids)
	for _, name := range names[:min(len(names), maxNames)] {
		n := counts[name]
		rest -= n
		if n == 1 {
			out = append(out, common[name])
		} else {
			out = append(out, strconv.Itoa(n)+" × "+common[name])
		}
	}
	if rest > 0 {
		out = append(out, strconv.Itoa(rest)+" more")
	}
	return strings.Join(out, ", ")
}

// frames returns the innermost frames of a stack.
func (k *Keeper) frames(id jvmthread.StackID) (out []string) {
	for line := range strings.Lines(k.symbols.Stack(id)) {
		if len(out) == store.MaxIncidentFrames {
			break
		}
		out = append(out, strings.TrimPrefix(strings.TrimSpace(line), "at "))
	}
	return out
}
