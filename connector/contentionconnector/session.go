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

	account *contention.Account
	stacks  *stacks // nil: no profiles
	emitter *threadpdata.Emitter
	open    map[jvmthread.Cycle]deadlock.Found // reported deadlocks that have not ended
	lost    map[jvmthread.ClassID]int          // number of reported lost notifies
	found   []deadlock.Found
	records plog.Logs // not sent yet; empty or with one resource
	out     []output
	adding  bool // a window or sums, which the account has only in part
}

// maxLostRecords limits the log records of a session for lost notifies on objects of one class; the metric counts all.
const maxLostRecords = 10

func (a *accountant) follow(s *sessions.Session) sessions.Follower {
	s.Engine.FindLostNotifies()
	f := &session{
		Session: s, accountant: a, stacks: a.newStacks(s), account: contention.New(&a.accounts, s.Symbols, s.Engine.Waits(), time.Now()),
		emitter: threadpdata.NewEmitter(s.ID, s.Symbols, s.Engine.Waits()),
		open:    make(map[jvmthread.Cycle]deadlock.Found), lost: make(map[jvmthread.ClassID]int), records: plog.NewLogs(),
	}
	f.emitter.Shift = s.Shift
	return f
}

// Window aggregates a window and reports its hints.
func (s *session) Window(w *window.Window) {
	s.adding = true
	s.telemetry.ConnectorContentionWindows.Add(context.Background(), 1)
	hints := s.logs != nil && len(w.Hints)+len(w.LostNotifies) > 0
	switch {
	case hints || s.metrics != nil && s.accounts.Exemplars > 0:
		s.Select(w)
	case s.metrics != nil:
		s.Find(w)
	}
	if s.metrics != nil {
		s.account.Window(w, s.Engine.Timeline())
	}
	if s.stacks != nil {
		s.stacks.account.Window(w, s.Engine.Timeline())
	}
	if hints {
		s.reportHints(w)
	}
	s.adding = false
}

func (s *session) reportHints(w *window.Window) {
	now := time.Now()
	for i := range w.Hints {
		s.emitter.LockOrder(&w.Hints[i], w, now, s.record())
	}
	for i := range w.LostNotifies {
		n := &w.LostNotifies[i]
		if class := n.Lock.Class; s.lost[class] < maxLostRecords {
			s.lost[class]++
			s.emitter.LostNotify(n, w, now, s.record())
		}
	}
}

// Aggregate adds the sums that an agent in aggregated mode sends instead of events.
func (s *session) Aggregate(a *jvmthread.Aggregate) {
	s.adding = true
	if s.metrics != nil {
		s.account.Aggregate(a)
	}
	if s.stacks != nil {
		s.stacks.account.Aggregate(a)
	}
	s.adding = false
}

// Advanced adds up requests that have ended, and reports deadlocks that were found or have ended.
func (s *session) Advanced() {
	s.addRequests()
	s.found = s.Engine.TakeDeadlocks(s.found[:0])
	if s.logs == nil || len(s.found) == 0 && len(s.open) == 0 {
		return
	}
	for i := range s.found {
		f := &s.found[i]
		s.open[f.Cycle] = *f
		s.emitter.Deadlock(f, time.Now(), s.record())
	}
	current := s.Engine.Deadlocks()
	if len(current) == len(s.open) {
		return
	}
	still := make(map[jvmthread.Cycle]bool, len(current))
	for i := range current {
		still[current[i].Cycle] = true
	}
	s.reportEnded(threadpdata.EndedByItself, func(c jvmthread.Cycle) bool { return !still[c] })
}

func (s *session) addRequests() {
	if t := s.Engine.Requests(); t != nil && s.metrics != nil {
		s.account.Requests(t.Take().Ends)
	}
}

// reportEnded reports the deadlocks that have ended, in the order in which they were found.
func (s *session) reportEnded(why string, ended func(jvmthread.Cycle) bool) {
	for _, c := range slices.Sorted(maps.Keys(s.open)) {
		if f := s.open[c]; ended(c) {
			delete(s.open, c)
			s.emitter.DeadlockEnd(&f, why, s.Engine.Now(), time.Now(), s.record())
		}
	}
}

// Closed sends the final figures. Deadlocks end with their session, but not when only the collector stops. If the session has failed, the figures
// are those of its complete windows; there are none if some of a window has been added to them.
func (s *session) Closed(why window.Cut) {
	defer s.release()
	if why == window.CutFailed {
		if !s.adding {
			s.flushAll(false)
		}
		return
	}
	s.Advanced()
	shutdown := why == window.CutShutdown
	if s.logs != nil && !shutdown {
		end := s.Ended()
		if end == "" {
			end = threadpdata.EndLost
		}
		s.reportEnded(end, func(jvmthread.Cycle) bool { return true })
	}
	if s.metrics != nil {
		s.account.Close(s.Engine.Timeline(), s.Engine.Now())
	}
	if s.stacks != nil {
		s.stacks.account.Close(s.Engine.Timeline(), s.Engine.Now())
	}
	s.flushAll(shutdown)
}

// flushAll writes metrics and profiles.
func (s *session) flushAll(alive bool) {
	if s.metrics != nil {
		s.flush(time.Now(), alive)
	}
	if s.stacks != nil {
		s.flushProfiles(time.Now())
	}
}

// release gives back the series of the session.
func (s *session) release() {
	s.account.Release()
	if s.stacks != nil {
		s.stacks.account.Release()
	}
}

// flush writes the metrics of the account. The gauges of a session that is no longer alive are zero.
func (s *session) flush(now time.Time, alive bool) {
	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	s.Resource.CopyTo(rm.Resource())
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName(threadpdata.ScopeSpans)
	e := s.Engine
	if !alive {
		e = nil
	}
	s.account.Flush(e, now, s.writer.Delta, func(st *contention.Statement) { s.writer.Write(st, s.emitter, sm.Metrics()) })
	s.out = append(s.out, s.sendMetrics(md))
}

// record appends a log record.
func (s *session) record() plog.LogRecord {
	if s.records.ResourceLogs().Len() == 0 {
		rl := s.records.ResourceLogs().AppendEmpty()
		s.Resource.CopyTo(rl.Resource())
		rl.ScopeLogs().AppendEmpty().Scope().SetName(threadpdata.ScopeSpans)
	}
	return s.records.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().AppendEmpty()
}

// Held estimates the bytes of what the session remembers besides its engine. Series have a limit of their own.
func (s *session) Held() int { return s.emitter.Held() }

// Take returns what sends the pending output.
func (s *session) Take() sessions.Delivery {
	out := s.out
	s.out = nil
	if s.records.ResourceLogs().Len() > 0 {
		out = append(out, s.sendLogs(s.records))
		s.records = plog.NewLogs()
	}
	if len(out) == 0 {
		return nil
	}
	return func(ctx context.Context) {
		for _, send := range out {
			send(ctx)
		}
	}
}
