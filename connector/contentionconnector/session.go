// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contentionconnector

import (
	"context"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// session keeps the account of one JVM.
type session struct {
	*sessions.Session
	*accountant

	account  *contention.Account
	emitter  *threadpdata.Emitter
	finder   *window.Finder
	standing map[jvmthread.Cycle]deadlock.Found // deadlocks that were told, and not yet that they are over
	lost     map[jvmthread.ClassID]int          // lost notifies that were told
	found    []deadlock.Found
	records  plog.Logs // not sent yet; its resource is there if it has any
	out      []output
}

// maxLostRecords is how many log records a session has of lost notifies on objects of one class; the metric counts all.
const maxLostRecords = 10

func (a *accountant) follow(s *sessions.Session) sessions.Follower[output] {
	return &session{
		Session: s, accountant: a, account: contention.New(&a.accounts, s.Symbols, time.Now()),
		emitter: threadpdata.NewEmitter(s.ID, s.Symbols), finder: a.cfg.Sessions.NewFinder(s.Symbols),
		standing: make(map[jvmthread.Cycle]deadlock.Found), lost: make(map[jvmthread.ClassID]int), records: plog.NewLogs(),
	}
}

// Window adds a window up, and tells of hints in it.
func (s *session) Window(w *window.Window) {
	s.telemetry.ConnectorContentionWindows.Add(context.Background(), 1)
	hints := s.logs != nil && len(w.Hints)+len(w.LostNotifies) > 0
	switch {
	case hints || s.metrics != nil && s.accounts.Exemplars > 0:
		threadpdata.Select(w, s.finder, s.cfg.Sessions.MaxSpansPerWindow)
	case s.metrics != nil:
		s.finder.Find(w)
	}
	if s.metrics != nil {
		s.account.Window(w, s.Engine.Timeline())
	}
	if hints {
		s.tellHints(w)
	}
}

func (s *session) tellHints(w *window.Window) {
	now := time.Now()
	for i := range w.Hints {
		s.emitter.LockOrder(&w.Hints[i], w, now, s.record())
	}
	for i := range w.LostNotifies {
		n := &w.LostNotifies[i]
		if class := n.Wait.Lock.Class; s.lost[class] < maxLostRecords {
			s.lost[class]++
			s.emitter.LostNotify(n, w, now, s.record())
		}
	}
}

// Aggregate adds what an agent in aggregated mode tells in place of events.
func (s *session) Aggregate(a *jvmthread.Aggregate) {
	if s.metrics != nil {
		s.account.Aggregate(a)
	}
}

// Advanced tells of deadlocks that were found, and of those that are over.
func (s *session) Advanced() {
	s.found = s.Engine.TakeDeadlocks(s.found[:0])
	if s.logs == nil || len(s.found) == 0 && len(s.standing) == 0 {
		return
	}
	for i := range s.found {
		f := &s.found[i]
		s.standing[f.Cycle] = *f
		s.emitter.Deadlock(f, time.Now(), s.record())
	}
	stand := s.Engine.Deadlocks()
	if len(stand) == len(s.standing) {
		return
	}
	still := make(map[jvmthread.Cycle]bool, len(stand))
	for i := range stand {
		still[stand[i].Cycle] = true
	}
	s.tellEnded(threadpdata.EndedByItself, func(c jvmthread.Cycle) bool { return !still[c] })
}

// tellEnded tells that deadlocks are over, in the order in which they were found.
func (s *session) tellEnded(why string, over func(jvmthread.Cycle) bool) {
	for _, c := range slices.Sorted(maps.Keys(s.standing)) {
		if f := s.standing[c]; over(c) {
			delete(s.standing, c)
			s.emitter.DeadlockEnd(&f, why, s.Engine.Now(), time.Now(), s.record())
		}
	}
}

// Closed sends the last figures. What stood is over with the session, unless it is only the collector that stops.
func (s *session) Closed(why window.Cut) {
	s.Advanced()
	shutdown := why == window.CutShutdown
	if s.logs != nil && !shutdown {
		end := s.Engine.End()
		if end == "" {
			end = threadpdata.EndLost
		}
		s.tellEnded(end, func(jvmthread.Cycle) bool { return true })
	}
	if s.metrics != nil {
		s.account.Close(s.Engine.Timeline(), s.Engine.Now())
		s.flush(time.Now(), shutdown)
	}
	s.account.Release()
}

// flush makes metrics of what the account has to tell. If the session does not live any more, nobody is blocked in it.
func (s *session) flush(now time.Time, lives bool) {
	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	s.Resource.CopyTo(rm.Resource())
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName(threadpdata.ScopeSpans)
	e := s.Engine
	if !lives {
		e = nil
	}
	s.account.Flush(e, now, s.writer.Delta, func(st *contention.Statement) { s.writer.Write(st, s.emitter, sm.Metrics()) })
	s.out = append(s.out, output{metrics: md})
}

// record begins a log record.
func (s *session) record() plog.LogRecord {
	if s.records.ResourceLogs().Len() == 0 {
		rl := s.records.ResourceLogs().AppendEmpty()
		s.Resource.CopyTo(rl.Resource())
		rl.ScopeLogs().AppendEmpty().Scope().SetName(threadpdata.ScopeSpans)
	}
	return s.records.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().AppendEmpty()
}

// Take returns what is ready.
func (s *session) Take() []output {
	out := s.out
	s.out = nil
	if s.records.ResourceLogs().Len() > 0 {
		out = append(out, output{logs: s.records, isLogs: true})
		s.records = plog.NewLogs()
	}
	return out
}
