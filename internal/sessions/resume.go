// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"math"
	"sort"
	"time"

	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/sessions/journal"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// resumePatience is how long the sessions of the journal wait for the first carrier, which shows that all components have started. It is for
// collectors whose JVMs have all ended meanwhile.
const resumePatience = 5 * time.Second

// resume continues the sessions of the journal, once. They get a carrier soon, or their JVMs have ended or are followed by another collector:
// see silence.
func (s *Set) resume(ctx context.Context) {
	if s.journal != nil {
		s.restore.Do(func() {
			all := s.journal.Load(context.WithoutCancel(ctx))
			s.mu.Lock()
			for _, id := range s.journal.Ended() {
				s.ended.add(id)
			}
			s.lost = s.journal.Lost()
			s.mu.Unlock()
			for _, saved := range all {
				s.resumeSession(ctx, saved)
			}
		})
	}
}

func (s *Set) resumeSession(ctx context.Context, saved journal.Saved) {
	session := newSession(saved.ID, saved.Resource)
	session.journal = saved.Session
	e := s.entryOf(session)
	handler, ok := e.handler.(*analysis)
	if !ok || !s.include(ctx, e) {
		s.Logger.Warn("Cannot continue a session of the journal: max_sessions are followed", zap.Stringer("session", saved.ID))
		return
	}
	s.mu.Lock()
	lost := s.lostBefore(saved.ID)
	s.mu.Unlock()
	s.visit(ctx, e, func() (silent bool) {
		if saved.Head.Next == 0 {
			handler.returns(lost)
		}
		handler.continues(&saved)
		return false
	})
	for i, entry := range saved.Entries {
		s.visit(ctx, e, func() (silent bool) {
			handler.replay(i+1 < len(saved.Entries))
			for _, span := range entry.Traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
				if journal.Rejoined(span) {
					handler.Rejoin()
				}
				if err := e.receive(span, func(c *threadpdata.Carrier) bool {
					entry.Note(c, handler.Awaits())
					return true
				}); err != nil {
					s.logBad(saved.ID, err)
				}
			}
			e.advance()
			return false
		})
	}
	s.visit(ctx, e, func() (silent bool) {
		e.heard, e.restored = time.Now().Add(-saved.Waited), true
		handler.Rejoin()
		return false
	})
	if e.broken.Load() {
		return // which was logged
	}
	s.Logger.Info("Continued a session of the last run", zap.Stringer("session", saved.ID), zap.Int("entries", len(saved.Entries)))
}

// include adds a session unless too many are followed.
func (s *Set) include(ctx context.Context, e *entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.sessions) >= s.Config.MaxSessions {
		return false
	}
	s.sessions[e.ID] = e
	s.countSessions(ctx, 1)
	return true
}

// silence is how long a session may get no carrier. One of the journal that gets none has most likely ended meanwhile, or moved to another
// collector: its agent would have connected again.
func (e *entry) silence() time.Duration {
	if e.restored {
		return min(e.set.Config.SessionTimeout, 3*e.set.Config.ReorderTimeout)
	}
	return e.set.Config.SessionTimeout
}

// noteWaits stores how long the sessions of the journal have waited, so that the next life need not begin anew.
func (s *Set) noteWaits() {
	if s.journal == nil {
		return
	}
	waits := make(map[*journal.Session]time.Duration)
	for _, e := range s.all() {
		if waited := e.waited.Load(); waited > 0 {
			waits[e.journal] = time.Duration(waited)
		}
	}
	s.journal.Waits(waits)
}

// countUnwritten counts carriers that are not in the journal.
func (s *Set) countUnwritten(ctx context.Context) {
	for m := range s.instruments {
		m.anomaly(ctx, "not_journaled", 1)
	}
}

// continues restores the engines. An engine without a checkpoint, such as one with windows of another length than before, starts where
// the first of the others does.
func (a *analysis) continues(saved *journal.Saved) {
	first := jvmthread.Time(math.MaxInt64)
	for _, w := range saved.Windows {
		first = min(first, w.Start)
	}
	if watermark := first; saved.Head.Next > 0 {
		if len(saved.Windows) == 0 {
			watermark = math.MinInt64
		}
		a.Resume(saved.Head.Next, saved.Head.Seen, watermark)
	}
	for _, v := range a.views {
		if len(saved.Windows) > 0 {
			v.begin = first
		}
		for _, w := range saved.Windows {
			if w.Length == v.length {
				v.Engine.Restore(w.Restore(a.Symbols))
				v.begin, v.saved = w.Start, w
			}
		}
	}
}

// replay says whether the followers have most likely seen what follows: all but the last entry of the journal, beyond complete windows.
func (a *analysis) replay(seen bool) {
	for _, v := range a.views {
		v.replaying = seen
	}
}

// Replaying reports whether the session is being continued from the journal. What is not part of a window was delivered before.
func (s *Session) Replaying() bool { return s.view.replaying }

// fresh returns the events that were not processed in an earlier life. All of them are in the order of time.
func (v *view) fresh(events []jvmthread.Event) []jvmthread.Event {
	if len(events) == 0 || events[0].Time >= v.begin {
		return events
	}
	n := sort.Search(len(events), func(i int) bool { return events[i].Time >= v.begin })
	v.earlier += CountEvents(events[:n])
	return events[n:]
}

// save keeps the state at the start of a window for the journal.
func (v *view) save(state *engine.State) {
	v.saved, v.analysis.saved = journal.NewCheckpoint(v.length, state, v.Symbols), true
}

// commit moves the journal as soon as what is ready has been delivered.
func (a *analysis) commit(out []Delivery) []Delivery {
	switch {
	case a.ended:
		return append(out, func(context.Context) { a.journal.Remove(true) })
	case a.over:
		lost := a.position()
		return append(out, func(context.Context) { a.journal.Lose(lost.Next, lost.Seen) })
	}
	if a.End() != "" {
		return out // Close follows; until then, the journal must have the end
	}
	if !a.saved && !a.journal.Idle() {
		return out
	}
	a.saved = false
	start := jvmthread.Time(math.MaxInt64)
	var windows []*journal.Checkpoint
	for _, v := range a.views {
		if v.saved == nil {
			start = min(start, v.begin)
			continue
		}
		windows = append(windows, v.saved)
		start = min(start, v.saved.Start)
	}
	moved := a.journal.Prepare(a.Awaits(), a.Seen(), start, windows)
	return append(out, func(context.Context) { moved.Done() })
}

// lostBefore returns how far a session had come when it was lost last; nil: it was not lost. The caller has the lock.
func (s *Set) lostBefore(id jvmthread.SessionID) *journal.Lost {
	for i := range s.lost {
		if s.lost[i].ID == id {
			return &s.lost[i]
		}
	}
	return nil
}

// returns continues a session that was lost, if it was.
func (a *analysis) returns(lost *journal.Lost) {
	if lost != nil {
		a.Return(lost.Next, lost.Seen)
	}
}

// position returns how far a session had come that was lost. The end that its sender assumes has the number of the next batch.
func (a *analysis) position() journal.Lost {
	l := journal.Lost{ID: a.ID, Next: a.Awaits(), Seen: a.Seen()}
	if a.End() == threadpdata.EndLost {
		l.Next--
	}
	return l
}

// rest returns the events to process before the session is closed. If the next life continues it, that one also gets those whose order is not
// certain yet.
func (a *analysis) rest() []jvmthread.Event {
	if a.journal != nil && !a.over {
		return a.Ready()
	}
	return a.Rest()
}
