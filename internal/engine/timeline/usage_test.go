// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// What a thread used between two readings, in the middle of which it sleeps from 400 to 500.
func TestUsage(t *testing.T) {
	for _, c := range []struct {
		name, readings string
		want           jvmthread.Usage
	}{
		{"computes", "100 A runQueue arg=0\n100 A cpu arg=7\n300 A runQueue arg=0\n300 A cpu arg=207", jvmthread.Usage{From: 100, To: 300, Runnable: 200, CPU: 200}},
		{"is starved", "100 A runQueue arg=50\n100 A cpu arg=7\n300 A runQueue arg=240\n300 A cpu arg=17", jvmthread.Usage{From: 100, To: 300, Runnable: 200, CPU: 10, RunQueue: 190}},
		{"reads", "100 A runQueue arg=50\n100 A cpu arg=7\n300 A runQueue arg=51\n300 A cpu arg=9", jvmthread.Usage{From: 100, To: 300, Runnable: 200, CPU: 2, RunQueue: 1}},
		{"knows no queue", "100 A cpu arg=7\n300 A runQueue arg=51\n300 A cpu arg=9", jvmthread.Usage{From: 100, To: 300, Runnable: 200, CPU: 2}},
		{"has another queue", "100 A runQueue arg=50\n100 A cpu arg=7\n299 A runQueue arg=51\n300 A cpu arg=9", jvmthread.Usage{From: 100, To: 300, Runnable: 200, CPU: 2}},
		{"sleeps in between", "100 A runQueue arg=0\n100 A cpu arg=0\n400 A sleepStart\n500 A sleepEnd\n600 A runQueue arg=350\n600 A cpu arg=100", jvmthread.Usage{From: 100, To: 600, Runnable: 400, CPU: 100, RunQueue: 250}},
		{"is seen from outside", "100 A runQueue arg=0 snapshot\n100 A cpu arg=0 snapshot\n300 A runQueue arg=9 snapshot\n300 A cpu arg=100 snapshot", jvmthread.Usage{From: 100, To: 300, Runnable: 200, CPU: 100, RunQueue: 9}},
		{"uses more than it ran", "100 A runQueue arg=0\n100 A cpu arg=0\n101 A sleepStart\n500 A sleepEnd\n501 A runQueue arg=0\n501 A cpu arg=5", jvmthread.Usage{From: 100, To: 501, Runnable: 2, CPU: 2}},
		{"has one reading", "300 A runQueue arg=9\n300 A cpu arg=100", jvmthread.Usage{From: 0, To: 300, Runnable: 300, CPU: 100}},
		{"lost events", "100 A cpu arg=7\n200 A gap arg=1\n300 A cpu arg=100", jvmthread.Usage{}},
	} {
		h, tl, _ := play(t, "0 A threadStart\n"+c.readings)
		assert.Equal(t, c.want, *tl.Thread(h.Thread("A")).Used(), c.name)
	}
}

// A thread that was seen in a system call is still there when another thread reads its clocks.
func TestReadingOfACall(t *testing.T) {
	h, tl, _ := play(t, "0 A threadStart\n100 A park arg=50 snapshot systemCall\n120 A cpu arg=9 snapshot")
	assert.Equal(t, jvmthread.StateParked, tl.Thread(h.Thread("A")).Open().State)
}

func TestShares(t *testing.T) {
	u := jvmthread.Usage{Runnable: 3e18, CPU: 2e18, RunQueue: 1e18}
	cpu, queue := u.Of(1e18)
	assert.Equal(t, []jvmthread.Time{666_666_666_666_666_666, 333_333_333_333_333_333}, []jvmthread.Time{cpu, queue})
	cpu, queue = u.Of(u.Runnable)
	assert.Equal(t, []jvmthread.Time{u.CPU, u.RunQueue}, []jvmthread.Time{cpu, queue})
	u = jvmthread.Usage{}
	cpu, queue = u.Of(7)
	assert.Equal(t, []jvmthread.Time{0, 0}, []jvmthread.Time{cpu, queue})
}
