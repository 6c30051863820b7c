// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// Session is one JVM. Its Handler or Follower may use it while it is being called.
type Session struct {
	ID       jvmthread.SessionID
	Resource pcommon.Resource
	Symbols  *symbols.Table
	Engine   *engine.Engine // of a Follower, which gets its events by Push; nil for a Handler

	view *view // of the engine's windows
}

// Delivery sends what a session had ready to the next consumer. No lock is held, and deliveries of one session may overlap.
type Delivery func(context.Context)

// Handler processes the carriers of one session. Calls never overlap.
type Handler interface {
	// Receive adds a carrier, whose texts are already in the symbol table. The carrier is valid until Receive returns.
	Receive(c *threadpdata.Carrier)
	// Advance processes all events whose order is certain.
	Advance()
	// Stalled reports whether a batch is missing, Awaits returns its number, and Skip gives it up and advances.
	Stalled() bool
	Awaits() uint64
	Skip()
	// End returns why the session ended; empty while it is running.
	End() string
	// Tick is called every second.
	Tick()
	// Close processes the remaining events. It is called once, and nothing but Take follows.
	Close(why window.Cut)
	// Take returns what is ready to be delivered. The caller owns it.
	Take() []Delivery
}

// entry is a session in a Set.
type entry struct {
	*Session

	set     *Set
	backlog backlog
	held    atomic.Int64 // bytes of the handler
	shrink  atomic.Bool  // the handler shall cut its window now, to save memory

	mu      sync.Mutex
	handler Handler
	heard   time.Time // arrival of the last carrier that was processed
	stalled time.Time // since when the awaited batch has been missing; zero: no batch is missing
	awaited uint64    // number of that batch
	closed  bool
	why     window.Cut // it was closed
}

func (s *Set) newEntry(id jvmthread.SessionID, res pcommon.Resource) *entry {
	session := &Session{ID: id, Resource: pcommon.NewResource(), Symbols: symbols.New(symbols.DefaultLimits())}
	res.CopyTo(session.Resource)
	e := &entry{Session: session, set: s, heard: time.Now(), handler: s.Open(session)}
	e.backlog.share = s.pool.room.Member(backlogShare)
	return e
}

// process passes carriers to the handler, up to the end of the session, and advances. Those after the end belong to the next session of the
// JVM, or are late.
func (s *Set) process(e *entry, jobs []job) {
	ctx := context.Background()
	taken := 0
	out, ended := e.visit(func() (silent bool) {
		for ; taken < len(jobs) && e.handler.End() == ""; taken++ {
			s.receive(ctx, e, &jobs[taken])
		}
		e.advance()
		s.account(e)
		return false
	})
	if e.shrink.Swap(false) { // it made way, or was closed
		s.memory.relieving.Store(false)
	}
	s.send(ctx, out)
	s.relieve()
	if ended != "" {
		s.send(ctx, s.end(ctx, e, ended))
	}
	if taken < len(jobs) {
		s.remove(ctx, e)
	}
	for _, j := range jobs[taken:] {
		if next := s.entryOf(ctx, e.Resource, j.span); next != nil {
			s.pool.again(next, j)
		}
	}
}

// receive passes a carrier to the handler of its session, which is locked.
func (s *Set) receive(ctx context.Context, e *entry, j *job) {
	c := s.carriers.Get().(*threadpdata.Carrier)
	defer s.release(c)
	if err := threadpdata.Parse(j.span, e.Symbols, c); err != nil {
		s.refuse(ctx, j.span, badCarrier)
		s.logBad(e.ID, err)
		return
	}
	e.heard = j.arrived
	if h, ok := e.handler.(saver); ok && j.shed > 0 {
		h.Shed(j.shed)
	}
	e.handler.Receive(c)
}

// visit calls do with the session locked, unless it is closed. It returns what is ready then, and why the session has ended if it has. do
// reports whether the session has been silent for too long.
func (e *entry) visit(do func() (silent bool)) (out []Delivery, ended window.Cut) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.visitLocked(do)
}

