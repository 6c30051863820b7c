// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"regexp"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/weft-otel/weft/internal/printable"
)

// maxFilter is the longest pattern, in bytes.
const maxFilter = 200

const ignoreCase = "(?i)"

// key does what a key stands for.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case m.filter.editing:
		m.edit(name, msg.Text)
		return nil
	case name == "q":
		return tea.Quit
	case name == "ctrl+z":
		return tea.Suspend
	case m.pane != nil:
		m.paneKey(name)
		return nil
	}
	if by, moves := m.distance(name); moves {
		m.move(by)
		return nil
	}
	switch name {
	case "enter":
		if m.cursor < len(m.table.rows) {
			m.open(m.table.rows[m.cursor])
		}
	case "esc":
		m.setFilter("")
	case "/":
		m.filter.editing = true
	case "?", "f1":
		m.pane = helpPane()
	case "p":
		m.paused = !m.paused
		m.due = !m.paused
	case "i":
		m.idle = !m.idle
		m.due = true
	default:
		m.choose(name)
	}
	return nil
}

// distance returns by how many rows a key moves.
func (m *model) distance(name string) (rows int, moves bool) {
	const far = 1 << 30
	switch name {
	case "up", "k":
		return -1, true
	case "down", "j":
		return 1, true
	case "pgup", "ctrl+b":
		return -max(1, m.body()), true
	case "pgdown", "ctrl+f":
		return max(1, m.body()), true
	case "home", "g":
		return -far, true
	case "end", "G":
		return far, true
	}
	return 0, false
}

// choose changes what the table shows.
func (m *model) choose(name string) {
	columns := len(tabColumns[m.tab])
	by := &m.sorting[m.tab]
	switch name {
	case "1", "2", "3", "4", "5":
		m.show(int(name[0] - '1'))
	case "tab":
		m.show((m.tab + 1) % tabCount)
	case "shift+tab":
		m.show((m.tab + tabCount - 1) % tabCount)
	case "s":
		*by = sorting{column: (by.column + 1) % columns}
	case "S":
		*by = sorting{column: (max(0, by.column) + columns - 1) % columns}
	case "r":
		by.reverse = !by.reverse
	case "+", "=":
		m.window = longer(m.window)
	case "-", "_":
		m.window = shorter(m.window)
	case "right", "l":
		m.turn(1)
	case "left", "h":
		m.turn(len(kinds) - 1)
	default:
		return
	}
	m.due = true
	m.rebuild()
}

// turn chooses another kind of waits.
func (m *model) turn(by int) {
	if m.tab == waitsTab {
		m.kinds = (m.kinds + by) % len(kinds)
		m.cursor, m.top, m.natural = 0, 0, nil
	}
}

func (m *model) show(tab int) {
	if tab != m.tab {
		m.tab, m.cursor, m.top, m.natural = tab, 0, 0, nil
	}
}

// edit changes the filter. Its rows are shown at once.
func (m *model) edit(name, text string) {
	f := &m.filter
	switch name {
	case "enter":
		f.editing = false
		if f.wrong != "" {
			m.setFilter("")
		}
	case "esc":
		f.editing = false
		m.setFilter("")
	case "backspace":
		_, size := utf8.DecodeLastRuneInString(f.text)
		m.setFilter(f.text[:len(f.text)-size])
	case "ctrl+u":
		m.setFilter("")
	case "up", "down":
		by, _ := m.distance(name)
		m.move(by)
	default:
		m.typed(text)
	}
}

func (m *model) typed(text string) {
	if text = printable.Text(text); len(m.filter.text)+len(text) <= maxFilter {
		m.setFilter(m.filter.text + text)
	}
}

// setFilter sets the pattern. An invalid one is explained, and the rows stay as they are.
func (m *model) setFilter(text string) {
	f := &m.filter
	f.text, f.wrong = text, ""
	if text == "" {
		f.pattern = nil
		m.rebuild()
		return
	}
	pattern, err := regexp.Compile(ignoreCase + text)
	if err != nil {
		f.wrong = strings.Replace(strings.TrimPrefix(err.Error(), "error parsing regexp: "), ignoreCase, "", 1)
		return
	}
	f.pattern = pattern
	m.rebuild()
}
