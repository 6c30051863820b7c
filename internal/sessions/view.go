// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"time"

	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/sessions/journal"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// view is a session in windows of one length: an engine, and those who follow its windows.
type view struct {
	*Session

	analysis  *analysis
	length    time.Duration
	finder    *window.Finder // nil if critical paths are off
	followers []following
	current   *window.Window
	progress  progress       // of the current window
	cut       bool           // a window since the last Advance
	start     jvmthread.Time // of the last window
	begin     jvmthread.Time // earlier events were processed in an earlier life
	replaying bool           // what the journal has, without the last entry
	saved     *journal.Checkpoint
	closed    bool
	spans     bool // of the application arrive, and the log says so
	reported  reported
	earlier   uint64 // events that were processed in an earlier life
	shed      uint64 // events that were dropped to save memory, and are not part of a window yet
}

type following struct {
	Follower
	member *Member
	events uint64 // in the windows that it has
	closed bool   // Closed was called
}

// progress is what was computed of a window.
type progress uint8

const (
	progressNone progress = iota
	progressFound
	progressSelected
)

// Find finds the critical path of a window, once for all who follow the session.
func (s *Session) Find(w *window.Window) {
	if v := s.view; v.progress < progressFound {
		v.finder.Find(w)
		v.progress = progressFound
	}
}

// Select decides which intervals of a window get a span, once for all who follow the session, so that one can refer to spans that another
// one creates.
func (s *Session) Select(w *window.Window) {
	s.Find(w)
	if v := s.view; v.progress < progressSelected {
		threadpdata.Select(w, s.MaxSpans())
		v.progress = progressSelected
	}
}

// Ended returns why the session ended, or "" while it continues.
func (s *Session) Ended() string { return s.view.analysis.End() }

// MaxSpans is the maximum number of spans of a window; 0 means no limit.
func (s *Session) MaxSpans() int { return s.view.analysis.analyzer.Options.MaxSpansPerWindow }

// window passes a window to the followers.
func (v *view) window(w *window.Window) {
	v.current, v.progress = w, progressNone
	w.Shed = min(w.Missed, v.shed)
	v.shed -= w.Shed
	defer w.Release() // of memory for which others wait
	for i := range v.followers {
		f := &v.followers[i]
		f.Window(w)
		f.count(w)
	}
	v.current = nil
	v.count(w)
	v.cut, v.start = true, w.Start
}

// taken drops the waits of requests that all followers have seen.
func (v *view) taken() {
	t := v.Engine.Requests()
	if t == nil {
		return
	}
	t.Reset()
	if t.Active() && !v.spans {
		v.spans = true
		v.analysis.analyzer.logger.Info("The application reports its current spans; waits of requests are known", zap.Stringer("session", v.ID))
	}
}
