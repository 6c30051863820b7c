// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/weft-otel/weft/internal/budget"
)

// pool processes the carriers of all sessions of a Set on as many goroutines as there are CPUs: more would need more memory and finish no
// earlier. Carriers of one session are processed one after the other. Sessions take turns, so that the windows of a busy one delay the
// others by one turn at most. A goroutine ends when there is no work.
type pool struct {
	process func(e *entry, jobs []job)
	count   func(bytes int) // that backlogs take
	limit   int             // of goroutines
	room    *budget.Budget  // for backlogs

	mu      sync.Mutex
	line    []*entry // whose turn is next
	workers int
	sending int       // workers that wait for the next consumer, and have let others take their place
	idle    sync.Cond // no worker is left
}

// maxSending bounds the workers that wait for the next consumer, each with the spans of a turn.
const maxSending = 16

// perTurn is the number of carriers that a session may process before it is another one's turn.
const perTurn = 16

func newPool(process func(*entry, []job), count func(bytes int)) *pool {
	p := &pool{process: process, count: count, limit: runtime.GOMAXPROCS(0), room: budget.Process.New(budget.Backlogs, maxBacklogs)}
	p.idle.L = &p.mu
	return p
}

// add adds a carrier to the backlog of its session. While that is full, add waits; it returns an error if ctx ends first.
func (p *pool) add(ctx context.Context, e *entry, j job) error {
	for {
		full := p.tryAdd(e, j)
		if full == nil {
			return nil
		}
		select {
		case <-full:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// again adds a carrier of a session that has ended meanwhile to the backlog of its next one, even if that is full: a worker must not wait for
// itself.
func (p *pool) again(e *entry, j job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.append(e, j)
}

// append adds a carrier even if there is no room. The caller has the lock.
func (p *pool) append(e *entry, j job) {
	b := &e.backlog
	b.share.Force(j.bytes)
	p.count(j.bytes)
	b.jobs = append(b.jobs, j)
	b.bytes += j.bytes
	p.schedule(e)
}

// hurry gives a session that shall free memory the next turn, even if it has no backlog.
func (p *pool) hurry(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := slices.Index(p.line, e); at >= 0 {
		p.line = slices.Delete(p.line, at, at+1)
		e.backlog.due = false
	}
	p.schedule(e)
}

// visit gives a session a turn, even if it has no backlog.
func (p *pool) visit(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.schedule(e)
}

// tryAdd adds a carrier, or returns a channel that is closed when there may be room.
func (p *pool) tryAdd(e *entry, j job) (full <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := &e.backlog
	if b.bytes > 0 && !b.share.Take(j.bytes) {
		if b.room == nil {
			b.room = make(chan struct{})
		}
		return b.room
	}
	if b.bytes > 0 {
		b.share.Give(j.bytes) // append takes it
	}
	p.append(e, j)
	return nil
}

// schedule puts a session in line unless it is there already or a worker has it. The caller has the lock.
func (p *pool) schedule(e *entry) {
	if e.backlog.due {
		return
	}
	e.backlog.due = true
	if e.shrink.Load() {
		p.line = slices.Insert(p.line, 0, e)
	} else {
		p.line = append(p.line, e)
	}
	p.start()
}

// start starts a worker if there is work for it. The caller has the lock.
func (p *pool) start() {
	if len(p.line) > 0 && p.workers < p.limit {
		p.workers++
		go p.work()
	}
}

func (p *pool) work() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.line) > 0 {
		e := p.line[0]
		p.line[0] = nil
		p.line = p.line[1:]
		b := &e.backlog
		b.taken = min(len(b.jobs), perTurn)
		p.turn(e, b.jobs[:b.taken:b.taken])
		p.processed(e)
	}
	p.workers--
	if p.workers+p.sending == 0 {
		p.line = nil // its room
		p.idle.Broadcast()
	}
}

// turn processes carriers without the lock, which it has again at the end, also of a panic.
func (p *pool) turn(e *entry, jobs []job) {
	p.mu.Unlock()
	defer p.mu.Lock()
	p.process(e, jobs)
}

// send calls do, which waits for the next consumer. Meanwhile another worker may process other sessions.
func (p *pool) send(do func()) {
	if p.step(1) {
		defer p.step(-1)
	}
	do()
}

// step lets others take the place of a worker that sends, or takes it back. It reports false if too many send already.
func (p *pool) step(sending int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sending > 0 && p.sending == maxSending {
		return false
	}
	p.sending += sending
	p.workers -= sending
	p.start()
	return true
}

// processed drops the carriers of a turn, and gives the session its next one if there are more.
func (p *pool) processed(e *entry) {
	b := &e.backlog
	freed := 0
	for i := range b.taken {
		freed += b.jobs[i].bytes
	}
	p.free(b, freed) // before finish: the sender may use the room at once
	for i := range b.taken {
		b.jobs[i].finish()
		b.jobs[i] = job{}
	}
	b.jobs = b.jobs[b.taken:]
	b.taken, b.due = 0, false
	if b.room != nil {
		close(b.room)
		b.room = nil
	}
	if len(b.jobs) == 0 {
		b.jobs = nil
	}
	if len(b.jobs) > 0 || e.shrink.Load() || e.overdue.Load() {
		p.schedule(e)
	}
}

// free gives back the room of carriers.
func (p *pool) free(b *backlog, bytes int) {
	if bytes != 0 {
		b.bytes -= bytes
		b.share.Give(bytes)
		p.count(-bytes)
	}
}

// oldest returns when the oldest carrier arrived that was not processed yet; the zero time if there is none.
func (p *pool) oldest(e *entry) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(e.backlog.jobs) == 0 {
		return time.Time{}
	}
	return e.backlog.jobs[0].arrived
}

// drain waits until all carriers were processed.
func (p *pool) drain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.workers+p.sending > 0 {
		p.idle.Wait()
	}
}
