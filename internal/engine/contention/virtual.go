// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// CarrierState is what a carrier does.
type CarrierState uint8

// The states of carriers.
const (
	CarrierIdle    CarrierState = iota // without a virtual thread
	CarrierRunning                     // the virtual thread on it runs
	CarrierPinned                      // the virtual thread on it waits
	carrierEnd
)

// NumCarrierStates is one more than the largest state, for tables indexed by state.
const NumCarrierStates = int(carrierEnd)

// String returns the name of the state as used in attributes.
func (s CarrierState) String() string {
	switch s {
	case CarrierIdle:
		return "idle"
	case CarrierRunning:
		return "running"
	case CarrierPinned:
		return "pinned"
	}
	return "invalid"
}

// carrierState returns the state of the carrier of a virtual thread. One that was forgotten runs, as threads that wait are not forgotten.
func carrierState(tl *timeline.Timeline, carried jvmthread.ThreadID) CarrierState {
	if carried == jvmthread.NoThread {
		return CarrierIdle
	}
	if th := tl.Thread(carried); th != nil && th.Pinned() {
		return CarrierPinned
	}
	return CarrierRunning
}

// kept adds a wait that ended in the window, or a part of it, if the virtual thread kept its carrier to the end.
func (a *Account) kept(w *window.Window, l *window.Lane, i int, key WaitKey) {
	iv := l.Intervals.At(i)
	if iv.Marks.Has(jvmthread.MarkWillContinue) {
		return
	}
	h, d := durationsOf(a, &a.pinned, key), iv.Waited()
	h.add(d, a.cfg)
	a.exemplify(h, d, w, l, i)
}
