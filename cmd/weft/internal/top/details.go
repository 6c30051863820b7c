// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// open shows the details of a row.
func (m *model) open(r row) {
	switch of := r.of.(type) {
	case *viewapi.WaitingRow:
		m.showPane(m.waitingPane(of))
	case *viewapi.CallerRow:
		m.showPane(callerPane(of))
	case *viewapi.LockRow:
		m.showPane(m.lockPane(of))
	case *viewapi.ThreadRow:
		m.showPane(m.threadPane(of))
	case *viewapi.Incident:
		m.showPane(m.incidentPane(of))
	}
}

// say makes a line of texts.
func say(parts ...string) paneLine {
	return span{text: clean(strings.Join(parts, ""))}
}

func heading(parts ...string) paneLine {
	l := say(parts...)
	l.style = bold
	return l
}

// frames shows a stack, the innermost frame first.
func frames(stack []string) (lines []paneLine) {
	const most = 256 // frames, as many as the page sends
	for i, f := range stack {
		if i == most {
			return append(lines, say("    …"))
		}
		if f != "" && f[0] == '-' { // "- lock OrderBook.lock"
			lines = append(lines, paneLine{text: "    " + clean(f), style: stopped})
		} else {
			lines = append(lines, say("    at ", f))
		}
	}
	return lines
}

func human(ns int64) string { return units.Human(time.Duration(max(0, ns))) }

// waited says for what a thread waits, since when, and who is in its way.
func (m *model) waited(w *viewapi.WaitingRow) []paneLine {
	lines := []paneLine{say(m.data.state(w.State), " for ", human(w.Time), ", since ", m.data.clock(w.Since, m.zone))}
	if what := forWhat(w); what != "" {
		l := say("waits for ", what)
		if w.Lock.ID != 0 && w.Lock.Class != "" {
			l = say("waits for ", what, " (", w.Lock.Class, "@", w.Lock.Hash, ")")
		}
		lines = append(lines, l)
	}
	if w.Holder != nil {
		holder := "held by " + w.Holder.Name
		if w.Doing != "" {
			holder += ", " + w.Doing
		}
		lines = append(lines, say(holder))
	}
	for _, d := range m.data.session.Deadlocks {
		if w.Deadlock != "" && d.ID == w.Deadlock {
			lines = append(lines, paneLine{text: clean("DEADLOCK: " + d.Text), style: alarm})
		}
	}
	return lines
}

func (m *model) waitingPane(w *viewapi.WaitingRow) *pane {
	return &pane{title: clean(w.Thread.Name), lines: m.waited(w), request: stacksOf(w.Thread, w.Since, w)}
}

// stacksOf requests the stack of a thread at a time and, if it waits, for that of the holder.
func stacksOf(thread viewapi.ThreadRef, at int64, w *viewapi.WaitingRow) request {
	return func(ctx context.Context, c *page.Client, session string, _ *snapshot) (lines []paneLine) {
		iv, err := c.Interval(ctx, session, thread.ID, at)
		if err == nil && w != nil && iv.From != w.Since {
			iv = viewapi.Interval{}
		}
		if iv.Text != "" {
			lines = append(lines, say(iv.Text))
		}
		if iv.Stack == nil && w != nil && w.Stack != 0 {
			var stack viewapi.Stack
			if stack, err = c.Stack(ctx, session, w.Stack); err == nil {
				iv.Stack = &stack
			}
		}
		if err != nil {
			lines = append(lines, say("The page does not know the stack: ", err.Error()))
		}
		lines = append(lines, stackLines("stack of "+thread.Name, iv.Stack)...)
		var holder *viewapi.Stack
		name := ""
		if iv.Owner != nil {
			holder, name = iv.Owner.Stack, iv.Owner.Thread.Name
		}
		if len(iv.Holders) > 0 {
			name = iv.Holders[0].Thread.Name
			holder = cmp.Or(iv.Holders[0].Stack, holder)
		}
		if name != "" {
			lines = append(lines, stackLines("stack of "+name+", which holds it", holder)...)
		}
		return lines
	}
}

