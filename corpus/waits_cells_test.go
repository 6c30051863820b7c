// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-otel/weft/corpus/spantest"
)

// waitCase is what a program knows about the waits of one scenario; "*" is not compared, and "a|b" accepts both.
type waitCase struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Entry    string `json:"entry"`       // the library's method that the application called
	Function string `json:"function"`    // the application's method
	Lock     string `json:"lock"`        // the field
	Path     int64  `json:"path_millis"` // for which main depended on the threads of the scenario

	// By how much main would end earlier without the waits, in nanoseconds.
	SavesLeast int64       `json:"saves_least"`
	SavesMost  int64       `json:"saves_most"`
	Waits      []truthWait `json:"waits"`
}

// truthWait is a call that waits.
type truthWait struct {
	Thread     string  `json:"thread"`
	Called     int64   `json:"called"` // nanoseconds since the epoch
	Returned   int64   `json:"returned"`
	Least      int64   `json:"least"` // length in nanoseconds
	Cause      string  `json:"cause"`
	Releaser   string  `json:"releaser"` // thread that ended the wait
	Holder     string  `json:"holder"`   // thread that held the lock longest during the wait
	Held       string  `json:"held"`     // the holder's method
	ShareLeast float64 `json:"share_least"`
	ShareMost  float64 `json:"share_most"`
}

func (w *truthWait) most() int64 { return w.Returned - w.Called }

// column compares one aspect of a wait: want is shown if got differs.
type column struct {
	name string
	cell func(o *spantest.Output, c *waitCase, w *truthWait, s *spantest.Span) (want, got string)
}

var matrixColumns = []column{
	{"kind", func(_ *spantest.Output, c *waitCase, _ *truthWait, s *spantest.Span) (want, got string) {
		return c.Kind, s.Text("weft.wait.kind")
	}},
	{"site", func(_ *spantest.Output, c *waitCase, _ *truthWait, s *spantest.Span) (want, got string) {
		return c.Function, s.Text("code.function.name")
	}},
	{"entry", func(_ *spantest.Output, c *waitCase, _ *truthWait, s *spantest.Span) (want, got string) {
		return c.Entry, s.Text("weft.wait.entry")
	}},
	{"name", func(_ *spantest.Output, c *waitCase, _ *truthWait, s *spantest.Span) (want, got string) {
		return c.Lock, s.Text("weft.lock.name")
	}},
	{"cause", func(_ *spantest.Output, _ *waitCase, w *truthWait, s *spantest.Span) (want, got string) {
		return w.Cause, s.Text("weft.wait.cause")
	}},
	{"releaser", func(o *spantest.Output, _ *waitCase, w *truthWait, s *spantest.Span) (want, got string) {
		return w.Releaser, releaser(o, s)
	}},
	{"holder", func(_ *spantest.Output, _ *waitCase, w *truthWait, s *spantest.Span) (want, got string) {
		return w.Holder, s.Text("weft.lock.holder.thread.name")
	}},
	{"held", func(_ *spantest.Output, _ *waitCase, w *truthWait, s *spantest.Span) (want, got string) {
		return w.Held, s.Text("weft.lock.holder.function")
	}},
	{"share", func(_ *spantest.Output, _ *waitCase, w *truthWait, s *spantest.Span) (want, got string) {
		share, ok := s.Attributes().Get("weft.lock.holder.share")
		if ok {
			got = fmt.Sprintf("%.3f", share.Double())
		}
		if w.Holder == "" || ok && share.Double() >= w.ShareLeast && share.Double() <= w.ShareMost {
			return got, got
		}
		return fmt.Sprintf("%.3f-%.3f", w.ShareLeast, w.ShareMost), got
	}},
	{"length", func(_ *spantest.Output, _ *waitCase, w *truthWait, s *spantest.Span) (want, got string) {
		length := s.End() - s.Began()
		got = fmt.Sprintf("%.2fms", millis(length))
		if length >= w.Least && length <= w.most() {
			return got, got
		}
		return fmt.Sprintf("%.2f-%.2fms", millis(w.Least), millis(w.most())), got
	}},
}

func millis(ns int64) float64 { return float64(ns) / float64(time.Millisecond) }

// releaser returns the name of the thread that ended a wait, by its link.
func releaser(o *spantest.Output, s *spantest.Span) string {
	for _, l := range s.Links().All() {
		candidate := spantest.Link{SpanLink: l, From: s, To: o.ByID[spantest.ID{Trace: l.TraceID(), Span: l.SpanID()}]}
		if slices.Contains([]string{"handoff", "notify", "notify_all", "join", "interrupt", "unpark"}, candidate.Kind()) && candidate.To != nil {
			return candidate.To.Text("thread.name")
		}
	}
	return ""
}

// waitsDuring returns the waits of a thread whose middle is within a call. It leaves out those below a twentieth of the call's: libraries have
// locks, too, for which threads do wait now and then.
func waitsDuring(o *spantest.Output, service string, w *truthWait) []*spantest.Span {
	return o.Of(service, func(s *spantest.Span) bool {
		middle := s.Began()/2 + s.End()/2
		return s.Text("thread.name") == w.Thread && s.Has("weft.wait.kind") && s.Text("weft.state") != "reentering" &&
			middle >= w.Called && middle <= w.Returned && s.End()-s.Began() >= w.Least/20
	})
}

// pathThrough returns for how long the threads of a scenario are on the critical path of main, with a known activity.
func pathThrough(o *spantest.Output, service string, c *waitCase) time.Duration {
	var sum int64
	for _, s := range o.Of(service, func(s *spantest.Span) bool {
		return strings.HasPrefix(s.Text("weft.critical_path.thread.name"), c.Name+"-") &&
			slices.Contains([]string{"run", "sleep", "timer"}, s.Text("weft.critical_path.kind"))
	}) {
		sum += s.Number("weft.interval.time")
	}
	return time.Duration(sum)
}
