// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// waitEnds are threads whose waits ended in a known way.
type waitEnds struct {
	Turns int
	Cases []waitEnd
}

type waitEnd struct {
	Way, End      string
	Virtual       bool
	Thread, Other jvmthread.ThreadID
}

// early is how many timeouts may elapse before the thread has parked: then it does not wait. A deadline may pass, and before Java 24 the timer
// of a virtual thread starts earlier.
func (c *waitEnd) early(j jdk) int {
	if c.End == "timeout" && (c.Way == "parkUntil" || c.Virtual && j.major < 24) {
		return 4
	}
	return 0
}

// endCounts are how the waits of a thread ended according to the engine.
type endCounts struct {
	waits, timedOut, interrupted, fromOther, fromWrong int
	kinds                                              map[jvmthread.InteractionKind]int
}

func (h *history) ends(c waitEnd) (n endCounts) {
	n.kinds = map[jvmthread.InteractionKind]int{}
	for _, iv := range h.intervals[c.Thread] {
		if iv.State != jvmthread.StateParked && iv.State != jvmthread.StateSleeping {
			continue
		}
		n.waits++
		if iv.Marks.Has(jvmthread.MarkTimedOut) {
			n.timedOut++
		}
		if iv.Marks.Has(jvmthread.MarkInterrupted) {
			n.interrupted++
		}
		for _, ia := range h.causesOf(&iv) {
			n.kinds[ia.Kind]++
			if ia.From.Thread == c.Other {
				n.fromOther++
			} else {
				n.fromWrong++
			}
		}
	}
	return n
}

// TestHowParksOfVirtualThreadsEnd compares the ends of waits with what a program knows: by a timeout, by an owner that releases a lock, by an
// interrupt or by an unpark.
func TestHowParksOfVirtualThreadsEnd(t *testing.T) {
	for _, j := range jres(t) {
		for _, virtual := range []string{"on", "exact"} {
			t.Run(fmt.Sprintf("%v/%s", j, virtual), func(t *testing.T) {
				var truth waitEnds
				h := recordHistory(t, j, virtual, &truth, "-Djdk.virtualThreadScheduler.parallelism=4", "VirtualTimeouts", "40")
				for _, c := range truth.Cases {
					n := h.ends(c)
					name := fmt.Sprintf("%s by %s, virtual: %v", c.Way, c.End, c.Virtual)
					t.Logf("%s: %+v", name, n)
					known := j.major >= 24 || !c.Virtual || virtual == "exact" // the timeout
					assert.Zero(t, n.fromWrong, name)
					assert.GreaterOrEqual(t, n.waits, truth.Turns-c.early(j), name)
					switch c.End {
					case "timeout":
						assert.Zero(t, n.fromOther, name)
						if known && c.Way != "sleep" {
							assert.GreaterOrEqual(t, n.timedOut, truth.Turns-c.early(j), name)
						}
					case "handoff":
						assert.Zero(t, n.timedOut, name)
						assert.Zero(t, n.interrupted, name)
						if known || c.Way == "lock" {
							assert.Equal(t, truth.Turns, n.kinds[jvmthread.InteractionHandoff], name)
						}
					case "interrupt":
						assert.Zero(t, n.timedOut, name)
						assert.Zero(t, n.kinds[jvmthread.InteractionHandoff], name)
						assert.Equal(t, truth.Turns, max(n.interrupted, n.kinds[jvmthread.InteractionInterrupt]), name)
					case "unpark":
						assert.Zero(t, n.timedOut, name)
						if !c.Virtual || virtual == "exact" {
							assert.Equal(t, truth.Turns, n.kinds[jvmthread.InteractionUnpark], name)
						}
					}
				}
			})
		}
	}
}
