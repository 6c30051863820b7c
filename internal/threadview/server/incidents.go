// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// incidents returns the kept incidents, those that cost most or the newest first.
func (q *query) incidents() (any, *Problem) {
	order := q.choice("sort", "blocked", "from")
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
	for _, inc := range q.sn.Incidents {
		if inc.Start < to && max(inc.End, inc.Start+1) > from {
			list = append(list, inc)
		}
	}
	slices.SortStableFunc(list, func(a, b *store.Incident) int {
		if order == "from" {
			return cmp.Compare(b.Start, a.Start)
		}
		return b.Compare(a)
	})
	out := viewapi.Incidents{Total: len(list), Offset: q.page.offset, Most: store.MaxIncidents, Incidents: []viewapi.Incident{}}
	for _, inc := range piece(list, q.page) {
		out.Incidents = append(out.Incidents, q.incident(inc))
	}
	return out, nil
}

func (q *query) incident(inc *store.Incident) viewapi.Incident {
	return viewapi.Incident{
		From: q.rel(inc.Start), To: q.rel(inc.End), Deadlock: inc.Deadlock, Open: inc.Open, Timeline: q.timeline(inc),
		Name: inc.Name, Text: inc.Text, Blocked: int64(inc.Blocked), Longest: int64(inc.Longest), Waited: inc.Count, Threads: inc.Threads,
		TimedOut: inc.TimedOut, Holds: q.incidentParts(inc.Holds), Waits: q.incidentParts(inc.Waits),
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
			Text: p.Text, Frames: append([]string{}, p.Frames...),
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
