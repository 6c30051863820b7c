// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
)

// counter returns the last count that the program Idle printed.
func (p *process) counter() int {
	for _, line := range slices.Backward(p.outLines()) {
		var count int
		if n, _ := fmt.Sscanf(line, "count %d", &count); n == 1 {
			return count
		}
	}
	return -1
}

// advance waits until the program has counted further, so it and its threads are alive.
func (p *process) advance(t *testing.T, further int) {
	t.Helper()
	target := p.counter() + further
	poll(t, "the JVM continues", func() bool {
		require.True(t, p.running(), "the JVM ended")
		return p.counter() >= target
	})
}

// TestCollectorRestartsDoNotAffectTheJVM stops the collector with SIGTERM, then with SIGKILL, while the JVM runs.
func TestCollectorRestartsDoNotAffectTheJVM(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		const service = "idle"
		first := startCollector(t, setup{env: []string{"WEFT_WINDOW=1h"}}) // one window for the whole run, open at the end
		jvm := java(t, j, first.endpoint, service, "Idle")
		first.hasHeard(t, service)
		first.terminate(t)
		jvm.advance(t, 20)

		second := startCollector(t, setup{endpoint: first.endpoint})
		poll(t, "the second collector writes windows", func() bool { return len(second.spans(t).Roots(service)) > 1 })
		second.stop(t, syscall.SIGKILL)
		jvm.advance(t, 20)

		third := startCollector(t, setup{endpoint: first.endpoint})
		poll(t, "the third collector writes windows", func() bool { return len(third.spans(t).Roots(service)) > 1 })
		require.NoError(t, writeLine(jvm))
		require.Equal(t, 0, jvm.wait(t), "exit code of the JVM")
		assert.Empty(t, jvm.errLines(), "the agent is silent")
		var truth struct {
			Handoffs int `json:"handoffs"`
		}
		jvm.truth(t, &truth)

		outputs := []*output{first.spans(t), second.spans(t), third.finish(t, service)}
		handoffs := 0
		for i, o := range outputs {
			roots := o.Roots(service)
			require.NotEmpty(t, roots, "collector %d", i+1)
			assert.Equal(t, outputs[0].Roots(service)[0].Session, roots[0].Session, "collector %d: the session continues", i+1)
			handoffs += len(o.Links(service, "handoff"))
			spantest.CheckStructureBut(t, o, spantest.LinksMayPointAtAnotherCollector)
			if i == 0 {
				assert.Equal(t, "shutdown", roots[len(roots)-1].Text("weft.window.cut"))
				continue
			}
			assert.Zero(t, roots[0].Number("weft.events.missed"), "collector %d: events before it were acknowledged by another one", i+1)
			for _, thread := range o.Of(service, func(s *span) bool { return s.Parent() == roots[0].ID() }) {
				assert.True(t, startsUnknown(o, thread), "collector %d: the earlier history of %s is marked as unknown", i+1, thread.Text("thread.name"))
			}
		}
		t.Logf("%d of %d handoffs were seen by one of three collectors", handoffs, truth.Handoffs)
		assert.LessOrEqual(t, handoffs, truth.Handoffs, "no handoff appears twice")
	})
}

// hasHeard waits until a collector has data of a service's threads.
func (c *collector) hasHeard(t *testing.T, service string) {
	t.Helper()
	poll(t, "the collector has data of "+service, func() bool {
		var list pageSessions
		fromPage(t, c, "sessions", &list)
		return len(list.Sessions) == 1 && list.Sessions[0].Service == service && list.Sessions[0].Intervals > 0
	})
}

// startsUnknown reports whether the first state of a thread is marked as starting in the middle, or the thread has just started.
func startsUnknown(o *output, thread *span) bool {
	states := o.Of(thread.Service, func(s *span) bool { return s.Parent() == thread.ID() })
	return len(states) > 0 && (states[0].Has("weft.history.missing") || states[0].Text("weft.state") == "unknown" || states[0].Links().Len() > 0)
}

