// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package progress answers: how far is it? It keeps one line of a terminal up to date while work takes long.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Line is a line of a terminal that is rewritten. A nil Line shows nothing.
type Line struct {
	mu    sync.Mutex
	out   io.Writer
	shown bool
	last  time.Time
	now   func() time.Time
}

// interval is the least time between two versions of a line, so that work is not slowed down.
const interval = 100 * time.Millisecond

// On returns a line at the end of what a terminal shows.
func On(terminal io.Writer) *Line { return &Line{out: terminal, now: time.Now} }

// Show replaces the line, unless it was replaced a moment ago.
func (l *Line) Show(format string, args ...any) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); now.Sub(l.last) >= interval {
		l.last, l.shown = now, true
		fmt.Fprintf(l.out, "\r\x1b[K"+format, args...)
	}
}

// Of shows how much of a total is done, as a bar.
func (l *Line) Of(what string, done, total int64) {
	const width = 24
	if total <= 0 {
		l.Show("%s", what)
		return
	}
	done = min(max(done, 0), total)
	filled := int(done * width / total)
	bar := make([]byte, width)
	for i := range bar {
		bar[i] = '.'
		if i < filled {
			bar[i] = '#'
		}
	}
	l.Show("%s [%s] %3d %%", what, bar, done*100/total)
}

// Watch keeps the line up to date with how far some work is, until stop is called, which removes the line.
func (l *Line) Watch(state func() (what string, done, total int64)) (stop func()) {
	if l == nil {
		return func() {}
	}
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticker := time.NewTicker(2 * interval)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				l.Clear()
				return
			case <-ticker.C:
				l.Of(state())
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(ended)
		<-gone
	})
}

// Clear removes the line.
func (l *Line) Clear() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown {
		fmt.Fprint(l.out, "\r\x1b[K")
		l.shown, l.last = false, time.Time{}
	}
}
