// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"context"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/page"
)

// pane is a text over the table: details, or help.
type pane struct {
	title   string
	lines   []paneLine
	top     int     // first line on the screen
	request request // for the lines that follow; nil: there are none
	waits   *pane   // the pane that this one completes
}

// paneLine is a line that is broken if the screen is narrow.
type paneLine = span

// request asks the page for details.
type request func(ctx context.Context, c *page.Client, session string, s *snapshot) []paneLine

// load completes a pane.
func (p *pane) load(ctx context.Context, c *page.Client, session string, s *snapshot) *pane {
	return &pane{title: p.title, lines: slices.Concat(p.lines, p.request(ctx, c, session, s)), top: p.top, waits: p}
}

// showPane opens a pane.
func (m *model) showPane(p *pane) {
	m.pane = p
	if p.request != nil {
		m.opening = p
	}
}

func (m *model) paneKey(name string) {
	switch name {
	case "esc", "enter", "backspace", "left", "h", "?":
		m.pane, m.opening = nil, nil
		return
	}
	by, _ := m.distance(name)
	most := len(m.pane.broken(m.width)) - max(1, m.paneBody())
	m.pane.top = max(0, min(m.pane.top+by, most))
}

// broken returns the lines as they fit a screen. Continued lines are indented.
func (p *pane) broken(width int) (lines []span) {
	const most = 2000 // lines of a pane on the narrowest screen
	for _, l := range p.lines {
		indent := l.text[:len(l.text)-len(strings.TrimLeft(l.text, " "))]
		if len(indent)+2 >= width {
			indent = ""
		}
		for i, part := range wrap(strings.TrimLeft(l.text, " "), width-len(indent)-2, most) {
			if i > 0 {
				part = "  " + part
			}
			lines = append(lines, span{indent + part, l.style})
		}
		if len(lines) > most {
			break
		}
	}
	return lines
}
