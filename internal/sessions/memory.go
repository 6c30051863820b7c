// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"runtime"
	"sync"

	"github.com/weft-otel/weft/internal/engine/window"
)

// pathMemory lends the memory for critical paths to the sessions of all components.
var pathMemory = newLender(runtime.GOMAXPROCS(0)) //nolint:gochecknoglobals // memory without state, as of a sync.Pool

// lender implements window.Memory. As soon as it has lent everything, the next borrower waits: more borrowers than CPUs would need more
// memory and finish no earlier. The garbage collector frees memory that is not borrowed for a while, such as that of a peak.
type lender struct {
	lent chan struct{} // its capacity is the limit
	free sync.Pool     // of *window.Scratch
}

func newLender(limit int) *lender {
	return &lender{lent: make(chan struct{}, limit), free: sync.Pool{New: func() any { return window.NewScratch() }}}
}

// Borrow implements window.Memory. A borrower must not borrow again before it has returned the memory.
func (l *lender) Borrow() *window.Scratch {
	l.lent <- struct{}{}
	return l.free.Get().(*window.Scratch)
}

// Return implements window.Memory.
func (l *lender) Return(s *window.Scratch) {
	l.free.Put(s)
	<-l.lent
}
