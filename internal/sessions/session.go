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
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/origin"
	"github.com/weft-otel/weft/internal/sessions/journal"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// Session is one JVM. Its Handler or Follower may use it while it is being called.
type Session struct {
	ID       jvmthread.SessionID
	Resource pcommon.Resource
	Symbols  *symbols.Table
	Engine   *engine.Engine // of a Follower, which gets its events by Push; nil for a Handler

	entry   *entry           // in its Set
	view    *view            // of the engine's windows
	journal *journal.Session // nil: none
}

// Delivery sends what a session had ready to the next consumer. No lock is held, and deliveries of one session may overlap.
type Delivery func(context.Context)

// Handler processes the carriers of one session. Calls never overlap.
type Handler interface {
	// Receive adds a carrier, whose texts are already in the symbol table. The carrier is valid until Receive returns.
	Receive(c *threadpdata.Carrier)
	// Advance processes all events whose order is certain.
	Advance()
	// Stalled reports whether a batch is missing, Awaits returns its number, and Skip gives it up and advances. Rejoin says that the session
	// may have been elsewhere.
	Stalled() bool
	Rejoin()
	// Jumps reports whether too many batches are missing before one for it to be of this session.
	Jumps(batch uint64) bool
	Awaits() uint64
	Skip()
	// End returns why the session ended; empty while it is running.
	End() string
	// Tick is called every second.
	Tick()
	// Close processes the remaining events. It is called once, and nothing but Take follows. After a panic in any method, it is called with
	// CutFailed: the Handler then gives up what it has not completed.
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
	sending atomic.Bool  // a worker waits for the next consumer
	overdue atomic.Bool  // it shall be checked by a worker: a batch or the whole session has been silent for too long
	broken  atomic.Bool  // there was a panic: it shall be closed as failed

	mu      sync.Mutex
	handler Handler
	heard   time.Time // arrival of the last carrier that was processed
	stalled time.Time // since when the awaited batch has been missing; zero: no batch is missing
	awaited uint64    // number of that batch
	closed  bool
	passing bool       // a part of a window is being delivered, in the middle of a call of the handler, and the lock is free
	why     window.Cut // it was closed

	sender origin.Sender // of the last carrier that says, since spoken; the lock of the set guards both
	spoken time.Time
	warned atomic.Bool // about refused carriers

	restored bool         // from the journal, and not heard of since
	waited   atomic.Int64 // how long, in ns, in the lives since it was heard of; 0: it is not restored
}

func (s *Set) newEntry(id jvmthread.SessionID, res pcommon.Resource) *entry {
	session := newSession(id, res)
	if s.journal != nil {
		session.journal = s.journal.Begin(id, res)
	}
	return s.entryOf(session)
}

func newSession(id jvmthread.SessionID, res pcommon.Resource) *Session {
	session := &Session{ID: id, Resource: pcommon.NewResource(), Symbols: symbols.New(symbols.DefaultLimits())}
	res.CopyTo(session.Resource)
	return session
}

func (s *Set) entryOf(session *Session) *entry {
	e := &entry{Session: session, set: s, heard: time.Now()}
	session.entry = e
	e.handler = s.Open(session)
	e.backlog.share = s.pool.room.Member(backlogShare)
	return e
}

