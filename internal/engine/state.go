// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// State is what an engine knew at the start of a window, in a form that can be stored. An engine that is restored from it and gets all events
// from then on makes the same windows, with the same numbers of intervals. It does not know the windows before, so that a few things refer to
// less: hints of potential deadlocks, lost notifies, incidents and waits of requests that began in an earlier window.
type State struct {
	Start     jvmthread.Time // of the window; all earlier events, and no others, were applied
	Last      jvmthread.Time // of the last event
	Timeline  timeline.State
	Binder    interaction.State
	Deadlocks deadlock.State
}

// Checkpoints calls save at the start of each window after the first one. Call it before Push.
func (e *Engine) Checkpoints(save func(*State)) { e.save = save }

// checkpoint saves the state at the start of a new window.
func (e *Engine) checkpoint() {
	if e.save == nil {
		return
	}
	e.save(&State{
		Start: e.builder.Start(), Last: e.last, Timeline: e.timeline.State(), Binder: e.binder.State(), Deadlocks: e.deadlocks.State(),
	})
}

// Restore continues from a state, which the engine then owns. Nothing was pushed yet.
func (e *Engine) Restore(s *State) {
	e.timeline.Restore(&s.Timeline)
	e.binder.Restore(&s.Binder)
	e.deadlocks.Restore(&s.Deadlocks)
	e.builder.Begin(s.Start)
	e.last, e.watermark, e.untouched = s.Last, s.Start, true
}

// Symbols calls the functions for each class and stack that the state refers to. They may replace it.
func (s *State) Symbols(class func(*jvmthread.ClassID), stack func(*jvmthread.StackID)) {
	s.Timeline.Symbols(class, stack)
	s.Binder.Symbols(class, stack)
	s.Deadlocks.Symbols(class, stack)
}
