// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/why"
)

type spanIn struct {
	inSession

	SpanID string `json:"span_id" jsonschema:"ID of the span: 16 hexadecimal digits"`
}

var spanID = regexp.MustCompile("^[0-9a-f]{16}$")

// maxSearched is how many sessions are searched for a span, unless one is named.
const maxSearched = 20

func (s *tools) span(ctx context.Context, a *answer, in spanIn) error {
	id := strings.ToLower(in.SpanID)
	if !spanID.MatchString(id) {
		return errors.New("span_id: want 16 hexadecimal digits")
	}
	var sessions []viewapi.Session
	if in.Session != "" {
		one, err := s.session(ctx, in.inSession)
		if err != nil {
			return err
		}
		sessions = append(sessions, *one)
	} else {
		all, err := s.all(ctx)
		if err != nil {
			return err
		}
		sessions = all[:min(len(all), maxSearched)]
	}
	for i := range sessions {
		places, err := s.page.Span(ctx, sessions[i].ID, id)
		if err != nil {
			return err
		}
		if len(places.Places) > 0 {
			return s.explain(ctx, a, &sessions[i], places.Places)
		}
	}
	return fmt.Errorf("span %s: not found in %s. Known are spans of Weft of the history that is kept, and requests that waited in a JVM whose agent gets their context",
		id, plural(len(sessions), "session"))
}

// explain explains a span by where it is in a session.
func (s *tools) explain(ctx context.Context, a *answer, session *viewapi.Session, places []viewapi.SpanPlace) error {
	p := &places[0]
	if p.Interval != nil {
		a.line("A span of Weft in session %s (%s):", session.ID[:8], service(session))
		return s.interval(ctx, a, session, p.Interval)
	}
	r := &ranged{session, max(p.From, session.From), min(p.To, session.To)}
	if r.from >= r.to {
		return fmt.Errorf("the span was current on %s from %s to %s, which is too short or no longer kept", p.Thread.Name, why.Offset(p.From), why.Offset(p.To))
	}
	name := "A span of the application"
	if p.Name != "" {
		name = "Request " + p.Name
	}
	a.line("%s was current on %s:", name, p.Thread.Name)
	r.head(a)
	if err := s.steps(ctx, a, r, p.Thread.ID); err != nil {
		return err
	}
	for i := range places[1:] {
		other := &places[i+1]
		a.line("It was also current on %s (thread %d) from %s to %s.", other.Thread.Name, other.Thread.ID, why.Offset(other.From), why.Offset(other.To))
	}
	return nil
}
