// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/why"
)

// inSession is the argument of tools that are about one session.
type inSession struct {
	Session string `json:"session,omitempty" jsonschema:"ID of the session, the start of it, or the name of the service; default: the only session, or the only live one"`
}

// inRange is the arguments of tools that are about a time range of one session.
type inRange struct {
	inSession

	From string `json:"from,omitempty" jsonschema:"start of the time range: 12.5s after the start of the session, -30s before the end of its history, or a date; default: all"`
	To   string `json:"to,omitempty" jsonschema:"end of the time range, as from; default: all"`
}

const maxListed = 10 // sessions in an error

// session finds the session that an assistant means.
func (s *tools) session(ctx context.Context, in inSession) (*viewapi.Session, error) {
	all, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("there are no sessions: no agent has connected, and no recording was read")
	}
	var matching, live []*viewapi.Session
	for i := range all {
		one := &all[i]
		if in.Session == "" || strings.HasPrefix(one.ID, strings.ToLower(in.Session)) || one.Service == in.Session {
			matching = append(matching, one)
			if one.Live {
				live = append(live, one)
			}
		}
	}
	switch {
	case len(matching) == 1:
		return matching[0], nil
	case len(live) == 1:
		return live[0], nil
	case len(matching) == 0:
		for i := range all {
			matching = append(matching, &all[i])
		}
		return nil, fmt.Errorf("session %q: not found; there are %s", clip(in.Session, 80), named(matching))
	}
	return nil, fmt.Errorf("session: %d match; choose one of %s", len(matching), named(matching))
}

// maxSessions is how many sessions are searched for the one that an assistant means.
const maxSessions = 1000

// all returns the sessions of the page: live ones first, then the most recently ended.
func (s *tools) all(ctx context.Context) (all []viewapi.Session, _ error) {
	for len(all) < maxSessions {
		list, err := s.page.SessionsFrom(ctx, len(all))
		if err != nil {
			return nil, err
		}
		all = append(all, list.Sessions...)
		if len(list.Sessions) == 0 || len(all) >= list.Total {
			break
		}
	}
	return all, nil
}

func named(list []*viewapi.Session) string {
	var names []string
	for _, one := range list[:min(len(list), maxListed)] {
		name := one.ID[:8] + " (" + service(one)
		if !one.Live {
			name += ", ended"
		}
		names = append(names, name+")")
	}
	if more := len(list) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

func service(s *viewapi.Session) string {
	if s.Service == "" {
		return "no service name"
	}
	return clip(s.Service, 80)
}

// ranged is a time range of a session.
type ranged struct {
	*viewapi.Session

	from, to int64
}

// in finds the session and the time range that an assistant means.
func (s *tools) in(ctx context.Context, in inRange) (*ranged, error) {
	session, err := s.session(ctx, in.inSession)
	if err != nil {
		return nil, err
	}
	from, to, err := why.Range(session, in.From, in.To)
	if err != nil {
		return nil, err
	}
	return &ranged{session, from, to}, nil
}

// query is the parameters of a request about the range.
func (r *ranged) query(more ...string) page.Query {
	q := page.Query{"from": {strconv.FormatInt(r.from, 10)}, "to": {strconv.FormatInt(r.to, 10)}}
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return q
}

// head says what an answer is about.
func (r *ranged) head(a *answer) {
	a.line("%s, session %s, from %s to %s (from %s):", service(r.Session), r.ID[:8], why.Offset(r.from), why.Offset(r.to), date(r.Session, r.from))
}

// date is the time of day of an offset.
func date(s *viewapi.Session, offset int64) string {
	origin, err := why.Origin(s)
	if err != nil {
		return "an unknown date"
	}
	return origin.Add(time.Duration(offset)).Format("2006-01-02T15:04:05.000Z07:00")
}

// linkTo is the address of a view of the page: the session, and fields of its link.
func (a *answer) linkTo(session *viewapi.Session, more ...string) string {
	if a.base == nil {
		return ""
	}
	values := url.Values{"s": {session.ID}}
	for i := 0; i+1 < len(more); i += 2 {
		values.Set(more[i], more[i+1])
	}
	return a.base.String() + "#" + values.Encode()
}

// view is the field of a link that shows a time range.
func view(from, to int64) string { return fmt.Sprintf("%d-%d", from, to) }
