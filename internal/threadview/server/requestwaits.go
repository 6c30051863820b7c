// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// cause is what requests waited for.
type cause struct {
	title string
	wait  jvmthread.Wait
}

// requestSum sums up the waits for one thing.
type requestSum struct {
	cause

	count int
	time  jvmthread.Time
	worst requestWait
}

// requestWait is a wait, as far as it was in a request.
type requestWait struct {
	interval store.Interval
	from, to jvmthread.Time
}

// beats reports whether a wait is longer than another, or as long and began earlier.
func (w *requestWait) beats(than *requestWait) bool {
	return cmp.Or(
		cmp.Compare(w.to-w.from, than.to-than.from), cmp.Compare(than.from, w.from), cmp.Compare(than.interval.Thread, w.interval.Thread),
	) > 0
}

// requestSums finds the waits of requests, and remembers what they are called.
type requestSums struct {
	q      *query
	titles map[requestTitle]string

	waits   []requestWait       // of one request
	parts   []store.RequestPart // of one request, by thread and start
	numbers map[cause]int       // in the sums of one request
}

// requestTitle is what the name of a wait depends on.
type requestTitle struct {
	class uint32
	stack store.StackID
	peer  int // of a join
	state jvmthread.State
	wait  jvmthread.Wait
}

// add adds the waits of a request to its sums.
func (s *requestSums) add(r *request) {
	s.find(r)
	slices.SortFunc(s.waits, func(a, b requestWait) int { return cmp.Compare(a.from, b.from) })
	clear(s.numbers)
	at := r.from
	for i := range s.waits {
		w := &s.waits[i]
		r.waited += max(0, w.to-max(at, w.from))
		at = max(at, w.to)
		key := cause{s.title(&w.interval), w.interval.Wait}
		n, ok := s.numbers[key]
		if !ok {
			n = len(r.waits)
			s.numbers[key] = n
			r.waits = append(r.waits, requestSum{cause: key, worst: *w})
		}
		r.waits[n].add(w)
	}
	slices.SortFunc(r.waits, func(a, b requestSum) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.title, b.title), cmp.Compare(a.wait, b.wait))
	})
}

// find finds the waits of a request. Parts on one thread may overlap if it worked on another trace meanwhile: each wait counts once.
func (s *requestSums) find(r *request) {
	s.waits = s.waits[:0]
	s.parts = append(s.parts[:0], r.parts...)
	slices.SortStableFunc(s.parts, func(a, b store.RequestPart) int { return cmp.Compare(a.Thread, b.Thread) })
	done, thread := r.from, 0
	for i := range s.parts {
		p := &s.parts[i]
		if p.Thread != thread {
			done, thread = r.from, p.Thread
		}
		from := max(p.Start, done)
		done = max(done, p.End)
		for c := s.q.sn.Walk(thread, from, p.End); from < p.End && c.Next(); {
			if c.Wait() == jvmthread.WaitNone {
				continue
			}
			if w := (requestWait{from: max(c.Start, from), to: min(c.End, p.End)}); w.to > w.from {
				w.interval = c.Interval()
				s.waits = append(s.waits, w)
			}
		}
	}
}

func (s *requestSums) title(iv *store.Interval) string {
	key := requestTitle{class: s.q.sn.Locks[iv.Lock].Class, stack: iv.Stack, state: iv.State, wait: iv.Wait}
	if iv.State == jvmthread.StateJoining {
		key.peer = iv.Peer
	}
	title, ok := s.titles[key]
	if !ok {
		whole := *iv
		whole.Marks = 0 // a wait that timed out is one for the same
		title = s.q.sn.Title(&whole)
		if function := s.q.sn.Site(iv.Stack).Function; function != "" && s.q.sn.Object(iv) == "" {
			title += " in " + wording.SimpleFunction(function)
		}
		s.titles[key] = title
	}
	return title
}

