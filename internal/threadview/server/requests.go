// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"math"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

const (
	maxRequests       = 100
	maxRequestNames   = 100
	maxRequestThreads = 20
)

// requests returns the requests of the application, the slowest first, and what those of each name have in common.
func (q *query) requests() (any, *Problem) {
	named := q.matches("name")
	less := q.requestOrder()
	q.paged(50, maxRequests)
	if p := q.done(); p != nil {
		return nil, p
	}
	all := q.allRequests()
	out := viewapi.Requests{
		Known: q.sn.HasRequests(), Offset: q.page.offset, Names: []viewapi.RequestName{}, Requests: []viewapi.Request{},
	}
	names := q.requestNames(all)
	shown := min(len(names), maxRequestNames, max(1, q.most))
	out.Hidden = len(names) - shown
	for _, n := range names[:shown] {
		out.Names = append(out.Names, q.requestName(n))
	}
	var wanted []*request
	for _, r := range all {
		if named(q.sn.Classes[r.name]) {
			wanted = append(wanted, r)
		}
	}
	slices.SortFunc(wanted, func(a, b *request) int {
		return cmp.Or(less(a, b), cmp.Compare(a.from, b.from), bytes.Compare(a.trace[:], b.trace[:]))
	})
	out.Total = len(wanted)
	for _, r := range piece(wanted, q.page) {
		out.Requests = append(out.Requests, q.request(r))
	}
	return out, nil
}

// requestOrder reads the order of requests.
func (q *query) requestOrder() func(a, b *request) int {
	field := q.choice("sort", "time", "waited", "share", "from")
	order := q.choice("order", "", "asc", "desc")
	sign := -1
	if order == "asc" || order == "" && field == "from" {
		sign = 1
	}
	return func(a, b *request) int {
		switch field {
		case "waited":
			return sign * cmp.Compare(a.waited, b.waited)
		case "share":
			return sign * cmp.Compare(a.share(), b.share())
		case "from":
			return sign * cmp.Compare(a.from, b.from)
		}
		return sign * cmp.Compare(a.time(), b.time())
	}
}

// request is what all threads did for a trace.
type request struct {
	trace       [16]byte
	span        [8]byte
	name        uint32
	from, to    jvmthread.Time
	open, whole bool
	parts       []store.RequestPart // by start
	waited      jvmthread.Time      // in which a thread waited
	waits       []requestSum        // by what they were for, the longest first
}

func (r *request) time() jvmthread.Time { return r.to - r.from }

func (r *request) share() float64 { return float64(r.waited) / float64(max(1, r.time())) }

// worst returns the longest wait, or nil.
func (r *request) worst() *requestWait {
	var worst *requestWait
	for i := range r.waits {
		if w := &r.waits[i].worst; worst == nil || w.beats(worst) {
			worst = w
		}
	}
	return worst
}

// allRequests returns the requests that overlap the range with their waits, in no order.
func (q *query) allRequests() []*request {
	all := q.requestParts()
	sums := requestSums{q: q, titles: map[requestTitle]string{}, numbers: map[cause]int{}}
	for _, r := range all {
		sums.add(r)
	}
	return all
}

// requestParts returns the requests that overlap the range, in no order.
func (q *query) requestParts() []*request {
	byTrace := map[[16]byte]*request{}
	q.sn.Requests(q.from, q.to, func(p store.RequestPart) {
		if byTrace[p.TraceID] == nil {
			byTrace[p.TraceID] = &request{trace: p.TraceID}
		}
	})
	q.sn.Requests(math.MinInt64, math.MaxInt64, func(p store.RequestPart) { // also what they did before and after it
		if r := byTrace[p.TraceID]; r != nil {
			r.parts = append(r.parts, p)
		}
	})
	out := make([]*request, 0, len(byTrace))
	for _, r := range byTrace {
		r.settle()
		out = append(out, r)
	}
	return out
}

// settle finds the start, the end and the name.
func (r *request) settle() {
	slices.SortFunc(r.parts, func(a, b store.RequestPart) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Thread, b.Thread))
	})
	r.from, r.to, r.whole = r.parts[0].Start, r.parts[0].End, true
	r.span = r.parts[0].SpanID
	until := r.from // of the parts so far that are whole
	for i := range r.parts {
		p := &r.parts[i]
		r.name = cmp.Or(r.name, p.Name)
		r.to = max(r.to, p.End)
		r.open = r.open || p.Open
		if p.Whole {
			until = max(until, p.End)
		}
		r.whole = r.whole && (p.Whole || i > 0 && p.End <= until) // one during a whole part does not change the ends
	}
}

// threads returns the threads that worked on a request, in the order in which they began.
func (r *request) threads() (out []int) {
	seen := map[int]bool{}
	for i := range r.parts {
		if t := r.parts[i].Thread; !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

func (q *query) request(r *request) viewapi.Request {
	out := viewapi.Request{
		TraceID: hex.EncodeToString(r.trace[:]), SpanID: hex.EncodeToString(r.span[:]), Name: q.sn.Classes[r.name], From: q.rel(r.from), To: q.rel(r.to),
		Time: int64(r.time()), Open: r.open, Whole: r.whole, Threads: []viewapi.ThreadRef{}, Waited: int64(r.waited), Share: r.share(),
		Kinds: r.kinds(), Worst: q.requestWait(r.worst()),
	}
	if t := q.view.cfg.TraceURL; t != "" {
		out.URL = strings.NewReplacer("{trace_id}", out.TraceID, "{span_id}", out.SpanID).Replace(t)
	}
	threads := r.threads()
	out.Touched = len(threads)
	for _, t := range threads[:min(len(threads), maxRequestThreads)] {
		out.Threads = append(out.Threads, q.threadRef(t))
	}
	return out
}

// kinds sums up the waits by kind.
func (r *request) kinds() []viewapi.RequestKind {
	var sums [jvmthread.NumWaits]viewapi.RequestKind
	for i := range r.waits {
		s := &r.waits[i]
		sums[s.wait].Count += s.count
		sums[s.wait].Time += int64(s.time)
	}
	out := []viewapi.RequestKind{}
	for kind := range sums {
		if s := &sums[kind]; s.Count > 0 {
			s.Wait = jvmthread.Wait(kind).String()
			out = append(out, *s)
		}
	}
	slices.SortStableFunc(out, func(a, b viewapi.RequestKind) int { return cmp.Compare(b.Time, a.Time) })
	return out
}
