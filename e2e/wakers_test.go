// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/e2e/spantest"
)

var wakerTurns = flag.Int("wakers", 100, "how often TestWhoWokeVirtualThreads wakes each of its threads")

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
	Wakers     []any  `json:"wakers"` // ids, or names of carriers: the same one in each turn, or one for each
}

// TestWhoWokeVirtualThreads compares links with what a program knows: each wait was ended by one thread, and by no other.
func TestWhoWokeVirtualThreads(t *testing.T) {
	for _, j := range virtualJDKs(t) {
		t.Run(j.String(), func(t *testing.T) {
			table := make(map[string][]string) // by pair
			var order []string
			for _, extent := range []string{"on", "exact"} {
				t.Run(extent, func(t *testing.T) {
					c := startCollector(t, wholeRun)
					var truth wakers
					runJava(t, j, c.endpoint+",virtual="+extent, "wakers", &truth, "--enable-preview", "-Djdk.virtualThreadScheduler.parallelism=4",
						"Wakers", strconv.Itoa(*wakerTurns))
					o := c.finish(t, "wakers")
					for _, p := range truth.Pairs {
						name := p.check(t, o, truth.Turns, extent)
						if extent == "on" {
							order = append(order, name)
						}
						table[name] = append(table[name], p.row(o, truth.Turns, extent))
					}
					spantest.CheckStructure(t, o)
					spantest.CheckNothingLost(t, o)
				})
			}
			var rows strings.Builder
			for _, name := range order {
				fmt.Fprintf(&rows, "\n| %s | %s |", name, strings.Join(table[name], " | "))
			}
			t.Logf("Java %d, found/expected/wrong\n| way: waiter by waker | on | exact |\n| --- | --- | --- |%s", j.major, rows.String())
		})
	}
}

// check compares the links of a pair with the truth, and returns a name of the pair.
func (p *wakerPair) check(t *testing.T, o *output, turns int, extent string) string {
	t.Helper()
	found, wrong := woken(o, p)
	name := fmt.Sprintf("%s: %s by %s", p.Way, p.WaiterKind, p.WakerKind)
	assert.Zero(t, wrong, name)
	if extent == "exact" || p.determined() {
		assert.GreaterOrEqual(t, found, turns-p.mayBeMissing(), name)
		assert.LessOrEqual(t, found, turns, name)
	}
	return name
}

func (p *wakerPair) row(o *output, turns int, extent string) string {
	found, wrong := woken(o, p)
	expected := turns
	if extent == "on" && !p.determined() {
		expected = 0
	}
	return fmt.Sprintf("%d/%d/%d", found, expected, wrong)
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

// woken counts the links of the waits of a pair: to its wakers, and to others.
func woken(o *output, p *wakerPair) (found, wrong int) {
	kinds := []string{"unpark", "handoff"}
	if p.Way == "Notify" {
		kinds = []string{"notify"} // then the waker hands the monitor over
	}
	for _, kind := range kinds {
		for _, l := range o.Links("wakers", kind) {
			switch {
			case l.From.Number("thread.id") != p.Waiter:
			case l.To != nil && p.isWaker(l.To, found+wrong):
				found++
			default:
				wrong++
			}
		}
	}
	return found, wrong
}

// isWaker reports whether a thread ended the wait of a turn.
func (p *wakerPair) isWaker(s *span, turn int) bool {
	switch waker := p.Wakers[min(turn, len(p.Wakers)-1)].(type) {
	case float64:
		return s.Number("thread.id") == int64(waker)
	default:
		return s.Text("thread.name") == waker
	}
}