func stackLines(name string, stack *viewapi.Stack) []paneLine {
	lines := []paneLine{{}, heading(name)}
	if stack == nil || len(stack.Frames) == 0 {
		return append(lines, say("    no stack was taken"))
	}
	return append(lines, frames(stack.Frames)...)
}

func callerPane(row *viewapi.CallerRow) *pane {
	st := &row.Stats
	p := &pane{title: clean(cmp.Or(row.Method, "(no stack)")), lines: []paneLine{
		say("waits for ", cmp.Or(row.Name, row.Class), " (", row.Class, ")"),
		say(wording.Plural(st.Count, "time"), ", ", human(st.Time), " in total; mean ", human(st.Average),
			", p95 ", human(st.P95), ", longest ", human(st.Max)),
		say(wording.Plural(row.Threads, "thread"), ", ", wording.Plural(row.Monitors, "object")),
		say("longest: ", row.Longest.Thread.Name, ", ", row.Longest.Title),
	}}
	const most = 3 // stacks
	p.request = func(ctx context.Context, c *page.Client, session string, _ *snapshot) (lines []paneLine) {
		for i, use := range row.Stacks {
			if i == most {
				return append(lines, paneLine{}, say(wording.Plural(len(row.Stacks)-most+row.Hidden, "more stack")))
			}
			stack, err := c.Stack(ctx, session, use.Stack)
			if err != nil {
				return append(lines, paneLine{}, say("The page does not know the stack: ", err.Error()))
			}
			lines = append(lines, stackLines(wording.Plural(use.Count, "time")+", "+human(use.Time)+" at "+cmp.Or(use.Line, "this stack"), &stack)...)
		}
		return lines
	}
	return p
}

// lockPane shows who waits for a lock now, and which methods did.
func (m *model) lockPane(row *viewapi.LockRow) *pane {
	p := &pane{title: clean(lockName(row)), lines: []paneLine{
		say("class ", cmp.Or(wording.ClassName(row.Lock.Class), "unknown")),
		say("threads were blocked ", wording.Plural(row.Blocked.Count, "time"), " for ", human(row.Blocked.Time), " in total, at most ",
			wording.Plural(row.Waiters, "thread"), " at once"),
		say("held for ", human(row.Held.Time), " as far as contention shows it, by ", wording.Plural(row.Holders, "thread")),
		say(wording.Plural(row.Handoffs, "handoff"), ", ", wording.Grouped(row.Convoy), " in the longest run"),
		{},
		heading("waiting for it now"),
	}}
	before := len(p.lines)
	for i := range m.data.waiting.Rows {
		if w := &m.data.waiting.Rows[i]; w.Lock.ID == row.Lock.ID {
			l := "    " + w.Thread.Name + " for " + human(w.Time)
			if w.Holder != nil {
				l += ", held by " + w.Holder.Name + " " + w.Doing
			}
			p.lines = append(p.lines, say(l))
		}
	}
	if len(p.lines) == before {
		p.lines = append(p.lines, say("    no thread"))
	}
	p.request = methodsOf(row)
	return p
}

// methodsOf requests the methods that were blocked on a lock. The page has them by class and name.
func methodsOf(row *viewapi.LockRow) request {
	return func(ctx context.Context, c *page.Client, session string, s *snapshot) []paneLine {
		lines := []paneLine{{}, heading("methods that were blocked on locks of its class")}
		q := s.ranged()
		q.Set("class", row.Lock.Class)
		q.Set("sort", "stats.time")
		q.Set("order", "desc")
		q.Set("limit", "5")
		callers, err := c.Callers(ctx, session, q)
		if err != nil {
			return append(lines, say("    ", err.Error()))
		}
		for i := range callers.Callers {
			r := &callers.Callers[i]
			lines = append(lines, say("    ", units.Column(time.Duration(r.Stats.Time)), "  ", cmp.Or(r.Method, "(no stack)"), " for ", r.Name))
		}
		if len(callers.Callers) == 0 {
			return append(lines, say("    none"))
		}
		if use := callers.Callers[0].Stacks; len(use) > 0 {
			if stack, err := c.Stack(ctx, session, use[0].Stack); err == nil {
				lines = append(lines, stackLines("where most of the time went", &stack)...)
			}
		}
		return lines
	}
}
