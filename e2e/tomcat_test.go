// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/runtimes"
	"github.com/weft-otel/weft/e2e/spantest"
)

// TestServerHasFewOperations puts up to 200 threads of Tomcat under load. Jaeger's search form lists the names of its spans, of which there are few, and
// the trace shows what matters first.
func TestServerHasFewOperations(t *testing.T) {
	classpath := withJars(t, "tomcat")
	server := startJaeger(t)
	c := startCollector(t, server.setup())
	const items = 100 // the others cost nothing
	l := runtimes.Load{Clients: 200, Requests: 10, Path: "/price/", Want: func(client int) string {
		if client >= items {
			return "0"
		}
		return strconv.Itoa(client * client)
	}}
	runPrices(t, jdks[0], c, classpath, l)
	o := server.takes(t, c.finish(t, "prices"), "prices")
	var operations struct {
		Data []string `json:"data"`
	}
	require.True(t, server.get(t, "/api/services/prices/operations", &operations))
	assert.Contains(t, operations.Data, "blocked PriceList.lock")
	checkFewNames(t, operations.Data)
	longest, minor, threads := 0, 0, map[string]bool{}
	for _, s := range o.Spans {
		longest = max(longest, len(s.Text("weft.explanation")))
		if s.Text("weft.state") == "reentering" && s.Number("weft.interval.time") < 100*spantest.Microsecond {
			minor++
		}
		threads[s.Text("thread.name")] = true
	}
	assert.Less(t, longest, 1000, "characters of an explanation")
	assert.Zero(t, minor, "spans of reentering for less than 100 µs")
	assert.Greater(t, len(threads), 60, "more threads than names; how many workers Tomcat starts depends on how fast the clients come")
	for _, root := range o.Roots("prices") {
		t.Logf("%q: %d threads, folded: %s; %d of %d contended waits have no span", root.Name(), root.Number("weft.window.threads"),
			root.Text("weft.folded.thread.names"), root.Number("weft.folded.contended.count"), root.Number("weft.contended.count"))
	}
}

// checkFewNames checks the limits on names of spans in docs/semantic-conventions.md. Which locks a server touches for how long differs from run
// to run, so only the limits are the same in each.
func checkFewNames(t *testing.T, names []string) {
	t.Helper()
	states, roots, holds, fixed := map[string]bool{}, 0, 0, map[string]bool{}
	for _, name := range names {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "critical path: "), "threads: ")
		kind, _, _ := strings.Cut(name, " ")
		switch {
		case kind == "contention" || strings.HasPrefix(name, "pool exhausted"):
			roots++
		case kind == "held":
			holds++
		case strings.ContainsFunc(name, unicode.IsUpper) || strings.HasSuffix(name, "class initialization"):
			states[name] = true
		default:
			fixed[name] = true
		}
	}
	t.Logf("%d operations: %q", len(names), names)
	assert.LessOrEqual(t, len(states), 20, "names of states with a lock or class: %v", states)
	assert.LessOrEqual(t, roots, 16, "names of incidents")
	assert.LessOrEqual(t, holds, 8, "names of holds")
	assert.LessOrEqual(t, len(fixed), 30, "names without a lock or class: %v", fixed)
}

// runPrices starts the server, sends requests, and stops it. It returns how long requests waited for the lock.
func runPrices(t *testing.T, j jdk, c *collector, classpath string, l runtimes.Load) int64 {
	t.Helper()
	address := freeAddress(t)
	host, port, _ := strings.Cut(address, ":")
	jvm := java(t, j, c.endpoint, "prices", "-cp", classpath, "com.acme.prices.PriceServer", host, port)
	return serve(t, jvm, address, l)
}
