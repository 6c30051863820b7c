// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"context"
	"strconv"

	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/why"
	"github.com/weft-otel/weft/internal/wording"
)

type pathIn struct {
	inRange
	limited

	Thread string `json:"thread,omitempty" jsonschema:"ID, name or part of the name of the thread; default: the one that waited longest for others"`
}

func (s *tools) path(ctx context.Context, a *answer, in pathIn) error {
	rows, err := in.or(6)
	if err != nil {
		return err
	}
	r, err := s.in(ctx, in.inRange)
	if err != nil {
		return err
	}
	q := r.query()
	if in.Thread != "" {
		thread, err := why.Thread(ctx, s.page, r.ID, in.Thread)
		if err != nil {
			return err
		}
		q.Set("thread", strconv.FormatUint(thread.ID, 10))
	}
	p, err := s.page.Path(ctx, r.ID, q)
	if err != nil {
		return err
	}
	a.link = a.linkTo(r.Session, "tab", "path", "path", "bounded", "range", view(r.from, r.to), "of", strconv.FormatUint(p.Thread.ID, 10))
	r.head(a)
	a.line("The critical path of %s (thread %d), %s in all. Rows of locks and places overlap if one wait led to another.", p.Thread.Name, p.Thread.ID, duration(r.to-r.from))
	if p.Cut {
		a.line("It is incomplete: it has too many pieces. Choose a shorter range.")
	}
	pathRows(a, "By what the thread did or waited for", p.PerKind, rows)
	pathRows(a, "By lock or pool, with what it would save if no thread had to wait for it", p.Classes, rows)
	pathRows(a, "By place", p.Sites, rows)
	pathRows(a, "By thread", p.PerThread, rows)
	return nil
}

func pathRows(a *answer, title string, rows []viewapi.PathRow, most int) {
	if len(rows) == 0 {
		return
	}
	a.line("%s:", title)
	for i := range rows[:min(len(rows), most)] {
		row := &rows[i]
		saving := ""
		if row.Saving != nil {
			saving = ", saves " + duration(row.Saving.Drag)
		}
		state := ""
		if row.State != "" {
			state = " (" + row.State + ")"
		}
		a.line("  %s (%s) %s%s%s", duration(row.Time), wording.Percent(row.Share), sentence(row.Name), state, saving)
	}
	if more := len(rows) - most; more > 0 {
		a.line("  and %d more", more)
	}
}
