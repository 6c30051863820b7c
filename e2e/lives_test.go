// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/threadtest"
)

// lives are collectors that a test ends and starts again, an agent and a JVM that stay connected to the first of them, and a backend that gets all
// windows.
type lives struct {
	to      *backend
	setups  []setup
	running []*collector
	agent   *countingAgent // service "stays"
	jvm     *process       // service "idle"
	moves   int            // of the sessions to another gateway
}

// shipped is a file of config, as an addition to another one.
func shipped(name string) string { return filepath.Join(root, "config", name) }

// newSocket returns an endpoint for agents that stays the same when collectors are started again.
func newSocket(t *testing.T) string {
	t.Helper()
	return "unix://" + filepath.Join(threadtest.SocketDir(t), "weft.sock")
}

// startLives starts collectors, of which each sends to the next ones.
func startLives(t *testing.T, to *backend, setups ...setup) *lives {
	t.Helper()
	l := &lives{to: to, setups: setups, running: make([]*collector, len(setups))}
	for i := len(setups) - 1; i >= 0; i-- {
		l.running[i] = startCollector(t, setups[i])
	}
	l.agent, l.jvm = startAgent(t, setups[0].endpoint, "stays"), java(t, jdks[0], setups[0].endpoint, "idle", "Idle")
	return l
}

// windows waits for another two windows of services.
func (l *lives) windows(t *testing.T, services ...string) {
	t.Helper()
	for _, service := range services {
		before := l.to.cuts(service)["time"]
		poll(t, "windows of "+service+" arrive", func() bool { return l.to.cuts(service)["time"] >= before+2 })
	}
}

// end ends a collector by a signal after some windows, does something meanwhile, and starts the collector again.
func (l *lives) end(t *testing.T, i int, signal syscall.Signal, meanwhile ...func()) {
	t.Helper()
	l.windows(t, "stays", "idle")
	l.running[i].stop(t, signal)
	for _, do := range meanwhile {
		do()
	}
	l.running[i] = startCollector(t, l.setups[i])
}

// finish ends the programs and the collectors, and checks that each event is in one window. Windows that were being sent at a kill may come twice.
func (l *lives) finish(t *testing.T, kills int) {
	t.Helper()
	l.windows(t, "stays", "idle") // after the last restart
	require.NoError(t, writeLine(l.jvm))
	require.Equal(t, 0, l.jvm.wait(t), "exit code of the JVM")
	events, length := l.agent.end(t)
	l.to.waitForEnds(t, "stays", "idle")
	for _, c := range l.running {
		c.terminate(t)
	}
	for i, s := range l.setups[1:] { // windows of the shutdown are in their queues
		l.running[i+1] = startCollector(t, s)
	}
	l.to.waitForAll(t, "stays", events)
	for _, c := range l.running[1:] {
		c.terminate(t)
	}
	// At a move, no window has the nanosecond of the watermark, in which nothing can happen any more.
	l.to.check(t, "stays", events, length-time.Duration(l.moves))
	l.to.checkJVM(t, "idle")
	l.to.checkRepeats(t, inFlight*kills)
}

// inFlight is how many windows an exporter sends at once: num_consumers of its queue, by default. After a kill, it sends them again.
const inFlight = 10

// leavers are an agent and a JVM that end while their collector is down.
type leavers struct {
	agent       *countingAgent
	jvm         *process
	acked, made uint64
}

func (l *lives) startLeavers(t *testing.T) *leavers {
	t.Helper()
	endpoint := l.setups[0].endpoint
	v := &leavers{agent: startAgent(t, endpoint, "vanished"), jvm: java(t, jdks[0], endpoint, "exited", "Idle")}
	l.windows(t, "vanished", "exited")
	return v
}

func (v *leavers) leave(t *testing.T) {
	t.Helper()
	require.NoError(t, writeLine(v.jvm))
	require.Equal(t, 0, v.jvm.wait(t), "exit code of the JVM")
	v.acked, v.made = v.agent.vanish()
}

// check waits until the sessions have ended, and checks that acknowledged events are in windows.
func (v *leavers) check(t *testing.T, to *backend) {
	t.Helper()
	for _, service := range []string{"vanished", "exited"} {
		poll(t, "the session of "+service+" is ended", func() bool { return to.cuts(service)["lost"] > 0 })
		to.mu.Lock()
		assert.Equal(t, 1, to.got.Cuts(service)["lost"], service)
		assert.Zero(t, to.got.Cuts(service)["end"], service)
		for _, root := range to.got.Roots(service) {
			assert.Zero(t, root.Number("weft.events.missed"), service)
		}
		to.mu.Unlock()
	}
	events := to.events("vanished")
	t.Logf("%d events, %d acknowledged, %d in windows", v.made, v.acked, events)
	assert.GreaterOrEqual(t, events, v.acked, "acknowledged events are in windows")
	assert.LessOrEqual(t, events, v.made)
}
