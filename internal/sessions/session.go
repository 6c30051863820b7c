// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// Session is one JVM: its engine and the texts behind its ids. A follower may use it while it is called.
type Session struct {
	ID       jvmthread.SessionID
	Resource pcommon.Resource
	Symbols  *symbols.Table
	Engine   *engine.Engine
}

// entry is a session in a Set.
type entry[T any] struct {
	Session

	set      *Set[T]
	mu       sync.Mutex
	follower Follower[T]
	heard    time.Time // when something came
	stalled  time.Time // since when the awaited batch is missing; zero: none is
	awaited  uint64    // its number
	closed   bool
	why      window.Cut // it was closed
	told     told
}

func (s *Set[T]) newEntry(id jvmthread.SessionID, res pcommon.Resource) *entry[T] {
	cfg := s.Config.Engine
	cfg.OldRecording = threadpdata.IsOldRecording(res)
	e := &entry[T]{set: s, heard: time.Now(), Session: Session{
		ID: id, Resource: pcommon.NewResource(), Engine: engine.New(cfg), Symbols: symbols.New(symbols.DefaultLimits()),
	}}
	res.CopyTo(e.Resource)
	e.follower = s.Follow(&e.Session)
	return e
}

// errClosed says that a session takes nothing any more.
var errClosed = errors.New("the session is closed")

// take adds a carrier's events.
func (e *entry[T]) take(span ptrace.Span) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errClosed
	}
	c := e.set.carriers.Get().(*threadpdata.Carrier)
	defer e.set.carriers.Put(c)
	if err := threadpdata.Parse(span, e.Symbols, c); err != nil {
		return err
	}
	e.heard = time.Now()
	if c.Thread.ID != jvmthread.NoThread {
		e.Symbols.SetThread(c.Thread)
	}
	fresh := e.Engine.Add(ordering.Part{
		Batch: c.Batch, Part: c.Part, Parts: c.Parts, Watermark: c.Watermark, Before: c.Before, End: c.End, Events: c.Events,
	})
	if f, ok := e.follower.(Aggregator); ok && fresh && c.Aggregate != nil {
		f.Aggregate(c.Aggregate)
	}
	return nil
}

// advance goes as far as what was taken allows, and returns what is ready, and why the session ended if it did.
func (e *entry[T]) advance() (out []T, end string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ""
	}
	e.Engine.Advance(e.window)
	e.watchStall(time.Now())
	e.advanced()
	return e.follower.Take(), e.Engine.End()
}

func (e *entry[T]) advanced() {
	e.follower.Advanced()
	e.publish()
}

// watchStall keeps since when the engine waits for the same batch.
func (e *entry[T]) watchStall(now time.Time) {
	switch awaits := e.Engine.Awaits(); {
	case !e.Engine.Stalled():
		e.stalled = time.Time{}
	case e.stalled.IsZero() || e.awaited != awaits:
		e.stalled, e.awaited = now, awaits
	}
}

// check gives up a batch that is missing for too long, and tells whether the session was silent for too long, and why it ended if it did.
func (e *entry[T]) check(now time.Time) (out []T, silent bool, end string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, false, ""
	}
	if !e.stalled.IsZero() && now.Sub(e.stalled) >= e.set.Config.ReorderTimeout {
		e.Engine.Skip(e.window)
		e.watchStall(now)
		e.advanced()
	}
	return e.follower.Take(), now.Sub(e.heard) >= e.set.Config.SessionTimeout, e.Engine.End()
}

// visit lets somebody look at the session.
func (e *entry[T]) visit(look func(*Session, Follower[T])) []T {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	look(&e.Session, e.follower)
	return e.follower.Take()
}

// close cuts the last window. The session takes nothing any more.
func (e *entry[T]) close(why window.Cut) []T {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed, e.why = true, why
	e.Engine.Close(why, e.window)
	e.follower.Closed(why)
	e.publish()
	e.release()
	e.logEnd(why)
	return e.follower.Take()
}

// window gives the follower a window, and forgets the names of the threads that will not be spoken of any more.
func (e *entry[T]) window(w *window.Window) {
	e.follower.Window(w)
	e.count(w)
	for th := range e.Engine.Timeline().Threads {
		if th.Dead() && th.Open().Start < w.Start {
			e.Symbols.DropThread(th.Open().Thread)
		}
	}
}
