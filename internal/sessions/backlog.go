// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// backlog is the carriers of a session that have arrived and were not processed yet, in order of arrival. The pool's lock guards it.
type backlog struct {
	jobs  []job // the first ones are being processed
	taken int   // number of these
	bytes int
	share *budget.Budget // of the room of all backlogs
	room  chan struct{}  // closed when there is room again; nil: no sender waits
	due   bool           // the session is in the line of the pool, or a worker has it
}

// job is one carrier. It is a copy: what arrived belongs to the sender again once it is acknowledged, and may be a small part of a large
// request.
type job struct {
	span    ptrace.Span
	bytes   int
	shed    int64 // events that were dropped to save memory
	arrived time.Time
	done    *receipt
}

// maxBacklogs bounds the bytes of the backlogs of all sessions, of which a session may have a share: that of one that is busy holds some
// seconds. Beyond it, senders wait. A session without a backlog always has room for one carrier.
const (
	maxBacklogs  = 64 << 20
	backlogShare = 1. / 8
)

func newJob(span ptrace.Span, done *receipt) job {
	own := ptrace.NewSpan()
	span.CopyTo(own)
	done.open.Add(1)
	return job{span: own, bytes: threadpdata.SizeOf(own), arrived: time.Now(), done: done}
}

// receipt informs the sender of carriers when all of them were processed.
type receipt struct {
	open atomic.Int32 // carriers, plus one until all were added
	all  chan struct{}
}

func newReceipt() *receipt {
	r := &receipt{all: make(chan struct{})}
	r.open.Store(1)
	return r
}

func (r *receipt) done() {
	if r.open.Add(-1) == 0 {
		close(r.all)
	}
}

// wait waits until all carriers were processed, at most for a time.
func (r *receipt) wait(most time.Duration) {
	r.done()
	if r.open.Load() == 0 || most <= 0 {
		return
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-r.all:
	case <-timer.C:
	}
}
