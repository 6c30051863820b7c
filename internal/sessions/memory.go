// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/weft-otel/weft/internal/engine/window"
)

// pathMemory lends the memory for critical paths to the sessions of all components.
var pathMemory = newLender(runtime.GOMAXPROCS(0)) //nolint:gochecknoglobals // memory without state

// lender implements window.Memory. As soon as it has lent everything, the next borrower waits: more borrowers than CPUs would need more
// memory and finish no earlier. It does not leave memory to the garbage collector between two windows, as a sync.Pool does: a tenth of the
// CPU time of a busy session went into page faults in new memory.
type lender struct {
	lent chan struct{} // its capacity is the limit

	mu      sync.Mutex
	free    []*window.Scratch // the last one is borrowed first, so that those that are not needed remain unused
	trimmed time.Time
}

// trimEvery is how often memory is freed that was not used since, such as that of a peak.
const trimEvery = time.Minute

func newLender(limit int) *lender { return &lender{lent: make(chan struct{}, limit)} }

// Borrow implements window.Memory. A borrower must not borrow again before it has returned the memory.
func (l *lender) Borrow() *window.Scratch {
	l.lent <- struct{}{}
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.free) - 1
	if last < 0 {
		return window.NewScratch()
	}
	s := l.free[last]
	l.free = slices.Delete(l.free, last, last+1)
	return s
}

// Return implements window.Memory.
func (l *lender) Return(s *window.Scratch) {
	l.mu.Lock()
	l.free = append(l.free, s)
	l.mu.Unlock()
	<-l.lent
}

// trim frees memory that was not needed since the last time, at most once in trimEvery.
func (l *lender) trim(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if since := now.Sub(l.trimmed); since >= 0 && since < trimEvery {
		return
	}
	l.trimmed = now
	l.free = slices.DeleteFunc(l.free, (*window.Scratch).Excessive)
}

// clear frees all memory that is not borrowed.
func (l *lender) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = nil
}
