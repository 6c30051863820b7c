// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/weft-otel/weft/cmd/weft/internal/units"
)

// View draws the screen.
func (m *model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	return v
}

// screen returns the lines of the screen, none wider than it.
func (m *model) screen() string {
	if m.width == 0 || m.height == 0 {
		return ""
	}
	lines := []string{m.identity()}
	if m.pane != nil {
		lines = append(lines, m.paneLines()...)
	} else {
		lines = append(lines, m.summary()...)
		lines = append(lines, m.tabLine())
		lines = append(lines, m.rows(m.body())...)
	}
	if len(lines) >= m.height { // too small for everything: the head is what counts
		return strings.Join(lines[:m.height], "\n")
	}
	if note := m.note(); note.text != "" {
		lines = append(lines[:min(len(lines), m.height-2)], m.paint.line(m.width, note))
	}
	for len(lines) < m.height-1 {
		lines = append(lines, m.paint.line(m.width))
	}
	return strings.Join(append(lines, m.footer()), "\n")
}

// body is how many rows of a table fit the screen.
func (m *model) body() int {
	used := 1 + len(m.summary()) + 1 + 1 + 1 // identity, tabs, heads, footer
	if m.note().text != "" {
		used++
	}
	return m.height - used
}

func (m *model) paneBody() int { return m.height - 3 }

// rows shows the table.
func (m *model) rows(body int) []string {
	width := m.width - len(mark)
	widths := fit(m.table.columns, m.natural, width)
	lines := []string{m.paint.line(m.width, span{blank + m.table.header(widths, m.sorting[m.tab]), bold})}
	if len(m.table.rows) == 0 {
		return append(lines, m.paint.line(m.width, span{blank + m.empty(), faint}))
	}
	for i := m.top; i < len(m.table.rows) && i < m.top+body; i++ {
		r := m.table.rows[i]
		spans := m.table.line(r, widths)
		before := span{blank, plain}
		if i == m.cursor {
			before.text = mark
			for j := range spans {
				spans[j].style = reverse
			}
		}
		lines = append(lines, m.paint.line(m.width, append([]span{before}, spans...)...))
	}
	return lines
}

// The selected row has a mark, for terminals without styles.
const mark, blank = "> ", "  "

// empty says why there are no rows.
func (m *model) empty() string {
	switch {
	case m.pending():
		return "Loading …"
	case m.filter.pattern != nil:
		return "No row matches " + clean(m.filter.text)
	case m.tab == nowTab && m.idle:
		return "No thread waits"
	case m.tab == nowTab:
		return "No thread waits (i includes those without a task)"
	case m.tab == incidentsTab:
		return "No incident so far"
	}
	return "Nothing within this window (+ makes it longer)"
}

func (m *model) paneLines() []string {
	p := m.pane
	lines := []string{m.paint.line(m.width, span{cut(" "+p.title, m.width), reverse})}
	broken := p.broken(m.width)
	if m.opening == p || m.busy && p.request != nil && p.waits == nil {
		broken = append(broken, span{"Loading …", faint})
	}
	top := max(0, min(p.top, len(broken)-1))
	for _, l := range broken[top:min(len(broken), top+max(0, m.paneBody()))] {
		lines = append(lines, m.paint.line(m.width, l))
	}
	return lines
}

// note is a problem, or what the command has to say until a key is pressed.
func (m *model) note() span {
	const slow = 3 * time.Second // less is not worth a note
	switch waited := m.clock().Sub(m.since); {
	case m.busy && waited >= slow:
		return span{"The page has not answered for " + units.Human(waited.Truncate(time.Second)), stopped}
	case m.problem != "":
		return span{"Retrying: " + clean(m.problem), alarm}
	case !m.touched && len(m.opts.Notes) > 0:
		return span{clean(strings.Join(m.opts.Notes, "; ")), plain}
	}
	return span{}
}

// footer shows the pattern that is typed, or the keys.
func (m *model) footer() string {
	f := &m.filter
	switch {
	case f.editing && f.wrong != "":
		return m.paint.line(m.width, span{"/" + clean(f.text), plain}, span{" ", reverse}, span{" invalid: " + clean(f.wrong), alarm})
	case f.editing:
		return m.paint.line(m.width, span{"/" + clean(f.text), plain}, span{" ", reverse}, span{"  Enter keeps the filter, Esc clears it", faint})
	}
	keys := [][2]string{
		{"q", "quit"},
		{"?", "help"},
		{"⏎", "details"},
		{"/", "filter"},
		{"s", "sort"},
		{"+-", "window"},
		{"i", "idle"},
		{"p", "pause"},
		{"r", "reverse"},
	}
	if m.pane != nil {
		keys = [][2]string{{"q", "quit"}, {"Esc", "back"}, {"↑↓", "scroll"}}
	}
	var spans []span
	width := m.width
	for _, k := range keys {
		if width < cells(k[0])+1+cells(k[1]) {
			break
		}
		spans = append(spans, span{k[0], bold}, span{" " + k[1] + "  ", faint})
		width -= cells(k[0]) + 1 + cells(k[1]) + 2
	}
	return m.paint.line(m.width, spans...)
}
