// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/why"
)

type whyIn struct {
	inRange

	Thread string `json:"thread,omitempty" jsonschema:"ID, name or part of the name of the thread; default: the one that waited longest for others"`
	Lock   string `json:"lock,omitempty" jsonschema:"instead of a thread: name or part of the name of a lock, a pool or its class, to explain the longest wait for it"`
}

func (s *tools) why(ctx context.Context, a *answer, in whyIn) error {
	r, err := s.in(ctx, in.inRange)
	if err != nil {
		return err
	}
	if in.Lock != "" {
		if in.Thread != "" {
			return errors.New("thread, lock: give one of them, not both")
		}
		return s.whyLock(ctx, a, r, in.Lock)
	}
	var id uint64
	if in.Thread != "" {
		thread, err := why.Thread(ctx, s.page, r.ID, in.Thread)
		if err != nil {
			return err
		}
		id = thread.ID
	}
	r.head(a)
	return s.steps(ctx, a, r, id)
}

// steps writes what a thread spent the range on; 0: the thread that waited longest for others.
func (s *tools) steps(ctx context.Context, a *answer, r *ranged, thread uint64) error {
	q := r.query("limit", "12")
	if thread != 0 {
		q.Set("thread", strconv.FormatUint(thread, 10))
	}
	answer, err := s.page.Why(ctx, r.ID, q)
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := why.Print(&b, &answer, 0); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) {
		a.line("%s", sentence(strings.TrimRight(line, "\n")))
	}
	a.link = a.linkTo(r.Session, "tab", "path", "path", "bounded", "range", view(r.from, r.to), "view", view(r.from, r.to),
		"of", strconv.FormatUint(answer.Thread.ID, 10))
	return nil
}

// whyLock explains the longest wait for a lock.
func (s *tools) whyLock(ctx context.Context, a *answer, r *ranged, name string) error {
	rows, err := s.page.Callers(ctx, r.ID, r.query("kind", "blocked", "sort", "stats.time", "limit", "200"))
	if err != nil {
		return err
	}
	pattern := regexp.MustCompile("(?i)" + regexp.QuoteMeta(name))
	var best *viewapi.CallerRow
	known := []string{}
	for i := range rows.Callers {
		row := &rows.Callers[i]
		if len(known) < maxListed {
			known = append(known, clip(row.Name, 40))
		}
		if (pattern.MatchString(row.Name) || pattern.MatchString(row.Class)) && (best == nil || row.Stats.Max > best.Stats.Max) {
			best = row
		}
	}
	switch {
	case len(rows.Callers) == 0:
		return errors.New("lock: no thread waited for one in this range")
	case best == nil:
		return fmt.Errorf("lock %q: no thread waited for it in this range; they waited for %s", clip(name, 80), strings.Join(known, ", "))
	}
	r.head(a)
	return s.interval(ctx, a, r.Session, &best.Longest)
}

// interval explains one interval: what the thread did or waited for, who held that, and what ended it.
func (s *tools) interval(ctx context.Context, a *answer, session *viewapi.Session, ref *viewapi.Reference) error {
	iv, err := s.page.Interval(ctx, session.ID, ref.Thread.ID, ref.Time)
	if err != nil {
		return err
	}
	a.line("%s (thread %d): %s, from %s to %s: %s", iv.Thread.Name, iv.Thread.ID, sentence(iv.Title), why.Offset(iv.From), why.Offset(iv.To), duration(iv.To-iv.From))
	if iv.Text != "" {
		a.line("%s", sentence(iv.Text))
	}
	if iv.Stack != nil {
		where := sentence("")
		if iv.Site != nil {
			where = " " + place(iv.Site.Function, iv.Site.Line)
		}
		a.line("It was%s:", where)
		stack(a, iv.Stack.Frames, iv.Stack.Caller)
	}
	if len(iv.Holders) > 0 {
		a.line("Meanwhile:")
		holders(a, iv.Holders, 0)
	}
	if iv.Cause != nil {
		before := ""
		if iv.Cause.Latency > 0 {
			before = " " + duration(iv.Cause.Latency) + " before it went on"
		}
		a.line("%s ended it%s.", iv.Cause.Thread.Name, before)
		if iv.Cause.Stack != nil {
			stack(a, iv.Cause.Stack.Frames, iv.Cause.Stack.Caller)
		}
	}
	length := max(iv.To-iv.From, 1000)
	a.link = a.linkTo(session, "view", view(max(0, iv.From-length), iv.To+length), "at", fmt.Sprintf("%d.%d", iv.Thread.ID, iv.Seq))
	return nil
}
