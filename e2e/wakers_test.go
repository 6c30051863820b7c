// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// wakers are pairs of threads, one of which ended all waits of the other.
type wakers struct {
	Turns int         `json:"turns"`
	Pairs []wakerPair `json:"pairs"`
}

type wakerPair struct {
	Way        string `json:"way"`
	WakerKind  string `json:"waker_kind"`
	WaiterKind string `json:"waiter_kind"`
	Waiter     int64  `json:"waiter"`
	Waker      int64  `json:"waker"`
}

// TestWhoWokeVirtualThreads compares links with what a program knows: each wait was ended by one thread, and by no other.
func TestWhoWokeVirtualThreads(t *testing.T) {
	newest := newestJVM(t)
	for _, extent := range []string{"on", "exact"} {
		t.Run(extent, func(t *testing.T) {
			c := startCollector(t, wholeRun)
			var truth wakers
			runJava(t, newest, c.endpoint+",virtual="+extent, "wakers", &truth, "-Djdk.virtualThreadScheduler.parallelism=4", "Wakers", "100")
			o := c.finish(t, "wakers")
			for _, p := range truth.Pairs {
				found, wrong := o.woken(p)
				name := fmt.Sprintf("%s: %s by %s", p.Way, p.WaiterKind, p.WakerKind)
				t.Logf("%s: %d of %d, %d wrong", name, found, truth.Turns, wrong)
				assert.Zero(t, wrong, name)
				if extent == "exact" || p.determined() {
					assert.GreaterOrEqual(t, found, truth.Turns-p.mayBeMissing(), name)
					assert.LessOrEqual(t, found, truth.Turns, name)
				}
			}
			checkStructure(t, o)
			checkNothingLost(t, o)
		})
	}
}

// determined reports whether the end of a wait is known without virtual=exact: a platform thread waited, or the lock has an owner.
func (p *wakerPair) determined() bool {
	return p.WaiterKind == "platform" || p.Way == "Lock" || p.Way == "Monitor" || p.Way == "Notify"
}

// mayBeMissing is how many owners the agent may not find: a collection may hide one of a monitor that a virtual thread owns, when a platform
// thread is blocked.
func (p *wakerPair) mayBeMissing() int {
	if p.Way == "Monitor" && p.WaiterKind == "platform" && p.WakerKind == "virtual" {
		return 1
	}
	return 0
}

// woken counts the links of the waits of a pair: to its waker, and to others.
func (o *output) woken(p wakerPair) (found, wrong int) {
	kinds := []string{"unpark", "handoff"}
	if p.Way == "Notify" {
		kinds = []string{"notify"} // then the waker hands the monitor over
	}
	for _, kind := range kinds {
		for _, l := range o.links("wakers", kind) {
			switch {
			case l.from.number("thread.id") != p.Waiter:
			case l.to != nil && l.to.number("thread.id") == p.Waker:
				found++
			default:
				wrong++
			}
		}
	}
	return found, wrong
}
