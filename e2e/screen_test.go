// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// screen is a program in a pseudo-terminal, and what it shows there.
type screen struct {
	cmd    *exec.Cmd
	master *os.File
	ended  chan error

	mu       sync.Mutex
	emulator *vt.Emulator
}

// openScreen starts a program in a terminal.
func openScreen(t *testing.T, width, height int, words ...string) *screen {
	t.Helper()
	s := &screen{cmd: exec.Command(words[0], words[1:]...), ended: make(chan error, 1), emulator: vt.NewEmulator(width, height)}
	s.cmd.Env = []string{"TERM=xterm-256color"}
	var err error
	s.master, err = pty.StartWithSize(s.cmd, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)})
	require.NoError(t, err)
	var running sync.WaitGroup
	running.Go(func() { _, _ = io.Copy(s.master, s.emulator) }) // the terminal's answers, until it is closed
	running.Go(func() {
		buffer := make([]byte, 4096)
		for {
			n, err := s.master.Read(buffer)
			s.mu.Lock()
			_, _ = s.emulator.Write(buffer[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	go func() { s.ended <- s.cmd.Wait() }()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it may have ended
		_ = s.master.Close()
		_ = s.emulator.InputPipe().(io.Closer).Close()
		running.Wait()
		if t.Failed() {
			t.Logf("the screen:\n%s", s.text())
		}
	})
	return s
}

// text is what the screen shows, without colors.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ansi.Strip(s.emulator.String())
}

// until waits until the screen shows a text.
func (s *screen) until(t *testing.T, text string) {
	t.Helper()
	poll(t, "the screen shows "+text, func() bool { return strings.Contains(s.text(), text) })
}

// press types keys.
func (s *screen) press(t *testing.T, keys string) {
	t.Helper()
	_, err := s.master.WriteString(keys)
	require.NoError(t, err)
}
