// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"context"
	"fmt"
	"strconv"

	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/why"
)

func (s *tools) sessions(ctx context.Context, a *answer, _ struct{}) error {
	list, err := s.page.Sessions(ctx)
	if err != nil {
		return err
	}
	if a.base != nil {
		a.link = a.base.String()
	}
	if list.Total == 0 {
		info, err := s.page.Info(ctx)
		if err != nil {
			return err
		}
		a.line("There are no sessions: no agent has connected, and no recording was read. %s", sentence(info.Notice))
		return nil
	}
	a.line("%s:", plural(list.Total, "session"))
	for i := range list.Sessions {
		one := &list.Sessions[i]
		state := "live"
		if !one.Live {
			state = "ended (" + one.Ended + ")"
		}
		a.line("%s, session %s, %s: process %d on %s, %s; history from %s to %s, which began %s; %s, %s, %s", service(one), one.ID[:8], state, one.PID,
			clip(one.Host, 80), clip(one.JVM, 80), why.Offset(one.From), why.Offset(one.To), date(one, one.From), plural(one.Threads, "thread"),
			plural(one.Incidents, "incident"), plural(len(one.Deadlocks), "deadlock"))
		if lost := one.Lost + one.Missed; lost > 0 {
			a.line("  %d of its events were lost, so parts of the answers are unknown", lost)
		}
	}
	a.more += list.Total - len(list.Sessions)
	return nil
}

// limited is the argument of tools that return a list.
type limited struct {
	Limit int `json:"limit,omitempty" jsonschema:"most entries of a list, 1 to 50"`
}

const maxLimit = 50

// or returns the limit, or another one if there is none.
func (l limited) or(without int) (int, error) {
	switch {
	case l.Limit == 0:
		return without, nil
	case l.Limit < 0 || l.Limit > maxLimit:
		return 0, fmt.Errorf("limit: want 1 to %d", maxLimit)
	}
	return l.Limit, nil
}

type incidentsIn struct {
	inRange
	limited
}

func (s *tools) incidents(ctx context.Context, a *answer, in incidentsIn) error {
	limit, err := in.or(10)
	if err != nil {
		return err
	}
	session, err := s.session(ctx, in.inSession)
	if err != nil {
		return err
	}
	q := page.Query{"limit": {strconv.Itoa(limit)}}
	if in.From != "" || in.To != "" { // otherwise also those before the kept history
		r, err := s.in(ctx, in.inRange)
		if err != nil {
			return err
		}
		q.Set("from", strconv.FormatInt(r.from, 10))
		q.Set("to", strconv.FormatInt(r.to, 10))
	}
	list, err := s.page.Incidents(ctx, session.ID, q)
	if err != nil {
		return err
	}
	a.link = a.linkTo(session, "tab", "incidents")
	a.line("%s of session %s (%s), the most expensive first:", plural(list.Total, "incident"), session.ID[:8], service(session))
	for i := range list.Incidents {
		inc := &list.Incidents[i]
		a.line("%d. %s, from %s to %s (%s): threads waited %s in all. %s", i+1, inc.Name, why.Offset(inc.From), why.Offset(inc.To),
			date(session, inc.From), duration(inc.Blocked), sentence(inc.Text))
		for j := range inc.Holds {
			part(a, &inc.Holds[j])
		}
		if len(inc.Waits) > 0 {
			part(a, &inc.Waits[0]) // the longest
		}
	}
	a.more += list.Total - len(list.Incidents)
	return nil
}

// part writes a hold or a wait of an incident.
func part(a *answer, p *viewapi.IncidentPart) {
	where, request := sentence(""), sentence("")
	if i, found := first(p.Frames); found {
		where = sentence(", at " + p.Frames[i])
	}
	if p.Request != nil {
		request = sentence(", in the request with span " + p.Request.SpanID + " of trace " + p.Request.TraceID)
	}
	a.line("  %s%s%s", sentence(p.Text), where, request)
}
