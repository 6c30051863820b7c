// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/viewapi"
)

// want is what one refresh requests.
type want struct {
	tab    int
	window time.Duration
	kind   string // of waits
	idle   bool
	sort   string // field by which the server sorts
	order  string
}

// sorted adds the order to a request.
func (w want) sorted(q page.Query) {
	if w.sort != "" {
		q.Set("sort", w.sort)
		q.Set("order", w.order)
	}
}

// snapshot is what one refresh returned.
type snapshot struct {
	info      viewapi.Info
	session   viewapi.Session
	from, to  int64 // range of the sums
	answer    viewapi.Answer
	waiting   viewapi.Waiting
	callers   viewapi.Callers
	locks     viewapi.Locks
	threads   viewapi.Threads
	incidents viewapi.Incidents
	samples   []sample
	asked     want
	loaded    bool
	failed    error // of the first request that failed
}

// sample is the number of events at a time.
type sample struct {
	at     time.Time
	events uint64
}

// maxSamples is over how many refreshes the rate of events is averaged, because they arrive in batches.
const maxSamples = 10

// load requests what is wanted. It returns an error if the page does not answer at all. Of a request that fails, it keeps the previous
// answer.
func load(ctx context.Context, c *page.Client, id string, s snapshot, w want, now time.Time) (snapshot, error) {
	var err error
	if len(s.info.States) == 0 {
		if s.info, err = c.Info(ctx); err != nil {
			return s, err
		}
	}
	session, err := c.Session(ctx, id)
	if err != nil {
		return s, err
	}
	same := s.loaded && s.failed == nil && s.asked == w && s.session.Version == session.Version
	s.session = session
	s.samples = append(slices.Clip(s.samples), sample{now, session.Events})
	s.samples = s.samples[max(0, len(s.samples)-maxSamples):]
	if same {
		return s, nil
	}
	s.asked, s.failed, s.loaded = w, nil, true
	s.from, s.to = session.From, session.To
	if w.window < All && s.to-int64(w.window) > s.from {
		s.from = s.to - int64(w.window)
	}
	s.parts(ctx, c, id, w)
	return s, nil
}

// parts requests the answer, the threads that wait, and the table of the tab.
func (s *snapshot) parts(ctx context.Context, c *page.Client, id string, w want) {
	waiting := page.Query{"limit": {"200"}}
	if w.idle {
		waiting.Set("idle", "true")
	}
	if w.tab == nowTab {
		w.sorted(waiting)
	}
	part(ctx, s, &s.waiting, c.Waiting, id, waiting)
	if w.tab == incidentsTab {
		part(ctx, s, &s.incidents, c.Incidents, id, page.Query{})
	}
	if s.to <= s.from {
		return // nothing is known yet
	}
	part(ctx, s, &s.answer, c.Answer, id, s.ranged())
	table := s.ranged()
	w.sorted(table)
	switch w.tab {
	case waitsTab:
		table.Set("kind", w.kind)
		table.Set("limit", "200")
		part(ctx, s, &s.callers, c.Callers, id, table)
	case locksTab:
		table.Set("contended", "true")
		table.Set("limit", "500")
		part(ctx, s, &s.locks, c.Locks, id, table)
	case threadsTab:
		if !w.idle {
			table.Set("hide", "idle")
		}
		part(ctx, s, &s.threads, c.Threads, id, table)
	}
}

func (s *snapshot) ranged() page.Query {
	return page.Query{"from": {strconv.FormatInt(s.from, 10)}, "to": {strconv.FormatInt(s.to, 10)}}
}

// part requests one part.
func part[T any](ctx context.Context, s *snapshot, to *T, ask func(context.Context, string, page.Query) (T, error), id string,
	q page.Query,
) {
	out, err := ask(ctx, id, q)
	if err == nil {
		*to = out
	} else if s.failed == nil {
		s.failed = err
	}
}

// eventRate returns the events in a second: of the last refreshes or, at first and after the end, of the whole session.
func (s *snapshot) eventRate() float64 {
	if n := len(s.samples); n > 1 && s.session.Live {
		first, last := s.samples[0], s.samples[n-1]
		if seconds := last.at.Sub(first.at).Seconds(); seconds > 0 && last.events >= first.events {
			return float64(last.events-first.events) / seconds
		}
	}
	return perSecond(int64(min(s.session.Events, math.MaxInt64)), s.session.To)
}

// perSecond returns how often something happened in a second of a time.
func perSecond(count, time int64) float64 {
	if time <= 0 {
		return 0
	}
	return float64(count) * 1e9 / float64(time)
}

// deadlocks returns the deadlocks that last.
func (s *snapshot) deadlocks() (all []viewapi.Deadlock) {
	for _, d := range s.session.Deadlocks {
		if d.Until == 0 {
			all = append(all, d)
		}
	}
	return all
}

// state returns the name of a state.
func (s *snapshot) state(i int) string {
	if i < 0 || i >= len(s.info.States) {
		return "unknown"
	}
	return clean(s.info.States[i])
}

// clock returns the time of day of a time of the session.
func (s *snapshot) clock(at int64, zone *time.Location) string {
	origin, err := strconv.ParseInt(s.session.Origin, 10, 64)
	if err != nil || zone == nil {
		return ""
	}
	return time.Unix(0, origin+at).In(zone).Format("15:04:05.000")
}
