// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"context"
	"fmt"
	"strconv"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

type hottestIn struct {
	inRange
	limited
}

func (s *tools) hottest(ctx context.Context, a *answer, in hottestIn) error {
	limit, err := in.or(10)
	if err != nil {
		return err
	}
	r, err := s.in(ctx, in.inRange)
	if err != nil {
		return err
	}
	most, err := s.page.Answer(ctx, r.ID, r.query())
	if err != nil {
		return err
	}
	rows, err := s.page.Callers(ctx, r.ID, r.query("kind", "blocked", "sort", "stats.time", "limit", strconv.Itoa(limit)))
	if err != nil {
		return err
	}
	a.link = a.linkTo(r.Session, "tab", "monitors", "range", view(r.from, r.to))
	r.head(a)
	a.line("%s", sentence(wording.Plain(most.Text)))
	if most.Most != nil && !most.Small && contended(most.Most.Kind) {
		holders(a, most.Most.Holders, most.Most.More)
	}
	if most.Time == 0 {
		return nil
	}
	a.line("Threads waited %s in all for locks, permits and objects of pools.", duration(most.Time))
	a.line("By method that waited:")
	for i := range rows.Callers {
		row := &rows.Callers[i]
		line := ""
		if len(row.Stacks) > 0 {
			line = row.Stacks[0].Line
		}
		a.line("%d. %s for %s %s: %s by %s, longest %s", i+1, duration(row.Stats.Time), object(row.Name, row.Wait), place(row.Method, line),
			plural(int(row.Stats.Count), "wait"), plural(row.Threads, "thread"), duration(row.Stats.Max))
	}
	a.more += rows.Total - len(rows.Callers)
	return nil
}

// contended reports whether threads hold what waits of a kind are for.
func contended(kind string) bool {
	return kind == jvmthread.WaitLock.String() || kind == jvmthread.WaitPermit.String() || kind == jvmthread.WaitPool.String()
}

const maxHolders = 5

// holders writes who held something, and what they did.
func holders(a *answer, list []viewapi.Holder, more int) {
	if rest := len(list) - maxHolders; rest > 0 {
		list, more = list[:maxHolders], more+rest
	}
	for i := range list {
		h := &list[i]
		held := "owned it"
		if h.Waited > 0 {
			held = fmt.Sprintf("held it %s of that time (%s)", wording.Percent(h.Share), duration(h.Waited))
		}
		doing := sentence("")
		if h.Text != "" {
			doing = sentence(", " + h.Text)
		}
		a.line("  %s %s%s", h.Thread.Name, held, doing)
		if i == 0 && h.Stack != nil {
			stack(a, h.Stack.Frames, h.Stack.Caller)
		}
	}
	if more > 0 {
		a.line("  and %s", plural(more, "other holder"))
	}
}