func (e *entry) visitLocked(do func() (silent bool)) (out []Delivery, ended window.Cut) {
	if e.closed {
		return nil, ""
	}
	silent := do()
	switch end := e.handler.End(); {
	case end == "" && !silent:
	case end == "" || end == threadpdata.EndLost:
		ended = window.CutLost // if it reconnects, it is joined in the middle
	default:
		ended = window.CutEnd
	}
	return e.handler.Take(), ended
}

// visit calls do with the session locked and delivers what is ready then. It closes a session that has ended before forgetting it, so that
// its handler is done before another session of the same JVM can start.
func (s *Set) visit(ctx context.Context, e *entry, do func() (silent bool)) {
	out, ended := e.visit(do)
	deliver(ctx, out)
	if ended != "" {
		deliver(ctx, s.end(ctx, e, ended))
	}
}

// check is visit for check. It leaves out a session that is being processed: the others must not wait for it.
func (s *Set) check(ctx context.Context, e *entry, now time.Time) {
	if !e.mu.TryLock() {
		return
	}
	out, ended := func() ([]Delivery, window.Cut) {
		defer e.mu.Unlock()
		return e.visitLocked(func() bool { return e.check(now) })
	}()
	deliver(ctx, out)
	if ended != "" {
		deliver(ctx, s.end(ctx, e, ended))
	}
}

// end closes a session, and forgets it. It returns what is ready then.
func (s *Set) end(ctx context.Context, e *entry, why window.Cut) []Delivery {
	out := e.close(why)
	s.remove(ctx, e)
	return out
}

// send delivers what a worker has ready. Meanwhile another session may be processed.
func (s *Set) send(ctx context.Context, out []Delivery) {
	if len(out) > 0 {
		s.pool.send(func() { deliver(ctx, out) })
	}
}

// deliver sends what is ready, even if the request that completed it has been cancelled.
func deliver(ctx context.Context, out []Delivery) {
	for _, send := range out {
		send(context.WithoutCancel(ctx))
	}
}

func (e *entry) advance() {
	e.handler.Advance()
	e.watchStall(time.Now())
}

// watchStall notes since when the same batch has been missing.
func (e *entry) watchStall(now time.Time) {
	switch awaits := e.handler.Awaits(); {
	case !e.handler.Stalled():
		e.stalled = time.Time{}
	case e.stalled.IsZero() || e.awaited != awaits:
		e.stalled, e.awaited = now, awaits
	}
}

// check gives up a batch that has been missing for too long.
func (e *entry) check(now time.Time) (silent bool) {
	waiting, cfg := e.set.pool.oldest(e), &e.set.Config
	processed := waiting.IsZero() || waiting.Sub(e.stalled) >= cfg.ReorderTimeout // all that arrived in time
	if !e.stalled.IsZero() && now.Sub(e.stalled) >= cfg.ReorderTimeout && processed {
		e.handler.Skip()
		e.watchStall(now)
	}
	e.handler.Tick()
	e.set.account(e)
	return waiting.IsZero() && now.Sub(e.heard) >= cfg.SessionTimeout
}

// close processes the remaining events; later carriers get errClosed.
func (e *entry) close(why window.Cut) []Delivery {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed, e.why = true, why
	e.handler.Close(why)
	e.set.memory.add(-e.held.Swap(0))
	return e.handler.Take()
}

// remove forgets a closed session.
func (s *Set) remove(ctx context.Context, e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[e.ID] != e {
		return
	}
	delete(s.sessions, e.ID)
	if e.why == window.CutEnd {
		s.ended.add(e.ID)
	}
	s.countSessions(ctx, -1)
}

// recent is the last 1,024 sessions that were added.
type recent struct {
	ids  [1024]jvmthread.SessionID
	next int
}

func (r *recent) add(id jvmthread.SessionID) {
	r.ids[r.next%len(r.ids)] = id
	r.next++
}

func (r *recent) has(id jvmthread.SessionID) bool {
	return slices.Contains(r.ids[:min(r.next, len(r.ids))], id)
}
