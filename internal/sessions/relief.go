// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// memory is the bytes that the sessions of a Set hold. The fullest one has to give way first: its window is cut early, which frees most of what
// it holds and loses nothing. That happens even if no data arrives, so whatever refuses data because of memory cannot keep it from being freed.
// Only if that is not enough, carriers that arrive wait, and at last lose their events, which are counted.
type memory struct {
	limit     int64          // of the Set; 0: none
	held      *budget.Budget // of the process
	relieving atomic.Int64   // since when a session is about to cut its window, in nanoseconds of the wall clock; 0: none
}

const (
	relieveAt   = 7. / 8   // of the limit
	worthCut    = 64 << 10 // bytes that a session must hold for that
	makeWay     = time.Second
	makeWayStep = 20 * time.Millisecond
)

// saver is a Handler that can free memory.
type saver interface {
	Holder
	// Shrink cuts the current window and frees what the next one need not have.
	Shrink()
	// Shed says that the next carrier has lost events to save memory.
	Shed(events int64)
}

// over reports whether more than a part of the limit would be held with more bytes, that of the Set or what the process leaves to all of them.
func (s *Set) over(part float64, more int) bool {
	m := &s.memory
	if m.limit > 0 && float64(m.held.Held()+s.pool.room.Held()+int64(more)) > part*float64(m.limit) {
		return true
	}
	limit, held := budget.Process.Elastic()
	return float64(held+int64(more)) > part*float64(limit)
}

// account notes what a session holds, which is locked, after it has made way if it shall.
func (s *Set) account(e *entry) {
	h, ok := e.handler.(saver)
	if !ok {
		return
	}
	if e.shrink.Load() {
		h.Shrink()
	}
	now := h.Held()
	s.memory.held.Change(int(e.held.Swap(int64(now))), now)
}

// begin reports whether a session may be chosen to make way: none was, or that one has not done so for too long.
func (m *memory) begin(now time.Time) bool {
	since := m.relieving.Load()
	if since != 0 && now.Sub(time.Unix(0, since)) < makeWay {
		return false
	}
	return m.relieving.CompareAndSwap(since, now.UnixNano())
}

// relieve makes the fullest session cut its window if there is too little memory left, one session at a time. Those that wait for the next
// consumer cannot: another one does.
func (s *Set) relieve() {
	if !s.over(relieveAt, 0) || !s.memory.begin(time.Now()) {
		return
	}
	var fullest *entry
	most := int64(worthCut)
	for _, e := range s.all() {
		if held := e.held.Load(); held > most && !e.sending.Load() && !e.shrink.Load() {
			fullest, most = e, held
		}
	}
	if fullest == nil {
		s.memory.relieving.Store(0)
		return
	}
	fullest.shrink.Store(true)
	s.pool.hurry(fullest)
}

// makeRoom waits until there is memory for a carrier. After a while, it drops the events of the oldest carriers of the largest backlog, or of
// this carrier.
func (s *Set) makeRoom(ctx context.Context, e *entry, j *job) {
	if !s.over(1, j.bytes) {
		return
	}
	for begin := time.Now(); s.over(1, j.bytes); {
		s.relieve()
		if time.Since(begin) >= makeWay {
			s.shed(ctx, e, j)
			return
		}
		select {
		case <-time.After(makeWayStep):
		case <-ctx.Done():
			return
		}
	}
}

// shed drops events.
func (s *Set) shed(ctx context.Context, e *entry, j *job) {
	fullest := s.pool.fullest(s.all())
	need := j.bytes
	if fullest != nil && fullest != e {
		for need > 0 {
			freed, events := s.pool.shedOldest(fullest)
			if freed == 0 {
				break
			}
			need -= freed
			s.countShed(ctx, events)
		}
	}
	if need > 0 {
		j.strip()
		s.countShed(ctx, j.shed)
	}
}

func (s *Set) countShed(ctx context.Context, events int64) {
	for m := range s.instruments {
		m.EventsLost.Add(ctx, events, whereShed)
	}
}

// strip drops the events of a carrier. The rest keeps the order of batches.
func (j *job) strip() {
	if rest, events, ok := threadpdata.WithoutEvents(j.span); ok {
		j.span, j.shed = rest, j.shed+events
	}
	j.bytes = threadpdata.SizeOf(j.span)
}

// fullest returns the session with the largest backlog that waits; nil if there is none.
func (p *pool) fullest(all []*entry) (fullest *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	most := 0
	for _, e := range all {
		if len(e.backlog.jobs) > e.backlog.taken && e.backlog.bytes > most {
			fullest, most = e, e.backlog.bytes
		}
	}
	return fullest
}

// shedOldest drops the events of the oldest carrier of a backlog that has some. It returns the bytes that this frees; 0 if there is none.
func (p *pool) shedOldest(e *entry) (freed int, events int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := &e.backlog
	for i := b.taken; i < len(b.jobs); i++ {
		j := &b.jobs[i]
		if j.shed > 0 {
			continue
		}
		before := j.bytes
		if j.strip(); j.shed == 0 {
			continue
		}
		freed = before - j.bytes
		p.free(b, freed)
		return freed, j.shed
	}
	return 0, 0
}
