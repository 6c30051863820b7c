// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/engine/window"
)

// The memory for critical paths, incidents and profiles is lent to the sessions of all components.
var (
	pathMemory     = newLender(runtime.GOMAXPROCS(0), window.NewScratch)   //nolint:gochecknoglobals // memory without state
	incidentMemory = newLender(runtime.GOMAXPROCS(0), incident.NewScratch) //nolint:gochecknoglobals // the same
	profileMemory  = newLender(runtime.GOMAXPROCS(0), profile.NewScratch)  //nolint:gochecknoglobals // the same
)

// ProfileMemory lends the memory for profiles of waits.
func ProfileMemory() profile.Memory { return profileMemory }

// NewIncidents returns a finder of incidents in the windows of a session, whose classifier is that of the engine. It borrows its memory.
func NewIncidents(opt incident.Options, classifier *waits.Classifier) *incident.Finder {
	f := incident.NewFinder(opt)
	f.Memory, f.Waits = incidentMemory, classifier
	return f
}

// scratch is memory that windows are computed in.
type scratch interface {
	comparable
	// Excessive reports whether it was much too large for the windows since the last call.
	Excessive() bool
	// Held estimates its bytes.
	Held() int
}

// lender implements the Memory of the packages window, incident and profile. As soon as it has lent everything, the next borrower waits: more borrowers than CPUs would need more
// memory and finish no earlier. It does not leave memory to the garbage collector between two windows, as a sync.Pool does: a tenth of the
// CPU time of a busy session went into page faults in new memory.
type lender[T scratch] struct {
	create func() T
	lent   chan struct{} // its capacity is the limit

	held    *budget.Budget // of the process; memory counts when it is returned, because what a window needs is not known before
	mu      sync.Mutex
	sizes   map[T]int // bytes of each when it was returned
	free    []T       // the last one is borrowed first, so that those that are not needed remain unused
	trimmed time.Time
}

// trimEvery is how often memory is freed that was not used since, such as that of a peak.
const trimEvery = time.Minute

func newLender[T scratch](limit int, create func() T) *lender[T] {
	return &lender[T]{
		create: create, lent: make(chan struct{}, limit), held: budget.Process.New(budget.Queries, 0), sizes: make(map[T]int),
	}
}

// Borrow lends memory. A borrower must not borrow again before it has returned the memory.
func (l *lender[T]) Borrow() T {
	l.lent <- struct{}{}
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.free) - 1
	if last < 0 {
		return l.create()
	}
	s := l.free[last]
	l.free = slices.Delete(l.free, last, last+1)
	return s
}

// Return takes memory back.
func (l *lender[T]) Return(s T) {
	size := s.Held()
	l.mu.Lock()
	l.held.Change(l.sizes[s], size)
	l.sizes[s] = size
	l.free = append(l.free, s)
	l.mu.Unlock()
	<-l.lent
}

// lendAnother calls do, during which one more borrower may have memory: the caller has borrowed some, and waits for something other than a CPU.
func (l *lender[T]) lendAnother(do func()) {
	<-l.lent
	defer func() { l.lent <- struct{}{} }()
	do()
}

// trim frees memory that was not needed since the last time, at most once in trimEvery.
func (l *lender[T]) trim(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if since := now.Sub(l.trimmed); since >= 0 && since < trimEvery {
		return
	}
	l.trimmed = now
	l.free = slices.DeleteFunc(l.free, func(s T) bool {
		excessive := s.Excessive()
		if excessive {
			l.forget(s)
		}
		return excessive
	})
}

// clear frees all memory that is not borrowed.
func (l *lender[T]) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.free {
		l.forget(s)
	}
	l.free = nil
}

func (l *lender[T]) forget(s T) {
	l.held.Give(l.sizes[s])
	delete(l.sizes, s)
}
