// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/threadtest/golden"
	"github.com/weft-otel/weft/internal/wording"
)

// press presses keys one after the other. Requests are not sent.
func press(m *model, keys ...string) {
	for _, k := range keys {
		m.Update(keyNamed(k))
	}
}

func keyNamed(name string) tea.KeyPressMsg {
	switch name {
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "tab":
		return tea.KeyPressMsg{Code: tea.KeyTab}
	case "shift+tab":
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	case "backspace":
		return tea.KeyPressMsg{Code: tea.KeyBackspace}
	case "up":
		return tea.KeyPressMsg{Code: tea.KeyUp}
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	case "left":
		return tea.KeyPressMsg{Code: tea.KeyLeft}
	case "right":
		return tea.KeyPressMsg{Code: tea.KeyRight}
	case "pgdown":
		return tea.KeyPressMsg{Code: tea.KeyPgDown}
	case "pgup":
		return tea.KeyPressMsg{Code: tea.KeyPgUp}
	case "home":
		return tea.KeyPressMsg{Code: tea.KeyHome}
	case "end":
		return tea.KeyPressMsg{Code: tea.KeyEnd}
	}
	first, _ := utf8.DecodeRuneInString(name)
	return tea.KeyPressMsg{Code: first, Text: name}
}

// shown returns the screen as a terminal without styles shows it.
func shown(m *model) string {
	var b strings.Builder
	for l := range strings.SplitSeq(ansi.Strip(m.screen()), "\n") {
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	return b.String()
}

func TestScreens(t *testing.T) {
	const file = "testdata/screens.txt"
	ended := exchange()
	ended.session.Live, ended.session.Ended = false, "end"
	calm := exchange()
	calm.answer.Text = wording.Quiet(nil, nil, false)
	calm.answer.Most, calm.waiting.Rows, calm.waiting.Total, calm.session.Lost, calm.waiting.Blocked = nil, nil, 0, 0, 0
	slow := still(t, exchange(), 80, 12)
	slow.busy, slow.since = true, slow.clock().Add(-7*time.Second)
	failed := still(t, exchange(), 80, 12)
	failed.problem = errors.New("dial tcp 127.0.0.1:8090: connect: connection refused").Error()
	noted := still(t, exchange(), 80, 12)
	noted.opts.Notes = []string{"the agent stays loaded; 'weft detach 4711' stops it"}
	var b strings.Builder
	b.WriteString("Screens of weft top. A file of this form is written by the test with -update.\n")
	for _, scene := range []struct {
		name string
		m    *model
		keys string
	}{
		{"now", still(t, exchange(), 120, 14), ""},
		{"now, wide", still(t, exchange(), 200, 12), ""},
		{"now, narrow", still(t, exchange(), 80, 16), ""},
		{"now, smallest", still(t, exchange(), 40, 10), ""},
		{"a deadlock", still(t, deadlocked(), 120, 14), ""},
		{"a deadlock, smallest", still(t, deadlocked(), 40, 10), ""},
		{"nothing waits", still(t, calm, 80, 10), ""},
		{"the JVM has ended", still(t, ended, 100, 10), ""},
		{"nothing is known yet", still(t, snapshot{}, 80, 10), ""},
		{"methods", still(t, exchange(), 120, 10), "2"},
		{"methods of another kind, not loaded", still(t, exchange(), 120, 10), "2 right"},
		{"locks", still(t, exchange(), 120, 10), "3"},
		{"locks, narrow", still(t, exchange(), 60, 12), "3"},
		{"threads", still(t, exchange(), 120, 12), "4"},
		{"incidents", still(t, exchange(), 120, 10), "5"},
		{"an incident", still(t, exchange(), 100, 18), "5 enter"},
		{"another row, sorted by thread", still(t, exchange(), 120, 14), "s down down"},
		{"in reverse", still(t, exchange(), 120, 14), "s r"},
		{"a filter that is typed", still(t, exchange(), 80, 14), "/ r e p"},
		{"an invalid filter", still(t, exchange(), 80, 14), "/ r e p ("},
		{"a filter", still(t, exchange(), 120, 14), "/ ^ m a t enter"},
		{"a filter without rows", still(t, exchange(), 80, 10), "/ x x enter"},
		{"a longer window, paused", still(t, exchange(), 120, 10), "3 + p"},
		{"details that are requested", still(t, exchange(), 100, 14), "down enter"},
		{"help", still(t, exchange(), 80, 40), "?"},
		{"a slow page", slow, ""},
		{"a page that fails", failed, ""},
		{"a note", noted, ""},
	} {
		press(scene.m, strings.Fields(scene.keys)...)
		scene.m.data.asked.tab = scene.m.tab // as if it was loaded
		fmt.Fprintf(&b, "-- %s (%d x %d) --\n%s", scene.name, scene.m.width, scene.m.height, shown(scene.m))
	}
	golden.Compare(t, file, b.String())
}

// A selected row, the open tab and the order are also shown without styles. What is alarming stands out with them.
func TestStyles(t *testing.T) {
	m := still(t, deadlocked(), 120, 14)
	assert.Contains(t, m.screen(), "\x1b[1;31mDEADLOCK: a -> Left -> b -> Right -> a, for 35.0 s\x1b[m")
	assert.Contains(t, m.screen(), "\x1b[7m[1 now 5]\x1b[m")
	m.paint = false
	assert.NotContains(t, m.screen(), "\x1b")
	assert.Contains(t, m.screen(), "> a ")
	assert.Contains(t, m.screen(), "[1 now 5]")
}

func TestTheCursorStaysOnItsRow(t *testing.T) {
	m := still(t, exchange(), 120, 14)
	press(m, "down", "down")
	selected := m.table.rows[m.cursor].key
	next := exchange()
	next.waiting.Rows = next.waiting.Rows[1:]
	m.Update(loadedMsg{data: next})
	assert.Equal(t, selected, m.table.rows[m.cursor].key)
	next.waiting.Rows = nil
	m.Update(loadedMsg{data: next})
	assert.Zero(t, m.cursor)
	press(m, "down", "enter")
	assert.Nil(t, m.pane)
}

func TestAPausedScreenStays(t *testing.T) {
	m := still(t, exchange(), 120, 14)
	press(m, "p")
	m.Update(tickMsg(m.clock()))
	assert.False(t, m.busy, "nothing is requested")
	press(m, "p")
	assert.True(t, m.busy)
}
