// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/spantest"
)

// program is a program with known interactions, and a check of its spans.
type program struct {
	name    string
	command []string
	run     func(t *testing.T, j jdk, endpoint, service string, command []string) func(t *testing.T, o *output)
}

var programs = []program{
	{"pingpong", []string{"PingPong", "200"}, checked(spantest.CheckPingPong)},
	{"notifies", []string{"Notifies", "100"}, checked(spantest.CheckNotifies)},
	{"startsjoins", []string{"StartsJoins", "20"}, checked(spantest.CheckStartsJoins)},
	{"sleeps", []string{"Sleeps", "50"}, checked(spantest.CheckSleeps)},
	{"timedwaits", []string{"TimedWaits", "40"}, checked(spantest.CheckTimedWaits)},
	{"interrupts", []string{"Interrupts", "20"}, checked(spantest.CheckInterrupts)},
}

// checked adapts a check of one kind of truth.
func checked[T any](check func(spantest.T, *output, string, T)) func(*testing.T, jdk, string, string, []string) func(*testing.T, *output) {
	return func(t *testing.T, j jdk, endpoint, service string, command []string) func(*testing.T, *output) {
		t.Helper()
		var truth T
		runJava(t, j, endpoint, service, &truth, command...)
		return func(t *testing.T, o *output) {
			t.Helper()
			check(t, o, service, truth)
		}
	}
}

// TestDeadlockInEveryWindow checks that two threads waiting for each other are deadlocked in every window from then on.
func TestDeadlockInEveryWindow(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		c := startCollector(t, setup{})
		jvm := java(t, j, c.endpoint, "stuck", "Deadlock")
		poll(t, "the threads are deadlocked", func() bool { return len(jvm.outLines()) > 0 })
		var truth struct {
			Deadlocked []int64 `json:"deadlocked"`
		}
		jvm.truth(t, &truth)
		var o *output
		poll(t, "they are in three windows", func() bool {
			o = c.spans(t)
			for _, thread := range truth.Deadlocked {
				if len(o.States("stuck", thread, "deadlocked")) < 3 {
					return false
				}
			}
			return true
		})
		c.terminate(t)
		o = c.spans(t)
		spantest.CheckStructure(t, o)
		deadlocks := map[string]bool{}
		for _, root := range o.Roots("stuck") {
			for _, event := range root.Events().All() {
				if id, ok := event.Attributes().Get("weft.deadlock.id"); ok {
					deadlocks[id.Str()] = true
				}
			}
		}
		assert.Len(t, deadlocks, 1, "reported once")
		for _, thread := range truth.Deadlocked {
			states := o.States("stuck", thread, "deadlocked")
			require.NotEmpty(t, states, "thread %d", thread)
			for _, s := range states {
				assert.True(t, deadlocks[s.Text("weft.deadlock.id")], "id of the deadlock")
			}
		}
	})
}
