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
// request. Only the bytes of the batch are shared with that, since pdata copies the reference. Nothing writes to them: whoever decodes a request,
// or builds or signs a carrier, allocates new ones.
type job struct {
	span    ptrace.Span
	bytes   int
	shed    int64 // events that were dropped to save memory
	arrived time.Time
	*ticket
}

// ticket is what happened to a carrier. The worker that has the carrier owns it, while the backlog may move its jobs to make room.
type ticket struct {
	saved bool     // the journal has it
	done  *receipt // nil: it was passed on
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
	j := job{span: own, bytes: threadpdata.SizeOf(own), arrived: time.Now(), ticket: &ticket{done: done}}
	done.saved.left.Add(1)
	done.processed.left.Add(1)
	return j
}

// receipt informs the sender of carriers when the journal has all of them, if there is one, and when all were processed.
type receipt struct {
	saved, processed countdown
}

func newReceipt() *receipt { return &receipt{newCountdown(), newCountdown()} }

// save says that the journal has the carrier.
func (j *job) save() {
	if !j.saved && j.done != nil {
		j.saved = true
		j.done.saved.down()
	}
}

// finish says that the carrier was processed, unless it was passed on.
func (j *job) finish() {
	if j.done != nil {
		j.save()
		j.done.processed.down()
		j.done = nil
	}
}

// wait waits until the journal has all carriers, if there is one, and then until they were processed, at most for a time.
func (r *receipt) wait(journaled bool, most time.Duration) {
	r.saved.down()
	r.processed.down()
	if journaled {
		<-r.saved.zero
	}
	if r.processed.left.Load() == 0 || most <= 0 {
		return
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-r.processed.zero:
	case <-timer.C:
	}
}

// countdown begins with one, for whoever waits.
type countdown struct {
	left *atomic.Int32
	zero chan struct{} // closed when it is over
}

func newCountdown() countdown {
	c := countdown{new(atomic.Int32), make(chan struct{})}
	c.left.Store(1)
	return c
}

func (c *countdown) down() {
	if c.left.Add(-1) == 0 {
		close(c.zero)
	}
}
