// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/why"
)

// sort puts the sessions whose threads waited longest for each other first.
func (s *Summary) sort() {
	slices.SortStableFunc(s.Sessions, func(a, b Session) int {
		return cmp.Or(cmp.Compare(len(b.Session.Deadlocks), len(a.Session.Deadlocks)), cmp.Compare(b.Answer.Time, a.Answer.Time))
	})
}

// addThread adds a platform thread: short-lived workers with one name share a row.
func (s *Session) addThread(row *viewapi.ThreadRow) {
	i := slices.IndexFunc(s.Threads, func(t Thread) bool { return t.Name == row.Name })
	if i < 0 {
		i, s.Threads = len(s.Threads), append(s.Threads, Thread{Name: row.Name})
	}
	t := &s.Threads[i]
	t.Threads++
	t.Blocked.Count, t.Blocked.Time = t.Blocked.Count+row.Blocked.Count, t.Blocked.Time+row.Blocked.Time
	t.Waited, t.Time = t.Waited+row.Waited.Time, t.Time+row.Time
}

func (s *Session) sortThreads() {
	s.Threads = slices.DeleteFunc(s.Threads, func(t Thread) bool { return t.Blocked == viewapi.StateTime{} })
	slices.SortStableFunc(s.Threads, func(a, b Thread) int {
		return cmp.Or(cmp.Compare(b.Blocked.Time, a.Blocked.Time), cmp.Compare(a.Name, b.Name))
	})
}

// thresholds say how short the events are that a recording omits.
func (s *Session) thresholds() string { return s.Session.Attributes["weft.recording.thresholds"] }

// clock returns a time of a session as the time of day. The time zone of thread dumps is not known; "": nor are their times.
func clock(s *viewapi.Session, at int64) string {
	origin, err := why.Origin(s)
	switch {
	case err != nil:
		return why.Offset(at)
	case isDumped(s) && !threadpdata.DumpsHaveTimes(threadpdata.DumpTimes(s.Attributes[threadpdata.AttrDumps])):
		return ""
	case isDumped(s):
		return origin.Add(time.Duration(at)).Format("15:04:05")
	}
	return origin.Add(time.Duration(at)).Format("15:04:05.000 UTC")
}
