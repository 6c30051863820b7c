// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// incidents returns the kept incidents that match the filters, those that cost most or the newest first.
func (q *query) incidents() (any, *Problem) {
	order := q.choice("sort", "blocked", "from")
	kinds, match := q.words("kind", store.Kinds()), q.incidentFilter()
	q.paged(store.MaxIncidents, store.MaxIncidents)
	if p := q.done(); p != nil {
		return nil, p
	}
	from, to := q.from, q.to
	if !q.values.Has("from") {
		from = math.MinInt64 // incidents outlive the history that is kept
	}
	if !q.values.Has("to") {
		to = math.MaxInt64
	}
	var list []*store.Incident
	sums := make([]viewapi.IncidentKind, len(store.Kinds()))
	for _, inc := range q.sn.Incidents {
		kind := slices.Index(store.Kinds(), inc.Kind)
		if kind < 0 || inc.Start >= to || max(inc.End, inc.Start+1) <= from || !match(inc) {
			continue
		}
		q.addIncident(&sums[kind], inc)
		if kinds == nil || slices.Contains(kinds, kind) {
			list = append(list, inc)
		}
	}
	slices.SortStableFunc(list, func(a, b *store.Incident) int {
		if order == "from" {
			return cmp.Compare(b.Start, a.Start)
		}
		return b.Compare(a)
	})
	out := viewapi.Incidents{Total: len(list), Offset: q.page.offset, Most: store.MaxIncidents, Kinds: []viewapi.IncidentKind{}, Incidents: []viewapi.Incident{}}
	for i := range sums {
		if sums[i].Total > 0 {
			out.Kinds = append(out.Kinds, sums[i])
		}
	}
	size := 0
	for _, inc := range piece(list, q.page) {
		one := q.incident(inc)
		if size += incidentSize(&one); size > maxIncidentBytes && len(out.Incidents) > 0 {
			break
		}
		out.Incidents = append(out.Incidents, one)
	}
	return out, nil
}

// maxIncidentBytes bounds the list of incidents in a response: what does not fit is on the next page.
const maxIncidentBytes = 190_000

// incidentSize is at least how long an incident is as JSON, unless its texts consist of characters that must be escaped.
func incidentSize(inc *viewapi.Incident) int {
	text, err := json.Marshal(inc)
	if err != nil {
		return 0 // it consists of texts and numbers
	}
	return len(text) + 1
}

func (q *query) addIncident(sum *viewapi.IncidentKind, inc *store.Incident) {
	if sum.Total == 0 || q.rel(inc.Start) < sum.Since {
		sum.Since = q.rel(inc.Start)
	}
	sum.Kind = inc.Kind
	sum.Total++
	sum.Blocked += int64(inc.Blocked)
}

func (q *query) incident(inc *store.Incident) viewapi.Incident {
	cast := make([]uint64, len(inc.Cast))
	for i, id := range inc.Cast {
		cast[i] = uint64(id)
	}
	return viewapi.Incident{
		From: q.rel(inc.Start), To: q.rel(inc.End), Kind: inc.Kind, Deadlock: inc.Deadlock(), Open: inc.Open, Timeline: q.timeline(inc),
		Name: inc.Name, Object: inc.Object, Text: inc.Text, Waiters: inc.Waiters, Blocked: int64(inc.Blocked), Longest: int64(inc.Longest), Waited: inc.Count,
		Threads: inc.Threads, TimedOut: inc.TimedOut, Holds: q.incidentParts(inc.Holds), Waits: q.incidentParts(inc.Waits), Cast: cast, More: inc.More,
	}
}

// timeline says what is kept of the timeline of an incident.
func (q *query) timeline(inc *store.Incident) string {
	switch {
	case q.sn.Evicted == 0 || inc.Start >= q.sn.From && q.sn.From < q.sn.To:
		return "whole"
	case inc.End > q.sn.From:
		return "part"
	}
	return "gone"
}

func (q *query) incidentParts(list []store.IncidentPart) []viewapi.IncidentPart {
	out := []viewapi.IncidentPart{}
	for i := range list {
		p := &list[i]
		part := viewapi.IncidentPart{
			From: q.rel(p.Start), To: q.rel(p.End), Thread: viewapi.ThreadRef{ID: uint64(p.Thread), Name: p.Name}, Object: p.Object, Blocked: int64(p.Blocked),
			Text: p.Text, Function: p.Function, Frames: append([]string{}, p.Frames...),
		}
		if p.Trace != "" {
			part.Request = &viewapi.Span{TraceID: p.Trace, SpanID: p.Span}
			if t := q.view.cfg.TraceURL; t != "" {
				part.Request.URL = strings.NewReplacer("{trace_id}", p.Trace, "{span_id}", p.Span).Replace(t)
			}
		}
		out = append(out, part)
	}
	return out
}

// evicted returns the problem of a request for events of a session of which only incidents are left.
func evicted(sn *store.Snapshot) *Problem {
	if sn.Evicted == 0 || sn.From < sn.To {
		return nil
	}
	return problem(http.StatusGone, "the timeline of this session is no longer stored, because the store was full; its %d incidents are at api/sessions/%v/incidents",
		len(sn.Incidents), sn.ID)
}

// before says that a time is before the kept history, and what is kept of it.
func (q *query) before(t jvmthread.Time) string {
	if q.sn.Evicted == 0 || t >= q.sn.From {
		return ""
	}
	return ": it is before the history that is kept; incidents are kept longer, see the endpoint incidents"
}
