// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/threadtest/await"
)

// terminal is a pseudo-terminal, with a program that interprets what is written to it.
type terminal struct {
	t      *testing.T
	master *os.File
	slave  *os.File

	mu     sync.Mutex
	screen *vt.Emulator
	hidden bool // the cursor
	raw    strings.Builder
}

func newTerminal(t *testing.T, width, height int) *terminal {
	t.Helper()
	master, slave, err := pty.Open()
	require.NoError(t, err)
	term := &terminal{t: t, master: master, slave: slave, screen: vt.NewEmulator(width, height)}
	term.screen.SetCallbacks(vt.Callbacks{CursorVisibility: func(visible bool) { term.hidden = !visible }})
	require.NoError(t, pty.Setsize(master, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}))
	var running sync.WaitGroup
	running.Go(func() { // what the program asks the terminal for
		_, _ = io.Copy(master, term.screen)
	})
	running.Go(func() {
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			term.mu.Lock()
			_, _ = term.screen.Write(buffer[:n])
			term.raw.Write(buffer[:n])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		_ = slave.Close()
		_ = master.Close()
		_ = term.screen.InputPipe().(io.Closer).Close()
		running.Wait()
	})
	return term
}

func (term *terminal) shown() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return ansi.Strip(term.screen.String())
}

// written returns what was written to the terminal.
func (term *terminal) written() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.raw.String()
}

func (term *terminal) waitFor(text string) {
	term.t.Helper()
	await.Until(term.t, text+" is on the screen", func() bool { return strings.Contains(term.shown(), text) })
}

func (term *terminal) keys(keys string) {
	term.t.Helper()
	_, err := term.master.WriteString(keys)
	require.NoError(term.t, err)
}

// start runs the screen in the terminal.
func (term *terminal) start(ctx context.Context, f *served) <-chan error {
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, page.Of(f), f.session, Options{In: term.slave, Out: term.slave, Interval: 20 * time.Millisecond, Window: All})
	}()
	return done
}

// restored checks that the terminal is as it was.
func (term *terminal) restored() {
	term.t.Helper()
	await.Until(term.t, "the terminal is restored", func() bool {
		term.mu.Lock()
		defer term.mu.Unlock()
		return !term.screen.IsAltScreen() && !term.hidden
	})
}

func TestTheScreenInATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("NO_COLOR", "")
	term := newTerminal(t, 120, 24)
	done := term.start(t.Context(), serve(t, true))
	term.waitFor("report slept")
	term.waitFor("> matcher-1")
	term.keys("j")
	term.waitFor("> matcher-2")
	term.keys("3")
	term.waitFor("OrderBook.lock @b00c")
	term.keys("\r")
	term.waitFor("where most of the time went")
	term.keys("\x1b")
	term.waitFor("[3 locks]")
	term.keys("1/matcher-3\r")
	term.waitFor("filter matcher-3")
	term.waitFor("> matcher-3")

	term.mu.Lock()
	assert.True(t, term.screen.IsAltScreen())
	assert.True(t, term.hidden, "the cursor")
	term.screen.Resize(50, 12)
	term.mu.Unlock()
	require.NoError(t, pty.Setsize(term.master, &pty.Winsize{Cols: 50, Rows: 12}))
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGWINCH)) // the kernel sends it only to those whose controlling terminal it is
	term.waitFor("[1 now 5] 2  3  4  5")

	term.keys("q")
	require.NoError(t, <-done)
	term.restored()
	assert.Contains(t, term.written(), "\x1b[33m", "blocked threads are colored")
}

func TestTheTerminalIsRestoredWhenTheContextEnds(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	ctx, cancel := context.WithCancel(t.Context())
	term := newTerminal(t, 80, 24)
	done := term.start(ctx, serve(t, false))
	term.waitFor("ENDED: the JVM has ended")
	cancel()
	require.NoError(t, <-done)
	term.restored()
	assert.NotContains(t, term.written(), "\x1b[33m")
	assert.NotRegexp(t, "\x1b\\[[0-9;]*3[0-7]", term.written(), "NO_COLOR leaves styles only")
}
