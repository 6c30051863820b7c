// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/weft-otel/weft/corpus/spantest"
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
