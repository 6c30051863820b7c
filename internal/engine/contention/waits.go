// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"cmp"
	"time"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// WaitKey contains the dimensions of waits.
type WaitKey struct {
	Class jvmthread.ClassID // class of the lock or object, or NoClass
	Site  Text
	Pool  Text
	Kind  jvmthread.Wait
}

func (k WaitKey) compare(o WaitKey) int {
	return cmp.Or(cmp.Compare(k.Kind, o.Kind), cmp.Compare(k.Class, o.Class), cmp.Compare(k.Site, o.Site), cmp.Compare(k.Pool, o.Pool))
}

func (k WaitKey) reduce() WaitKey { return WaitKey{Kind: k.Kind} }

// Waits sums up the waits of one kind.
type Waits struct {
	Count     uint64                       // that began; for locks, these are contentions
	Time      time.Duration                // so far, including open waits
	Durations [window.NumCauses]*Histogram // of waits that ended, by cause; nil: none
}

func (w *Waits) next(delta bool) (restarted bool) {
	restarted = delta || large(w.Time)
	for _, h := range w.Durations {
		restarted = restarted || h.large()
	}
	if restarted {
		w.Count, w.Time = 0, 0
	}
	for _, h := range w.Durations {
		h.flushed(restarted)
	}
	return restarted
}

// Durations is how long something waited. All waits of a request for one kind are one duration.
type Durations struct {
	Waited *Histogram
}

func (d *Durations) next(delta bool) (restarted bool) {
	restarted = delta || d.Waited.large()
	d.Waited.flushed(restarted)
	return restarted
}

// durationsOf returns the histogram for a combination, or that of its overflow series.
func durationsOf[K comparable](a *Account, t *table[K, Durations], k K) *Histogram {
	s := t.get(k)
	if h := a.histogram(&s.Value.Waited, &s.cost, s.Overflow); h != nil {
		return h
	}
	return a.histogram(&t.spill(k).Value.Waited, nil, true)
}

func (a *Account) key(iv *jvmthread.Interval, k jvmthread.Wait, pool Text) WaitKey {
	key := WaitKey{Class: iv.Lock.Class, Pool: pool, Kind: k}
	if a.cfg.CallSites && iv.Stack != jvmthread.NoStack {
		key.Site = a.site(iv.Stack)
	}
	return key
}

// add adds the time of a wait, up to until, that was not added yet.
func (a *Account) add(s *Series[WaitKey, Waits], iv *jvmthread.Interval, until jvmthread.Time) {
	if iv.Start >= a.until && !iv.Marks.Has(jvmthread.MarkContinues) {
		s.Value.Count++
	}
	plus(&s.Value.Time, a.since(iv.Start, until))
}

// closed adds a wait that ended in the window, or a part of it.
func (a *Account) closed(w *window.Window, l *window.Lane, i int, key WaitKey, cause window.Cause) {
	iv := l.Intervals.At(i)
	s := a.of(key.Kind).get(key)
	a.add(s, &iv, iv.End)
	if iv.Marks.Has(jvmthread.MarkWillContinue) {
		return // its last part has the duration of the whole wait
	}
	h := a.durations(s, cause)
	d := iv.Waited()
	h.add(d, a.cfg)
	a.exemplify(h, d, w, l, i)
}

// exemplify makes a wait an exemplar if the histogram wants it.
func (a *Account) exemplify(h *Histogram, d time.Duration, w *window.Window, l *window.Lane, i int) {
	if a.cfg.Exemplars == 0 || l.Hidden || !h.wants(d, a.cfg.Exemplars) {
		return
	}
	iv := l.Intervals.At(i)
	e := Exemplar{Duration: d, At: iv.End, Window: w.Start, Ref: jvmthread.IntervalRef{Thread: iv.Thread}}
	if l.Kept(i) {
		e.Ref.Seq = iv.Seq
	}
	h.keep(e, a.cfg.Exemplars)
}

// of returns the table for waits of a kind.
func (a *Account) of(k jvmthread.Wait) *table[WaitKey, Waits] {
	if k.Contended() {
		return &a.blocked
	}
	return &a.waits
}

// durations returns the histogram of the waits of a series that ended by a cause.
func (a *Account) durations(s *Series[WaitKey, Waits], cause window.Cause) *Histogram {
	if h := a.histogram(&s.Value.Durations[cause], &s.cost, s.Overflow); h != nil {
		return h
	}
	return a.histogram(&a.of(s.Key.Kind).spill(s.Key).Value.Durations[cause], nil, true)
}

// histogram returns *at, creating it if it is nil. It returns nil if the budget is exhausted.
func (a *Account) histogram(at **Histogram, cost *int, overflow bool) *Histogram {
	if *at == nil {
		if !overflow {
			if !a.cfg.Budget.Take() {
				return nil
			}
			*cost++
		}
		*at = new(Histogram)
	}
	return *at
}
