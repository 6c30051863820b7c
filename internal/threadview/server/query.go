// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// query is one request about one session.
type query struct {
	*params

	view *View
	sn   *store.Snapshot
	from jvmthread.Time
	to   jvmthread.Time
	page page
	file bool // the answer is a file of any length
	most int  // rows of an answer
}

// farAway is the largest time of a parameter: JavaScript numbers are exact up to it.
const farAway = 1 << 53

func newQuery(v *View, sn *store.Snapshot, values url.Values) *query {
	q := &query{params: newParams(values), view: v, sn: sn}
	q.from = sn.Origin + jvmthread.Time(q.number("from", int64(sn.From-sn.Origin), -farAway, farAway))
	q.to = sn.Origin + jvmthread.Time(q.number("to", int64(sn.To-sn.Origin), -farAway, farAway))
	if q.from > q.to {
		q.fail("from", "must not be later than to")
		q.from = q.to
	}
	if q.from == q.to {
		q.to++
	}
	return q
}

// rel is a time relative to the origin, as in answers.
func (q *query) rel(t jvmthread.Time) int64 { return int64(t - q.sn.Origin) }

// clip is the time of [start, end) within the range.
func (q *query) clip(start, end jvmthread.Time) int64 {
	return int64(max(0, min(end, q.to)-max(start, q.from)))
}

// page is a part of a list.
type page struct{ offset, limit int }

// paged reads the parameters that choose a part of a list.
func (q *query) paged(limit, most int64) {
	q.page.offset = int(q.number("offset", 0, 0, 1<<31))
	q.page.limit = min(int(q.number("limit", limit, 1, most)), max(1, q.most))
	if q.file {
		q.page = page{0, 1 << 31}
	}
}

func piece[T any](list []T, p page) []T {
	list = list[min(p.offset, len(list)):]
	return list[:min(p.limit, len(list))]
}

// selection is the threads of a request.
type selection struct {
	list []int  // by index
	all  bool   // all threads of the session
	has  []bool // by index
}

// selected reads the parameters that choose threads.
func (q *query) selected() selection {
	hasID := q.ids("threads")
	pattern := q.pattern("name")
	inGroup, inPool, inVirtual := q.matches("group"), q.matches("pool"), q.matches("virtual_group")
	only := q.choice("only", "", "platform", "virtual")
	states := q.words("state", stateNames())
	idle := q.choice("hide", "", "idle") == "idle"
	s := selection{has: make([]bool, len(q.sn.Threads))}
	if q.wrong != nil {
		return s
	}
	names, virtual := q.sn.Pools(), q.sn.VirtualGroups()
	known := 0
	for i := range q.sn.Threads {
		t := &q.sn.Threads[i]
		if t.Known {
			known++
		}
		switch {
		case !t.Known, !hasID(uint64(t.ID)), pattern != nil && !pattern.MatchString(q.sn.ThreadName(i)), !inGroup(t.Group), !inPool(names[i]):
			continue
		case only != "" && t.Virtual != (only == "virtual"), !inVirtual(virtual.Name(i)):
			continue
		case (states != nil || idle) && !q.shows(i, states, idle):
			continue
		}
		s.list = append(s.list, i)
		s.has[i] = true
	}
	s.all = len(s.list) == known
	return s
}

// pattern reads a regular expression.
func (q *query) pattern(name string) *regexp.Regexp {
	s := q.text(name)
	if s == "" {
		return nil
	}
	re, err := regexp.Compile(s)
	if err != nil {
		q.fail(name, "invalid RE2 pattern: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return nil
	}
	return re
}

// shows reports whether a thread was in one of the states, as shown, within the range and, if idle threads are hidden, was active in it: it
// waited for what others held, or its state changed and it was not only without a task.
func (q *query) shows(thread int, states []int, idle bool) bool {
	in, did := states == nil, !idle
	n, busy := 0, false
	c := q.sn.Walk(thread, q.from, q.to)
	for c.Next() && (!in || !did) {
		n++
		in = in || slices.Contains(states, int(c.Shown()))
		busy = busy || !c.Wait().Idle()
		did = did || n > 1 && busy || c.As() == jvmthread.StateBlocked || c.State == jvmthread.StateDeadlocked
	}
	return in && did
}

func stateNames() []string {
	names := make([]string, jvmthread.NumStates, store.NumShown)
	for i := range names {
		names[i] = jvmthread.State(i).String()
	}
	return append(names, "idle", "io")
}

func kindNames() []string {
	names := make([]string, jvmthread.NumInteractionKinds)
	for i := range names {
		names[i] = jvmthread.InteractionKind(i).String()
	}
	return names
}

// id is the Java id of the thread at an index.
func (q *query) id(i int) uint64 { return uint64(q.sn.Threads[i].ID) }

func (q *query) threadRef(i int) viewapi.ThreadRef {
	return viewapi.ThreadRef{ID: q.id(i), Name: q.sn.ThreadName(i)}
}

// refs returns references to threads by id.
func (q *query) refs(seen []bool) []viewapi.ThreadRef {
	out := []viewapi.ThreadRef{}
	for i, ok := range seen {
		if ok {
			out = append(out, q.threadRef(i))
		}
	}
	slices.SortFunc(out, func(a, b viewapi.ThreadRef) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (q *query) lockRef(l store.LockIndex) viewapi.LockRef {
	if l == 0 {
		return viewapi.LockRef{}
	}
	return viewapi.LockRef{ID: uint32(l), Class: q.sn.Class(l), Hash: strconv.FormatUint(uint64(q.sn.Locks[l].Hash), 16)}
}

// reference refers to an interval by a time in its middle.
func (q *query) reference(iv *store.Interval) *viewapi.Reference {
	return q.referenceAt(iv, iv.Start+(iv.End-iv.Start)/2)
}

// referenceAt refers to an interval by the time within it that is closest to another.
func (q *query) referenceAt(iv *store.Interval, near jvmthread.Time) *viewapi.Reference {
	return &viewapi.Reference{
		Thread: q.threadRef(iv.Thread), Seq: uint32(iv.Seq), Time: q.rel(max(iv.Start, min(near, iv.End-1))), State: int(iv.State), Title: q.sn.Title(iv),
	}
}
