// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"context"
	"fmt"
	"strconv"

	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/why"
)

type stuckIn struct {
	inSession
	limited

	At string `json:"at,omitempty" jsonschema:"the time: 12.5s after the start of the session, -30s before the end of its history, or a date; default: the end of the history"`
}

func (s *tools) stuck(ctx context.Context, a *answer, in stuckIn) error {
	limit, err := in.or(20)
	if err != nil {
		return err
	}
	session, err := s.session(ctx, in.inSession)
	if err != nil {
		return err
	}
	q := page.Query{"limit": {strconv.Itoa(limit)}}
	if in.At != "" {
		at, err := why.Moment(session, in.At)
		if err != nil {
			return fmt.Errorf("at: %w", err)
		}
		q.Set("at", strconv.FormatInt(at, 10))
	}
	w, err := s.page.Waiting(ctx, session.ID, q)
	if err != nil {
		return err
	}
	a.link = a.linkTo(session, "view", view(max(0, w.At-30e9), w.At))
	a.line("%s, session %s, at %s (%s): %s for locks, permits or objects of pools; %s in all, without those that have no task.", service(session), session.ID[:8],
		why.Offset(w.At), date(session, w.At), waits(w.Blocked), waits(w.Total))
	for i := range w.Rows {
		row := &w.Rows[i]
		holder := sentence("")
		if row.Holder != nil {
			holder = sentence("; " + clip(row.Holder.Name, maxName) + " holds it")
			if row.Doing != "" {
				holder += sentence(", " + row.Doing)
			}
		}
		if row.Deadlock != "" {
			holder += sentence("; deadlock " + row.Deadlock)
		}
		a.line("%s (thread %d) has waited %s for %s %s%s", row.Thread.Name, row.Thread.ID, duration(row.Time), object(row.Object, row.Wait), place(row.Method, row.Line), holder)
	}
	a.more += w.Total - len(w.Rows)
	return nil
}

func waits(n int) string {
	if n == 1 {
		return "1 thread waits"
	}
	return plural(n, "thread") + " wait"
}

func (s *tools) deadlocks(ctx context.Context, a *answer, in inSession) error {
	session, err := s.session(ctx, in)
	if err != nil {
		return err
	}
	a.link = a.linkTo(session)
	a.line("%s, session %s: %s", service(session), session.ID[:8], plural(len(session.Deadlocks), "deadlock"))
	for i := range session.Deadlocks {
		d := &session.Deadlocks[i]
		until := "not resolved"
		if d.Until != 0 {
			until = "a thread left it at " + why.Offset(d.Until)
		}
		a.line("Deadlock %s since %s (%s), %s: %s", d.ID, why.Offset(d.Since), date(session, d.Since), until, sentence(d.Text))
		for j := range d.Members {
			m := &d.Members[j]
			a.line("  %s (thread %d) waits for %s@%s, which %s holds", m.Thread.Name, m.Thread.ID, m.Lock.Class, m.Lock.Hash, d.Members[(j+1)%len(d.Members)].Thread.Name)
			stack(a, m.Frames, 0)
		}
	}
	return nil
}
