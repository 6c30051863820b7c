// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// Follower processes the windows of one session into values of type T. Calls never overlap.
type Follower[T any] interface {
	// Window receives each complete window. The window is valid until the call returns.
	Window(w *window.Window)
	// Advanced is called after the engine has advanced and its complete windows were passed to Window.
	Advanced()
	// Closed is called once, after the last window.
	Closed(why window.Cut)
	// Take returns what is ready to be delivered. The caller owns it.
	Take() []T
}

// Aggregator is a Follower that also processes the sums that an agent in aggregated mode sends instead of events.
type Aggregator interface {
	// Aggregate receives each aggregate once, in any order. The aggregate is valid until the call returns.
	Aggregate(a *jvmthread.Aggregate)
}

// analysis is the Handler that runs the engine for a Follower.
type analysis[T any] struct {
	*Session
	*engine.Engine

	set      *Set[T]
	follower Follower[T]
	reported reported
}

// New returns a Set that runs an engine for each session and passes its windows to set.Follow.
func New[T any](set Settings[T]) *Set[T] {
	s := NewRaw(set, nil)
	s.open = func(session *Session) Handler[T] {
		session.Engine = engine.New(set.Config.Engine, session.Symbols)
		return &analysis[T]{Session: session, Engine: session.Engine, set: s, follower: set.Follow(session)}
	}
	return s
}

// Receive implements Handler.
func (a *analysis[T]) Receive(c *threadpdata.Carrier) {
	for _, th := range c.Threads {
		a.Symbols.SetThread(th)
	}
	fresh := a.Add(PartOf(c))
	if f, ok := a.follower.(Aggregator); ok && fresh && c.Aggregate != nil {
		f.Aggregate(c.Aggregate)
	}
}

// PartOf returns the events of a carrier as a part of their batch, which a carrier in the form of bytes has as a whole.
func PartOf(c *threadpdata.Carrier) ordering.Part {
	return ordering.Part{
		Batch: c.Batch, Part: c.Part, Parts: c.Parts, Watermark: c.Watermark, Before: c.Before, End: c.End, Events: c.Events,
	}
}

// Advance implements Handler.
func (a *analysis[T]) Advance() {
	a.Engine.Advance(a.window)
	a.advanced()
}

func (a *analysis[T]) advanced() {
	a.follower.Advanced()
	a.publish(int64(a.Held() + a.Symbols.Held()))
}

// Skip implements Handler.
func (a *analysis[T]) Skip() {
	a.Engine.Skip(a.window)
	a.advanced()
}

// Tick does nothing.
func (*analysis[T]) Tick() {}

// Close cuts the last window.
func (a *analysis[T]) Close(why window.Cut) {
	a.Engine.Close(why, a.window)
	a.follower.Closed(why)
	a.publish(0)
	a.logEnd(why)
}

// Take implements Handler.
func (a *analysis[T]) Take() []T { return a.follower.Take() }

// window passes a window to the follower, and then forgets the names of threads that no later window can mention.
func (a *analysis[T]) window(w *window.Window) {
	a.follower.Window(w)
	w.Release()
	a.count(w)
	for th := range a.Engine.Timeline().Threads {
		if th.Dead() && th.Open().Start < w.Start {
			a.Symbols.DropThread(th.Open().Thread)
		}
	}
}