// process passes carriers to the handler, up to the end of the session, and advances. If there is a journal, it has them before that, and
// their senders are informed. Those after the end belong to the next session of the JVM, or are late.
func (s *Set) process(e *entry, jobs []job) {
	ctx := context.Background()
	taken, overdue := 0, e.overdue.Swap(false)
	out, ended := e.visit(func() (silent bool) {
		var written *journal.Entry
		for ; taken < len(jobs) && e.handler.End() == ""; taken++ {
			written = s.receive(ctx, e, &jobs[taken], written)
		}
		if e.journal != nil {
			s.write(ctx, written, jobs[:taken])
		}
		e.advance()
		if overdue {
			silent = e.check(time.Now())
		}
		s.account(e)
		return silent
	})
	if e.shrink.Swap(false) { // it made way, or was closed
		s.memory.relieving.Store(0)
	}
	e.sending.Store(true)
	s.send(ctx, e, out)
	e.sending.Store(false)
	s.relieve()
	if ended = e.orFailed(ended); ended != "" {
		s.send(ctx, e, s.end(ctx, e, ended))
	}
	if taken < len(jobs) {
		s.remove(ctx, e)
	}
	for i := taken; i < len(jobs); i++ {
		if next := s.sessionOf(ctx, "", e.Resource, jobs[i].span); next != nil {
			passed := jobs[i]
			passed.ticket = &ticket{passed.saved, passed.done}
			jobs[i].done = nil
			s.pool.again(next, passed)
		}
	}
}

// receive passes a carrier to the handler of its session, which is locked, and adds it to the entry of the journal, if there is a journal.
func (s *Set) receive(ctx context.Context, e *entry, j *job, written *journal.Entry) *journal.Entry {
	elsewhere := e.restored
	jumped := false
	if j.arrived.Sub(e.heard) >= s.Config.ReorderTimeout { // an agent sends a batch each second: another collector may have got them
		elsewhere = true
		e.handler.Rejoin()
	}
	if h, ok := e.handler.(saver); ok && j.shed > 0 {
		h.Shed(j.shed)
	}
	err := e.receive(j.span, func(c *threadpdata.Carrier) bool {
		if jumped = e.handler.Jumps(c.Batch); jumped {
			return false
		}
		e.heard, e.restored = j.arrived, false
		if e.journal != nil {
			written = e.journal.Add(written, j.span, c, e.handler.Awaits(), elsewhere)
		}
		return true
	})
	switch {
	case err != nil:
		s.refuse(ctx, j.span, badCarrier)
		s.logBad(e.ID, err)
	case jumped:
		s.repel(ctx, e, "jump")
	}
	return written
}

// receive passes a carrier to the handler, if note wants it.
func (e *entry) receive(span ptrace.Span, note func(*threadpdata.Carrier) bool) error {
	c := e.set.carriers.Get().(*threadpdata.Carrier)
	defer e.set.release(c)
	if err := threadpdata.Parse(span, e.Symbols, c); err != nil {
		return err
	}
	if note(c) {
		e.handler.Receive(c)
	}
	return nil
}

// write stores an entry of the journal, nil for none, and acknowledges its carriers.
func (s *Set) write(ctx context.Context, entry *journal.Entry, jobs []job) {
	if entry != nil && !entry.Write() {
		s.countUnwritten(ctx)
	}
	for i := range jobs {
		jobs[i].save()
	}
}

// visit calls do with the session locked, unless it is closed. It returns what is ready then, and why the session has ended if it has. do
// reports whether the session has been silent for too long.
func (e *entry) visit(do func() (silent bool)) (out []Delivery, ended window.Cut) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.visitLocked(do)
}

func (e *entry) visitLocked(do func() (silent bool)) (out []Delivery, ended window.Cut) {
	if e.closed || e.passing {
		return nil, ""
	}
	whole := !e.broken.Load() && e.guard(func() {
		silent := do()
		switch end := e.handler.End(); {
		case end == "" && !silent:
		case end == "" || end == threadpdata.EndLost:
			ended = window.CutLost // if it reconnects, it is joined in the middle
		default:
			ended = window.CutEnd
		}
		out = e.handler.Take()
	})
	if !whole {
		return e.closeLocked(window.CutFailed), window.CutFailed
	}
	return out, ended
}

// visit calls do with the session locked and delivers what is ready then. It closes a session that has ended before forgetting it, so that
// its handler is done before another session of the same JVM can start.
func (s *Set) visit(ctx context.Context, e *entry, do func() (silent bool)) {
	out, ended := e.visit(do)
	e.deliver(ctx, out)
	if ended = e.orFailed(ended); ended != "" {
		e.deliver(ctx, s.end(ctx, e, ended))
	}
}

