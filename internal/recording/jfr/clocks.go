// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"fmt"
	"time"
)

// place decides by which clock the times of the next chunk of a session count. A chunk states when it starts, by the clock of the wall and in
// ticks, which is where the one before ends. If its ticks lead elsewhere, as those of async-profiler do in a merged file, what is nearer to
// that end counts. Small differences are those of clocks that drift or are set: then the ticks count. A chunk that overlaps the one before is of
// another recorder.
func (d *Decoder) place(c *chunk, before *part) (placed clock, overlaps bool) {
	const drift = 1000 // 0.1 %, as in virtual machines
	start := before.clock.at(before.startTicks)
	length := max(0, before.durationNanos)
	byTicks, byWall := before.clock.at(c.startTicks), start+c.startNanos-before.startNanos
	small := int64(time.Second) + length/drift
	if apart(byTicks, byWall) <= small {
		return before.clock, false
	}
	end := start + length
	chosen := before.clock
	if apartOf(byWall, start, end) < apartOf(byTicks, start, end) {
		chosen = newClock(&c.header)
		chosen.startNanos, byTicks = byWall, byWall
	}
	if off := apartOf(byTicks, start, end); off > int64(time.Minute) {
		d.report(c.at, fmt.Sprintf("the clocks of the chunk contradict each other and the chunk before by %v or more", time.Duration(off).Round(time.Second)),
			"times from there on may be wrong")
	}
	return chosen, byTicks < start+length/2
}

func apart(a, b int64) int64 { return max(a-b, b-a) }

// apartOf returns how far a time is from an interval.
func apartOf(at, from, to int64) int64 { return max(0, from-at, at-to) }
