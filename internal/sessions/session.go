// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

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
	Engine   *engine.Engine // nil in a Set from NewRaw
}

// Handler processes the carriers of one session. Calls never overlap.
type Handler[T any] interface {
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
	Take() []T
}

// entry is a session in a Set.
type entry[T any] struct {
	*Session

	set     *Set[T]
	mu      sync.Mutex
	handler Handler[T]
	heard   time.Time // last carrier
	stalled time.Time // since when the awaited batch has been missing; zero: no batch is missing
	awaited uint64    // number of that batch
	closed  bool
	why     window.Cut // it was closed
}

func (s *Set[T]) newEntry(id jvmthread.SessionID, res pcommon.Resource) *entry[T] {
	session := &Session{ID: id, Resource: pcommon.NewResource(), Symbols: symbols.New(symbols.DefaultLimits())}
	res.CopyTo(session.Resource)
	return &entry[T]{Session: session, set: s, heard: time.Now(), handler: s.open(session)}
}

var errClosed = errors.New("the session is closed")

func (e *entry[T]) take(span ptrace.Span) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errClosed
	}
	c := e.set.carriers.Get().(*threadpdata.Carrier)
	defer e.set.release(c)
	if err := threadpdata.Parse(span, e.Symbols, c); err != nil {
		return err
	}
	e.heard = time.Now()
	e.handler.Receive(c)
	return nil
}

// visit calls do with the session locked, unless it is closed. It returns what is ready then, and why the session has ended if it has. do
// reports whether the session has been silent for too long.
func (e *entry[T]) visit(do func() (silent bool)) (out []T, ended window.Cut) {
	e.mu.Lock()
	defer e.mu.Unlock()
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
func (s *Set[T]) visit(ctx context.Context, e *entry[T], do func() (silent bool)) {
	out, ended := e.visit(do)
	s.deliver(ctx, out)
	if ended != "" {
		out = e.close(ended)
		s.remove(ctx, e)
		s.deliver(ctx, out)
	}
}

// deliver sends what is ready, even if the request that completed it has been cancelled.
func (s *Set[T]) deliver(ctx context.Context, out []T) {
	if len(out) > 0 {
		s.Deliver(context.WithoutCancel(ctx), out)
	}
}

func (e *entry[T]) advance() (silent bool) {
	e.handler.Advance()
	e.watchStall(time.Now())
	return false
}

// watchStall notes since when the same batch has been missing.
func (e *entry[T]) watchStall(now time.Time) {
	switch awaits := e.handler.Awaits(); {
	case !e.handler.Stalled():
		e.stalled = time.Time{}
	case e.stalled.IsZero() || e.awaited != awaits:
		e.stalled, e.awaited = now, awaits
	}
}

// check gives up a batch that has been missing for too long.
func (e *entry[T]) check(now time.Time) (silent bool) {
	if !e.stalled.IsZero() && now.Sub(e.stalled) >= e.set.Config.ReorderTimeout {
		e.handler.Skip()
		e.watchStall(now)
	}
	e.handler.Tick()
	return now.Sub(e.heard) >= e.set.Config.SessionTimeout
}

// close processes the remaining events; later carriers get errClosed.
func (e *entry[T]) close(why window.Cut) []T {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed, e.why = true, why
	e.handler.Close(why)
	return e.handler.Take()
}

// remove forgets a closed session.
func (s *Set[T]) remove(ctx context.Context, e *entry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[e.ID] != e {
		return
	}
	delete(s.sessions, e.ID)
	if e.why == window.CutEnd {
		s.ended.add(e.ID)
	}
	s.Metrics.Sessions.Add(ctx, -1)
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
