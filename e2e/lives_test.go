// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/bench/load"
	"github.com/weft-otel/weft/internal/threadtest"
)

// lives are collectors that a test ends and starts again, an agent and a JVM that stay connected to the first of them, and a backend that gets all
// windows.
type lives struct {
	to      *backend
	setups  []setup
	running []*collector
	agent   *agent   // service "stays"
	jvm     *process // service "idle"
	gaps    bool     // sessions came to a collector that did not know them
}

// agent is a simulated one, which counts its events.
type agent struct {
	end  context.CancelFunc
	over chan error
	load.Seen
}

// startAgent starts an agent that makes 1,600 events a second. After its end it may take a while to send what is left; without, it vanishes like
// a JVM that is killed.
func startAgent(t *testing.T, endpoint, service string, patience time.Duration) *agent {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	a := &agent{end: end, over: make(chan error, 1)}
	simulated := load.Agent{
		Shape: load.Shape{Threads: 8, Locks: 8, Classes: 2, Rate: 1600, Batch: 50 * time.Millisecond}, Run: load.NewRun(service),
		Network: "unix", Socket: strings.TrimPrefix(endpoint, "unix://"), Retain: 64 << 20, Seen: &a.Seen,
	}
	go func() { a.over <- simulated.Live(ctx, patience) }()
	t.Cleanup(end)
	return a
}

// finish ends the session, waits until the receiver has accepted that, and returns the number of events.
func (a *agent) finish(t *testing.T) uint64 {
	t.Helper()
	a.end()
	require.NoError(t, <-a.over)
	sum := a.Summary()
	require.Zero(t, sum.Lost, "events for which the agent had no room")
	return uint64(sum.Events)
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
	l.agent, l.jvm = startAgent(t, setups[0].endpoint, "stays", patience), java(t, jdks[0], setups[0].endpoint, "idle", "Idle")
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
	events := l.agent.finish(t)
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
	l.to.check(t, "stays", events, l.gaps)
	l.to.checkJVM(t, "idle")
	l.to.checkRepeats(t, inFlight*kills)
}

// inFlight is how many windows an exporter sends at once: num_consumers of its queue, by default. After a kill, it sends them again.
const inFlight = 10

// leavers are an agent and a JVM that end while their collector is down.
type leavers struct {
	agent *agent
	jvm   *process
}

func (l *lives) startLeavers(t *testing.T) *leavers {
	t.Helper()
	endpoint := l.setups[0].endpoint
	v := &leavers{agent: startAgent(t, endpoint, "vanished", 0), jvm: java(t, jdks[0], endpoint, "exited", "Idle")}
	l.windows(t, "vanished", "exited")
	return v
}

func (v *leavers) leave(t *testing.T) {
	t.Helper()
	require.NoError(t, writeLine(v.jvm))
	require.Equal(t, 0, v.jvm.wait(t), "exit code of the JVM")
	v.agent.end()
	require.Error(t, <-v.agent.over, "it was not connected")
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
	events, sum := to.events("vanished"), v.agent.Summary()
	t.Logf("%d events, %d acknowledged, %d in windows", sum.Events, sum.Acked, events)
	assert.GreaterOrEqual(t, events, uint64(sum.Acked), "acknowledged events are in windows")
	assert.LessOrEqual(t, events, uint64(sum.Events))
}
