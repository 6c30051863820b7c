// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/threadtest"
)

// gateways is an edge and two gateways, of which the edge knows one at a time.
type gateways struct {
	to    *backend
	edge  *collector
	setup setup
	of    [2]setup
	state string
}

func startGateways(t *testing.T) *gateways {
	t.Helper()
	g, dir := &gateways{to: startBackend(t)}, t.TempDir()
	for i := range g.of {
		g.of[i] = setup{
			config: "gateway.yaml", more: []string{shipped("durable.yaml")},
			env: []string{
				"WEFT_GATEWAY=" + freeAddress(t), "WEFT_BACKEND=" + g.to.address, "WEFT_STATE=" + filepath.Join(dir, fmt.Sprint("state", i)), shortWindows,
			},
		}
	}
	g.state = filepath.Join(dir, "edge")
	g.setup = setup{config: "edge.yaml", more: []string{shipped("durable-edge.yaml")}, endpoint: "unix://" + filepath.Join(threadtest.SocketDir(t), "weft.sock")}
	return g
}

// route starts the edge, again, with another gateway.
func (g *gateways) route(t *testing.T, to int) {
	t.Helper()
	if g.edge != nil && g.edge.running() {
		g.edge.terminate(t)
	}
	address := g.of[to].env[0][len("WEFT_GATEWAY="):]
	g.setup.env = []string{"WEFT_STATE=" + g.state, "WEFT_GATEWAYS=[" + address + "]"}
	g.edge = startCollector(t, g.setup)
}

// more waits for another two windows.
func (g *gateways) more(t *testing.T) {
	t.Helper()
	before := g.to.cuts("moved")["time"]
	poll(t, "windows arrive", func() bool { return g.to.cuts("moved")["time"] >= before+2 })
}

// TestSessionMovesBetweenGateways moves a session to another gateway and back. The first one is killed, stopped, or goes on.
func TestSessionMovesBetweenGateways(t *testing.T) {
	for name, leave := range map[string]func(c *collector){
		"killed":  func(c *collector) { c.stop(t, syscall.SIGKILL) },
		"stopped": func(c *collector) { c.terminate(t) },
		"running": nil,
	} {
		t.Run(name, func(t *testing.T) {
			g := startGateways(t)
			one, other := startCollector(t, g.of[0]), startCollector(t, g.of[1])
			g.route(t, 0)
			agent := startAgent(t, g.setup.endpoint, "moved")
			g.more(t)
			if leave != nil {
				g.edge.terminate(t) // what is on its way when a gateway is killed, both may have
				leave(one)
			}
			g.route(t, 1)
			g.more(t)
			if leave != nil {
				one = startCollector(t, g.of[0])
				begin := time.Now()
				poll(t, "the first gateway delivers its part", func() bool { return g.to.cuts("moved")["lost"] > 0 })
				took := time.Since(begin)
				t.Logf("the first gateway delivered its part after %v", took)
				assert.Less(t, took, 20*time.Second+restartSlack)
			}
			g.more(t)
			g.more(t) // longer than reorder_timeout, after which a gateway assumes that the session was elsewhere
			g.route(t, 0)
			g.more(t)
			events, length := agent.end(t)
			poll(t, "the session ends", func() bool { return g.to.cuts("moved")["end"] > 0 })
			for _, c := range []*collector{g.edge, one, other} {
				c.terminate(t)
			}
			one, other = startCollector(t, g.of[0]), startCollector(t, g.of[1]) // windows of the shutdown are in their queues
			g.to.waitForAll(t, "moved", events)
			one.terminate(t)
			other.terminate(t)
			g.to.check(t, "moved", events, length)
			if name == "killed" {
				g.to.checkRepeats(t, 2)
			} else {
				g.to.checkRepeats(t, 0)
			}
		})
	}
}