// check lets a worker check a session that has been silent for too long. It leaves out a session that is being processed: the others must not
// wait for it, nor for the next consumer.
func (s *Set) check(e *entry, now time.Time) {
	if !e.mu.TryLock() {
		return
	}
	defer e.mu.Unlock()
	if e.closed || e.passing || e.broken.Load() {
		return
	}
	if !e.guard(func() { s.checkLocked(e, now) }) {
		s.pool.visit(e)
	}
}

func (s *Set) checkLocked(e *entry, now time.Time) {
	e.handler.Tick()
	e.waited.Store(0)
	if e.restored {
		e.waited.Store(int64(now.Sub(e.heard)))
	}
	if stalled, silent := e.patience(now); stalled || silent {
		e.overdue.Store(true)
		s.pool.visit(e)
	} else if !e.shrink.Load() {
		s.account(e)
	}
}

// end closes a session, and forgets it. It returns what is ready then.
func (s *Set) end(ctx context.Context, e *entry, why window.Cut) []Delivery {
	out := e.close(why)
	s.remove(ctx, e)
	return out
}

// send delivers what a worker has ready. Meanwhile another session may be processed.
func (s *Set) send(ctx context.Context, e *entry, out []Delivery) {
	if len(out) > 0 {
		s.pool.send(func() { e.deliver(ctx, out) })
	}
}

// deliver sends what is ready, even if the request that completed it has been cancelled.
func (e *entry) deliver(ctx context.Context, out []Delivery) {
	for _, send := range out {
		e.guard(func() { send(context.WithoutCancel(ctx)) })
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
	stalled, silent := e.patience(now)
	if stalled {
		e.handler.Skip()
		e.watchStall(now)
	}
	return silent
}

// patience reports whether a batch has been missing for too long, and whether the session has been silent for too long. A session that is
// joined in the middle, after another collector had it, waits as long: the queue of a sender that crashed sends some batches late.
func (e *entry) patience(now time.Time) (stalled, silent bool) {
	patience := e.set.Config.ReorderTimeout
	waiting := e.set.pool.oldest(e)
	processed := waiting.IsZero() || waiting.Sub(e.stalled) >= patience // all that arrived in time
	stalled = !e.stalled.IsZero() && now.Sub(e.stalled) >= patience && processed
	return stalled, waiting.IsZero() && now.Sub(e.heard) >= e.silence()
}

// close processes the remaining events; later carriers get errClosed.
func (e *entry) close(why window.Cut) []Delivery {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	return e.closeLocked(e.orFailed(why))
}

func (e *entry) closeLocked(why window.Cut) (out []Delivery) {
	e.closed, e.why = true, why
	whole := why != window.CutFailed && e.guard(func() {
		e.handler.Close(why)
		out = e.handler.Take()
	})
	if !whole {
		e.why = window.CutFailed
		out = e.closeFailed()
	}
	e.set.memory.held.Give(int(e.held.Swap(0)))
	return out
}

// remove forgets a closed session.
func (s *Set) remove(ctx context.Context, e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[e.ID] != e {
		return
	}
	delete(s.sessions, e.ID)
	switch e.why {
	case window.CutEnd:
		s.ended.add(e.ID)
	case window.CutFailed:
		s.failed.add(e.ID)
	case window.CutLost:
		if h, ok := e.handler.(*analysis); ok {
			s.lost = journal.AppendLost(s.lost, h.position())
		}
	}
	s.countSessions(ctx, -1)
}

// recent is the last sessions that were added, as many as the journal has.
type recent struct {
	ids  []jvmthread.SessionID
	next int // to be replaced
}

func (r *recent) add(id jvmthread.SessionID) {
	if len(r.ids) < journal.MaxEnded {
		r.ids = append(r.ids, id)
		return
	}
	r.ids[r.next] = id
	r.next = (r.next + 1) % len(r.ids)
}

func (r *recent) has(id jvmthread.SessionID) bool { return slices.Contains(r.ids, id) }
