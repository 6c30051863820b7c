// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

import "math/bits"

// Usage is what a thread used of the time in which it was runnable between two readings of its clocks: on a processor, waiting for one, or
// neither, as far as is known: at a page fault, in I/O that was too short to be seen.
type Usage struct {
	From, To Time // of the readings
	Runnable Time // between them
	CPU      Time // of Runnable, on a processor
	RunQueue Time // of Runnable, at least so long waiting for one
}

// Of returns the shares of a part of the runnable time: the part times CPU and RunQueue by Runnable, rounded down.
func (u *Usage) Of(part Time) (cpu, runQueue Time) {
	if u.Runnable <= 0 || part <= 0 {
		return 0, 0
	}
	return share(part, u.CPU, u.Runnable), share(part, u.RunQueue, u.Runnable)
}

// share returns part * of / whole, of being at most the whole.
func share(part, of, whole Time) Time {
	high, low := bits.Mul64(uint64(part), uint64(of))
	quotient, _ := bits.Div64(high, low, uint64(whole))
	return Time(quotient)
}
