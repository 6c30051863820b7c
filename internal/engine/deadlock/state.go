// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package deadlock

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// State is the suspected and current deadlocks, in a form that can be stored. The orders in which threads take locks are not part of it: there
// may be a hundred thousand, and they are needed for hints only.
type State struct {
	Suspects, Standing []Found
	Last               jvmthread.Cycle
}

// State returns a copy of the current state.
func (d *Detector) State() State { return State{copies(d.suspects), copies(d.standing), d.last} }

func copies(list []Found) []Found {
	out := slices.Clone(list)
	for i := range out {
		out[i].Members, out[i].Waits = slices.Clone(out[i].Members), slices.Clone(out[i].Waits)
	}
	return out
}

// Restore continues from a state. Nothing was applied yet.
func (d *Detector) Restore(s *State) {
	d.suspects, d.standing, d.last = s.Suspects, s.Standing, s.Last
}

// Symbols calls the functions for each class and stack that the state refers to. They may replace it.
func (s *State) Symbols(class func(*jvmthread.ClassID), stack func(*jvmthread.StackID)) {
	for _, list := range [][]Found{s.Suspects, s.Standing} {
		for i := range list {
			for j := range list[i].Waits {
				class(&list[i].Waits[j].Lock.Class)
				stack(&list[i].Waits[j].Stack)
			}
		}
	}
}