// TestSessionEndsWhenItsJVMIsKilled kills the JVM with SIGKILL.
func TestSessionEndsWhenItsJVMIsKilled(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		c := startCollector(t, setup{})
		jvm := java(t, j, c.endpoint, "victim", "Idle")
		poll(t, "the first window is written", func() bool { return len(c.spans(t).Roots("victim")) > 0 })
		jvm.advance(t, 20)
		jvm.stop(t, syscall.SIGKILL)
		c.waitForCut(t, "victim", "lost")
		c.terminate(t)
		spantest.CheckStructure(t, c.spans(t))
	})
}

// TestShutdownDoesNotWaitForAnIdleAgent stops the collector while an idle JVM stays connected.
func TestShutdownDoesNotWaitForAnIdleAgent(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		c := startCollector(t, setup{env: []string{"WEFT_WINDOW=1h"}})
		jvm := java(t, j, c.endpoint, "stuck", "Deadlock")
		poll(t, "the threads are deadlocked", func() bool { return len(jvm.outLines()) > 0 })
		c.hasHeard(t, "stuck")
		took := c.terminate(t)
		t.Logf("the collector ended after %v", took.Round(time.Millisecond))
		assert.Equal(t, 1, c.spans(t).Cuts("stuck")["shutdown"], "the open window is written")
		assert.True(t, jvm.running())
	})
}

// TestBadPeerIsDisconnected sends nonsense while a JVM is being recorded.
func TestBadPeerIsDisconnected(t *testing.T) {
	c := startCollector(t, setup{})
	jvm := java(t, jdks[0], c.endpoint, "good", "Idle")
	poll(t, "the first window is written", func() bool { return len(c.spans(t).Roots("good")) > 0 })
	for _, test := range []struct{ name, bytes string }{
		{"text", strings.Repeat("garbage ", 1000)},
		{"http", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"},
		{"other version", "WEFT\xff\x00\x00\x00"},
		{"huge frame", "WEFT\x01\x00\x00\x00" + "\xff\xff\xff\xff\x01\x00\x00\x00"},
		{"short hello", "WEFT\x01\x00\x00\x00" + "\x04\x00\x00\x00\x01\x00\x00\x00oops"},
		{"batch before hello", "WEFT\x01\x00\x00\x00" + "\x18\x00\x00\x00\x06\x00\x00\x00" + strings.Repeat("\x00", 24)},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := len(complaints(c))
			connection := dial(t, c.endpoint)
			_, _ = io.WriteString(connection, test.bytes) // the peer may close early
			require.NoError(t, connection.SetReadDeadline(time.Now().Add(patience)))
			answer, err := io.ReadAll(connection)
			if !strings.Contains(fmt.Sprint(err), "reset by peer") {
				require.NoError(t, err, "the connection is closed")
			}
			t.Logf("answer: %q", answer)
			poll(t, "the error is logged", func() bool { return len(complaints(c)) > before })
			assert.Len(t, complaints(c), before+1, "one line in the log")
		})
	}
	require.NoError(t, writeLine(jvm))
	require.Equal(t, 0, jvm.wait(t))
	o := c.finish(t, "good")
	spantest.CheckStructure(t, o)
	spantest.CheckNothingLost(t, o)
	checkIdle(t, o, "good", jvm)
}

// checkIdle checks that all handoffs of the program Idle, which has ended, were seen.
func checkIdle(t *testing.T, o *output, service string, jvm *process) {
	t.Helper()
	var truth struct {
		Handoffs int    `json:"handoffs"`
		Lock     string `json:"lock"`
	}
	jvm.truth(t, &truth)
	links := spantest.Keep(o.Links(service, "handoff"), func(l link) bool { return l.From.Text("weft.lock.class") == truth.Lock })
	assert.Len(t, links, truth.Handoffs, "handoffs")
}

// complaints returns the warnings and errors about a peer in a collector's log.
func complaints(c *collector) []string {
	var found []string
	for _, line := range c.errLines() {
		if strings.Contains(line, "\twarn\t") || strings.Contains(line, "\terror\t") {
			found = append(found, line)
		}
	}
	return found
}

func writeLine(p *process) error {
	_, err := io.WriteString(p.stdin, "\n")
	return err
}
