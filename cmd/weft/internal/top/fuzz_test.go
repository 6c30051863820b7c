// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/weft-otel/weft/internal/viewapi"
)

// hostile clears a terminal, reorders its line, hides itself and begins a new one.
const hostile = "\x1b[2J\u009b2J\u202e\u200b\x7f\r\n\t漢字👩‍👩‍👧e\u0301\xff"

// named returns a snapshot all of whose names have a text in them.
func named(name string) snapshot {
	s := deadlocked()
	s.session.Service, s.session.JVM, s.session.Deadlocks[0].Text = name, name, name
	s.info.States[2] = name
	s.answer.Text = []viewapi.Part{{Text: name, Role: viewapi.RoleLock}}
	for i := range s.waiting.Rows {
		w := &s.waiting.Rows[i]
		w.Thread.Name, w.Object, w.Method, w.Line, w.Doing, w.Lock.Class, w.Lock.Hash, w.Wait = name, name, name, name, name, name, name, name
		w.Holder = &viewapi.ThreadRef{Name: name}
	}
	for i := range s.threads.Threads {
		s.threads.Threads[i].Name, s.threads.Threads[i].Pool, s.threads.Threads[i].Group = name, name, name
	}
	for i := range s.locks.Locks {
		s.locks.Locks[i].Name, s.locks.Locks[i].Kind, s.locks.Locks[i].Lock.Class, s.locks.Locks[i].Lock.Hash = name, name, name, name
	}
	c := &s.callers.Callers[0]
	c.Class, c.Name, c.Method, c.Wait, c.Longest.Title, c.Stacks[0].Line = name, name, name, name, name, name
	in := &s.incidents.Incidents[0]
	in.Name, in.Text, in.Holds[0].Text, in.Holds[0].Thread.Name, in.Holds[0].Frames = name, name, name, name, []string{name, "- " + name}
	return s
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// checkScreen checks that a screen fits, and that it has no control character other than SGR.
func checkScreen(t *testing.T, m *model) {
	t.Helper()
	screen := m.screen()
	lines := strings.Split(sgr.ReplaceAllString(screen, ""), "\n")
	if len(lines) > max(1, m.height) {
		t.Fatalf("%d lines on a screen of %d:\n%s", len(lines), m.height, screen)
	}
	for _, l := range lines {
		if cells(l) > m.width {
			t.Fatalf("a line of %d columns on a screen of %d: %q", cells(l), m.width, l)
		}
		for _, r := range l {
			visible := unicode.Is(unicode.Prepended_Concatenation_Mark, r) // although of Cf
			if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) && !visible {
				t.Fatalf("%U in %q", r, l)
			}
		}
	}
}

// FuzzScreen presses keys on screens of any size, with names of any kind. A space in the keys changes the size, too.
func FuzzScreen(f *testing.F) {
	f.Add("matcher-1", "23451sSr/mat(\r\x1b?jjG\x1b+-ip", uint8(80), uint8(24))
	f.Add(hostile, "\r\x1b2\r\x1b3\r\x1b4\r\x1b5\rjjjG", uint8(40), uint8(10))
	f.Add(strings.Repeat(hostile+" word ", 5), "\r \x1b2\r \x1b3\r \x1b4\r \x1b5\rjG /x", uint8(7), uint8(3))
	f.Add("漢字漢字漢字漢字漢字", "1 2 3 4 5 ? /漢", uint8(1), uint8(1))
	f.Add("", "/\x1b/[[\r\t\t", uint8(250), uint8(0))
	f.Add("\u0600", "/\u0600", uint8(80), uint8(24))
	f.Fuzz(func(t *testing.T, name, keys string, width, height uint8) {
		if len(name) > 300 || len(keys) > 40 { // more of the same only takes longer; TestLongNames has one
			return
		}
		pressAll(t, name, keys, width, height)
	})
}

func TestLongNames(t *testing.T) {
	pressAll(t, strings.Repeat(hostile+" word ", 500), "\r \x1b2\r \x1b3\r \x1b4\r \x1b5\rjG /x", 7, 3)
}

// pressAll checks the screens that other content or another size leads to, and the last one.
func pressAll(t *testing.T, name, keys string, width, height uint8) {
	t.Helper()
	m := newModel(context.Background(), nil, "a0", Options{Notes: []string{name}, Title: name}.withDefaults())
	m.data, m.problem = named(name), name
	m.Update(tea.WindowSizeMsg{Width: int(width), Height: int(height)})
	checkScreen(t, m)
	for _, k := range keys {
		switch k {
		case '\r':
			m.Update(keyNamed("enter"))
		case '\x1b':
			m.Update(keyNamed("esc"))
		case '\t':
			m.Update(keyNamed("tab"))
		case ' ':
			width, height = width*7+3, height*5+2
			m.Update(tea.WindowSizeMsg{Width: int(width), Height: int(height)})
		default:
			m.Update(keyNamed(string(k)))
			continue // checked below: drawing takes most of the time
		}
		checkScreen(t, m)
	}
	checkScreen(t, m)
}