// add adds a wait. One that continues after a window counts once.
func (s *requestSum) add(w *requestWait) {
	if !w.interval.Marks.Has(jvmthread.MarkContinues) || s.count == 0 {
		s.count++
	}
	s.time += w.to - w.from
	if w.beats(&s.worst) {
		s.worst = *w
	}
}

// merge adds the waits of another request for the same.
func (s *requestSum) merge(of *requestSum) {
	s.count += of.count
	s.time += of.time
	if of.worst.beats(&s.worst) {
		s.worst = of.worst
	}
}

// requestWait describes a wait; nil: there is none.
func (q *query) requestWait(w *requestWait) *viewapi.RequestWait {
	if w == nil {
		return nil
	}
	iv := &w.interval
	out := &viewapi.RequestWait{Interval: *q.reference(iv), Wait: iv.Wait.String(), Object: q.sn.Object(iv), Time: int64(w.to - w.from)}
	if site := q.site(iv.Stack); site != nil {
		out.Method = site.Function
	}
	if holders := q.holders(iv); len(holders) > 0 {
		out.Holder = &holders[0]
		out.Holder.Stack = nil // the details of the interval have it
		return out
	}
	q.sn.EdgesTo(iv, func(e store.Edge) bool {
		if e.Kind != jvmthread.InteractionStart {
			ref := q.threadRef(e.From)
			out.EndedBy = &ref
		}
		return out.EndedBy == nil
	})
	return out
}

// named is the requests of a name.
type named struct {
	name   string
	times  []jvmthread.Time
	time   jvmthread.Time
	waited jvmthread.Time
	waits  map[cause]*requestSum
}

// requestNames sums up requests by name, those that waited longest first.
func (q *query) requestNames(all []*request) []*named {
	byName := map[uint32]*named{}
	var out []*named
	for _, r := range all {
		n := byName[r.name]
		if n == nil {
			n = &named{name: q.sn.Classes[r.name], waits: map[cause]*requestSum{}}
			byName[r.name] = n
			out = append(out, n)
		}
		n.times = append(n.times, r.time())
		n.time += r.time()
		n.waited += r.waited
		for i := range r.waits {
			w := &r.waits[i]
			if sum := n.waits[w.cause]; sum != nil {
				sum.merge(w)
			} else {
				first := *w
				n.waits[w.cause] = &first
			}
		}
	}
	slices.SortFunc(out, func(a, b *named) int { return cmp.Or(cmp.Compare(b.waited, a.waited), cmp.Compare(a.name, b.name)) })
	return out
}

func (q *query) requestName(n *named) viewapi.RequestName {
	slices.Sort(n.times)
	at := func(percent int) int64 { return int64(n.times[(len(n.times)*percent+99)/100-1]) } // the nearest rank
	out := viewapi.RequestName{
		Name: n.name, Count: len(n.times), Time: int64(n.time), P50: at(50), P95: at(95), Max: at(100), Waited: int64(n.waited),
		Share: float64(n.waited) / float64(max(1, n.time)),
	}
	out.Cause = q.requestCause(n, func(jvmthread.Wait) bool { return true })
	out.Held = q.requestCause(n, jvmthread.Wait.Contended)
	return out
}

// requestCause returns what requests waited for longest, of those kinds of waits that count; nil: for nothing.
func (q *query) requestCause(n *named, counts func(jvmthread.Wait) bool) *viewapi.RequestCause {
	var most *requestSum
	for _, sum := range n.waits {
		switch {
		case !counts(sum.wait):
		case most == nil || cmp.Or(cmp.Compare(sum.time, most.time), cmp.Compare(most.title, sum.title), cmp.Compare(most.wait, sum.wait)) > 0:
			most = sum
		}
	}
	if most == nil {
		return nil
	}
	return &viewapi.RequestCause{
		Title: most.title, Wait: most.wait.String(), Count: most.count, Time: int64(most.time), Worst: q.requestWait(&most.worst),
	}
}
