// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/wording"
)

// fact is a part of the first line.
type fact struct {
	span

	drop int // the fact with the highest one is dropped first
}

// identity says which JVM this is, and whether its data can be trusted.
func (m *model) identity() string {
	s := &m.data.session
	facts := []fact{{span{m.name(), bold}, 0}}
	add := func(drop int, style style, text string) {
		if text != "" {
			facts = append(facts, fact{span{text, style}, drop})
		}
	}
	if s.PID != 0 {
		add(2, plain, "PID "+strconv.FormatInt(s.PID, 10))
	}
	if m.data.loaded {
		condition := plain
		if !s.Live || m.agentPaused() {
			condition = alarm
		}
		add(1, condition, m.condition())
		add(4, plain, wording.Duration(time.Duration(max(0, s.To)))+" recorded")
		add(3, plain, wording.Grouped(int64(m.data.eventRate()+0.5))+" events/s")
		if lost := s.Lost + s.Missed; lost > 0 {
			add(1, alarm, wording.Grouped(min(lost, 1<<62))+" events lost")
		}
		add(5, plain, clean(strings.Replace(s.JVM, " Runtime Environment", "", 1)))
	}
	if m.paused {
		add(1, reverse, "SCREEN PAUSED")
	}
	for len(facts) > 1 && factsWidth(facts) > m.width {
		last := 0
		for i := range facts {
			if facts[i].drop >= facts[last].drop {
				last = i
			}
		}
		facts = slices.Delete(facts, last, last+1)
	}
	var spans []span
	for i, f := range facts {
		if i > 0 {
			spans = append(spans, span{text: "  "})
		}
		spans = append(spans, f.span)
	}
	return m.paint.line(m.width, spans...)
}

func factsWidth(facts []fact) int {
	width := 2 * (len(facts) - 1)
	for _, f := range facts {
		width += cells(f.text)
	}
	return width
}

// name is what the user calls the JVM.
func (m *model) name() string {
	s := &m.data.session
	return clip(clean(cmp.Or(m.opts.Title, s.Service, s.Command, m.session)), 40)
}

func (m *model) agentPaused() bool {
	return m.data.session.Control != nil && m.data.session.Control.Paused
}

// condition says whether more data may come.
func (m *model) condition() string {
	s := &m.data.session
	switch {
	case s.Live && m.agentPaused():
		return "AGENT PAUSED"
	case s.Live:
		return "live"
	case s.Ended == "end":
		return "ENDED: the JVM has ended"
	case s.Ended == "lost":
		return "ENDED: the connection to the JVM was lost"
	}
	return "ENDED: " + cmp.Or(clean(s.Ended), "the recording is over")
}

// summary is the answer: deadlocks first, then what costs the most. It always has as many lines, so that the table does not move.
func (m *model) summary() (lines []string) {
	height := 2
	if m.width < 100 && m.height >= 16 {
		height = 3
	}
	if text := m.data.deadlock(); text != "" {
		for _, l := range wrap(text, m.width, height) {
			lines = append(lines, m.paint.line(m.width, span{l, alarm}))
		}
	}
	for _, l := range wrap(m.data.sentence(m.window), m.width, height-len(lines)) {
		lines = append(lines, m.paint.line(m.width, span{l, bold}))
	}
	for len(lines) < height {
		lines = append(lines, m.paint.line(m.width))
	}
	return lines
}

// tabLine shows the tabs, and what is chosen.
func (m *model) tabLine() string {
	spans, width := m.tabs(true)
	if width > m.width {
		spans, width = m.tabs(false)
	}
	for _, c := range m.choices() {
		if width+2+cells(c.text) > m.width {
			break
		}
		spans = append(spans, span{text: "  "}, c)
		width += 2 + cells(c.text)
	}
	return m.paint.line(m.width, spans...)
}

// tabs shows the tabs with or without the names of those that are not open.
func (m *model) tabs(names bool) (spans []span, width int) {
	totals := m.data.totals()
	totals[incidentsTab] = max(totals[incidentsTab], m.data.session.Incidents)
	for i, name := range tabNames {
		text := strconv.Itoa(i + 1)
		if names || i == m.tab {
			text += " " + name
			if (i == nowTab || i == incidentsTab) && totals[i] > 0 {
				text += " " + wording.Grouped(totals[i])
			}
		}
		s := span{" " + text + " ", faint}
		if i == m.tab {
			s = span{"[" + text + "]", reverse}
		}
		spans = append(spans, s)
		width += cells(s.text)
	}
	return spans, width
}

// choices say what differs from a table of everything.
func (m *model) choices() (all []span) {
	if m.tab == waitsTab {
		all = append(all, span{"◂ " + m.kind() + " ▸", bold})
	}
	if m.filter.pattern != nil && !m.filter.editing {
		all = append(all, span{"filter " + clean(m.filter.text), stopped})
	}
	if m.tab != incidentsTab && m.tab != nowTab {
		text := windowName(m.window)
		if m.window < All {
			text = "last " + text
		}
		all = append(all, span{text, plain})
	}
	if total := m.data.totals()[m.tab]; total > m.loadedRows() {
		all = append(all, span{wording.Grouped(m.loadedRows()) + " of " + wording.Grouped(total), stopped})
	}
	if m.idle && (m.tab == nowTab || m.tab == threadsTab) {
		all = append(all, span{"with idle threads", plain})
	}
	if m.tab == nowTab && m.data.waiting.Blocked > 0 {
		all = append(all, span{wording.Grouped(m.data.waiting.Blocked) + " blocked", stopped})
	}
	return all
}
