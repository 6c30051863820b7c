// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package top answers: what do the threads of a JVM wait for now, and who is in their way? It shows the answers of the page's API as a live
// screen of a terminal, or once as text.
package top

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/wording"
)

// Options configure the screen.
type Options struct {
	Title    string        // of the JVM; empty: its service or command line
	In       io.Reader     // nil: standard input
	Out      io.Writer     // nil: standard output. Must be a terminal, not a writer that escapes
	Interval time.Duration // between refreshes; 0: a second
	Window   time.Duration // of the sums; 0: 10 s
	Notes    []string      // shown until the first key
}

func (o Options) withDefaults() Options {
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	if o.Window <= 0 {
		o.Window = defaultWindow
	}
	return o
}

// Run shows a session until the user quits or the context ends. Afterwards the terminal is as before. A terminal that cannot move its
// cursor gets one screen as text.
func Run(ctx context.Context, c *page.Client, session string, opts Options) error {
	opts = opts.withDefaults()
	if os.Getenv("TERM") == "dumb" {
		return Print(ctx, c, session, opts, dumbWidth)
	}
	requests, cancel := context.WithCancel(ctx)
	defer cancel()
	settings := []tea.ProgramOption{tea.WithInput(opts.In), tea.WithOutput(opts.Out)}
	if os.Getenv("NO_COLOR") != "" { // any value, see no-color.org
		settings = append(settings, tea.WithColorProfile(colorprofile.ASCII))
	}
	program := tea.NewProgram(newModel(requests, c, session, opts), settings...)
	// With tea.WithContext, the program would not wait for its reader of keys, which then races with what restores the terminal.
	defer context.AfterFunc(ctx, program.Quit)()
	_, err := program.Run()
	if errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return err
}

const dumbWidth = 80

// maxOnce is how many rows of each table Print prints.
const maxOnce = 40

// Once is Print over the last 10 s.
func Once(ctx context.Context, c *page.Client, session string, w io.Writer, width int) error {
	return Print(ctx, c, session, Options{Out: w}, width)
}

// Print prints one screen as text: the answer, the threads that wait now, and the methods and locks that cost the most within opts.Window.
func Print(ctx context.Context, c *page.Client, session string, opts Options, width int) error {
	opts = opts.withDefaults()
	m := newModel(ctx, c, session, opts)
	m.paint, m.width, m.height, m.touched = false, max(1, width), maxOnce, true
	var b strings.Builder
	for _, tab := range [...]int{nowTab, waitsTab, locksTab} {
		m.tab, m.natural, m.cursor = tab, nil, 0
		ctx, cancel := context.WithTimeout(ctx, patience)
		data, err := load(ctx, c, session, m.data, m.want(), m.clock())
		cancel()
		switch {
		case err != nil:
			return err
		case data.failed != nil:
			return data.failed
		}
		m.data = data
		m.rebuild()
		m.cursor = -1 // no row is selected
		if tab == nowTab {
			for _, l := range append([]string{m.identity()}, m.summary()...) {
				writeLine(&b, l)
			}
		}
		writeLine(&b, onceTitles[tab])
		for _, l := range m.rows(maxOnce) {
			writeLine(&b, l)
		}
		if more := len(m.table.rows) - maxOnce; more > 0 {
			writeLine(&b, blank+"… and "+wording.Plural(more, "more row"))
		}
		writeLine(&b, "")
	}
	_, err := io.WriteString(opts.Out, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// onceTitles are the titles of the tables that Print prints.
var onceTitles = [tabCount]string{nowTab: "THREADS THAT WAIT NOW", waitsTab: "METHODS THAT WERE BLOCKED", locksTab: "LOCKS"}

func writeLine(b *strings.Builder, line string) { b.WriteString(strings.TrimRight(line, " ") + "\n") }
