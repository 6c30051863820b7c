// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"math"
	"time"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// analysis is the Handler of one session: it puts the events in order for one or several engines.
type analysis struct {
	*Session
	*ordering.Queue

	analyzer *Analyzer
	views    []*view // by length of windows, in the order in which the members joined
	clocks   clocks
	received uint64     // events, gaps not included
	taken    []Delivery // of followers, by a call of Take that has not ended
	saved    bool       // a view has a checkpoint that the journal does not have
	over     bool       // the session has ended or is lost, and the journal must not have it any longer
	ended    bool       // it has ended: what still arrives is late
	failed   bool       // it was closed after a panic
}

func (a *Analyzer) open(s *Session) Handler {
	cfg := a.set.Config.Engine
	h := &analysis{Session: s, Queue: ordering.New(cfg.Ordering), analyzer: a}
	a.mu.Lock()
	members := a.members
	a.mu.Unlock()
	s.entry.guard(func() { // those that have joined before a panic are closed then
		for _, m := range members {
			cfg.Requests = a.requestsOf(members, m.Window)
			h.join(m, cfg)
		}
	})
	return h
}

func (a *analysis) join(m *Member, cfg engine.Config) {
	v := a.view(m.Window)
	if v == nil {
		cfg.Window, cfg.Phase = m.Window, window.Phase(a.ID, m.Window)
		session := *a.Session
		v = &view{analysis: a, Session: &session, length: m.Window, start: math.MinInt64, begin: math.MinInt64}
		session.Engine, session.view = engine.New(cfg, a.Symbols), v
		if a.journal != nil {
			v.Engine.Checkpoints(v.save)
		}
		v.finder = a.analyzer.Options.NewFinder(a.Symbols)
		a.views = append(a.views, v)
	}
	v.followers = append(v.followers, following{member: m, Follower: m.Follow(v.Session)})
}

// requestsOf returns what the members with windows of a length want to know of requests: spans, if one of them does, else their sums.
func (a *Analyzer) requestsOf(members []*Member, length time.Duration) (wanted *requests.Config) {
	for _, m := range members {
		if m.Window == length && m.Requests != nil && (wanted == nil || !wanted.Spans()) {
			wanted = m.Requests
		}
	}
	if wanted != nil {
		w := *wanted
		w.MaxPins = window.MaxPins(a.Options.MaxSpansPerWindow)
		wanted = &w
	}
	return wanted
}

func (a *analysis) view(length time.Duration) *view {
	for _, v := range a.views {
		if v.length == length {
			return v
		}
	}
	return nil
}

// follower returns the Follower of a member; nil if it joined later.
func (a *analysis) follower(m *Member) Follower {
	for _, v := range a.views {
		for i := range v.followers {
			if v.followers[i].member == m {
				return v.followers[i].Follower
			}
		}
	}
	return nil
}

// Receive implements Handler.
func (a *analysis) Receive(c *threadpdata.Carrier) {
	for _, th := range c.Threads {
		a.Symbols.SetThread(th)
	}
	a.setClock(c.Clock)
	if fresh := a.Add(BatchOf(c)); !fresh {
		return
	}
	a.received += CountEvents(c.Events)
	if c.Aggregate == nil {
		return
	}
	for _, v := range a.views {
		for _, f := range v.followers {
			if to, ok := f.Follower.(Aggregator); ok {
				to.Aggregate(c.Aggregate)
			}
		}
	}
}

// BatchOf returns the batch of a carrier.
func BatchOf(c *threadpdata.Carrier) ordering.Batch {
	return ordering.Batch{
		Number: c.Batch, Watermark: c.Watermark, Before: c.Before, First: c.First, End: c.End,
		Lost: c.End == threadpdata.EndLost && len(c.Events) == 0, Events: c.Events,
	}
}

// Advance implements Handler.
func (a *analysis) Advance() {
	events := a.Ready()
	for _, v := range a.views {
		v.Engine.Push(v.fresh(events), a.Watermark(), v.window)
	}
	a.forget()
	for i, v := range a.views {
		for _, f := range v.followers {
			f.Advanced()
		}
		v.taken()
		v.publish(i == 0)
	}
}

// Shed implements saver.
func (a *analysis) Shed(events int64) {
	for _, v := range a.views {
		v.shed += uint64(events)
	}
}

// Shrink implements saver.
func (a *analysis) Shrink() {
	for i, v := range a.views {
		v.Engine.Shrink(v.window)
		v.publish(i == 0)
	}
	a.Queue.Shrink()
}

// Held implements saver.
func (a *analysis) Held() (n int) {
	for i, v := range a.views {
		n += int(v.held(i == 0))
	}
	return n
}

// Skip implements Handler.
func (a *analysis) Skip() {
	a.Queue.Skip()
	a.Advance()
}

// Tick does nothing.
func (*analysis) Tick() {}

// Close cuts the last windows, unless the session has failed.
func (a *analysis) Close(why window.Cut) {
	if why == window.CutFailed {
		a.fail()
		return
	}
	a.over, a.ended = why != window.CutShutdown, why == window.CutEnd
	rest := a.rest()
	for i, v := range a.views {
		v.Engine.Finish(v.fresh(rest), a.Watermark(), why, v.window)
		for i := range v.followers {
			v.followers[i].close(why)
		}
		v.taken()
		v.closed = true
		v.publish(i == 0)
	}
	if len(a.views) > 0 {
		a.views[0].logEnd(why)
	}
}

// Take implements Handler.
func (a *analysis) Take() []Delivery {
	if !a.failed { // else fail took what there is
		for _, v := range a.views {
			for _, f := range v.followers {
				a.take(f)
			}
		}
	}
	out := a.taken
	a.taken = nil
	if a.journal != nil && !a.failed {
		out = a.commit(out)
	}
	return out
}

func (a *analysis) take(f Follower) {
	if send := f.Take(); send != nil {
		a.taken = append(a.taken, send)
	}
}

// forget drops the names of threads that no later window can mention.
func (a *analysis) forget() {
	cut, start := false, jvmthread.Time(math.MaxInt64)
	for _, v := range a.views {
		cut = cut || v.cut
		start = min(start, v.start)
		v.cut = false
	}
	if !cut {
		return
	}
	a.views[0].Engine.DropDead(a.Symbols, start)
}
