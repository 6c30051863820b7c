// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// Size of the terminal.
const (
	columns = 120
	rows    = 30
)

// patience is how long the screen may take to show what is expected.
const patience = time.Minute

// typing is the time between two keys of a person.
const typing = 60 * time.Millisecond

// session is a program in a terminal, whose output is recorded. Its methods do nothing after the first error.
type session struct {
	cmd    *exec.Cmd
	master *os.File
	began  time.Time
	err    error
	done   sync.WaitGroup

	mu       sync.Mutex
	emulator *vt.Emulator
	events   []event
}

// open starts a program in a terminal.
func open(cmd *exec.Cmd) (*session, error) {
	s := &session{cmd: cmd, emulator: vt.NewEmulator(columns, rows)}
	var err error
	if s.master, err = pty.StartWithSize(cmd, &pty.Winsize{Cols: columns, Rows: rows}); err != nil {
		return nil, err
	}
	s.began = time.Now()
	s.done.Go(func() { _, _ = io.Copy(s.master, s.emulator) }) // what the terminal answers, until it is closed
	s.done.Go(s.read)
	return s, nil
}

// read records what the program writes until it ends.
func (s *session) read() {
	buffer := make([]byte, 1<<16)
	for {
		n, err := s.master.Read(buffer)
		s.mu.Lock()
		if n > 0 {
			s.events = append(s.events, event{time.Since(s.began), string(buffer[:n])})
			_, _ = s.emulator.Write(buffer[:n])
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// screen is what the terminal shows, as text.
func (s *session) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ansi.Strip(s.emulator.String())
}

// until waits until the screen shows a text.
func (s *session) until(text string) {
	for end := time.Now().Add(patience); s.err == nil && !strings.Contains(s.screen(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.err = fmt.Errorf("the screen does not show %q:\n%s", text, s.screen())
		}
	}
}

// write types keys as a person does.
func (s *session) write(keys string) {
	for _, key := range keys {
		s.press(string(key))
		s.look(typing)
	}
}

// press types one key.
func (s *session) press(key string) {
	if s.err == nil {
		_, s.err = s.master.WriteString(key)
	}
}

// look gives the viewer time to read.
func (s *session) look(d time.Duration) {
	if s.err == nil {
		time.Sleep(d)
	}
}

// close waits for the end of the program and returns what it wrote.
func (s *session) close() ([]event, error) {
	if s.err != nil {
		s.err = errors.Join(s.err, s.cmd.Process.Kill())
	}
	err := s.cmd.Wait()
	if s.err == nil {
		s.err = err
	}
	_ = s.master.Close()
	_ = s.emulator.InputPipe().(io.Closer).Close() // ends the answers
	s.done.Wait()
	return s.events, s.err
}
