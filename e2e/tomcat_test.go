// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/runtimes"
	"github.com/weft-otel/weft/e2e/spantest"
)

// TestTomcatNamesTheLock puts a servlet under load whose list of prices is locked while a thread fetches new ones. Tomcat has more workers than
// there are clients; their waits for requests are not contention.
func TestTomcatNamesTheLock(t *testing.T) {
	classpath := withJars(t, "tomcat")
	onEachJDK(t, func(t *testing.T, j jdk) {
		c := startCollector(t, wholeRun)
		waited := runPrices(t, j, c, classpath)
		o := c.finish(t, "prices")
		spantest.CheckNothingLost(t, o)
		isPrice := func(s *span) bool {
			return s.Text("weft.lock.name") == "PriceList.lock" && s.Text("thread.name") != "price-reloader"
		}
		locked := spantest.WaitsWhere(o, "prices", isPrice)
		assert.InEpsilon(t, waited, locked.Time, 0.1, "waits for the lock")
		assert.Equal(t, []string{"com.acme.prices.PriceList.price"}, locked.Values("code.function.name"))
		assert.Equal(t, []string{"java.util.concurrent.locks.ReentrantLock.lock"}, locked.Values("weft.wait.entry"))
		assert.Equal(t, "price-reloader", locked.Most("weft.lock.holder.thread.name"))
		assert.Equal(t, "com.acme.prices.PriceList.fetch", locked.Most("weft.lock.holder.function"))
		others := spantest.WaitsWhere(o, "prices", func(s *span) bool { return s.Contended() && s.Text("weft.lock.name") != "PriceList.lock" })
		assert.Less(t, others.Time, waited/10, "idle workers, the acceptor and the poller do not contend: %v", others.Values("weft.lock.class"))
		workers := func(s *span) bool {
			return strings.Contains(s.Text("thread.name"), "-exec-") && s.IsState() && s.Text("weft.wait.kind") != ""
		}
		assert.Subset(t, []string{"idle", "lock"}, spantest.WaitsWhere(o, "prices", workers).Values("weft.wait.kind"))

		first, text := summaryOf(t, c)
		assert.Regexp(t, `^price-reloader slept \S+ \S+ in PriceList\.fetch holding PriceList\.lock; \d+ http-nio-\S+-exec threads waited \S+ s for it`, first)
		t.Logf("%v waited, %v seen\n%s", time.Duration(waited), time.Duration(locked.Time), text)
	})
}

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
	runPricesUnder(t, jdks[0], c, classpath, l)
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
func runPrices(t *testing.T, j jdk, c *collector, classpath string) int64 {
	t.Helper()
	return runPricesUnder(t, j, c, classpath, runtimes.Load{Clients: 24, Requests: 25, Path: "/price/", Want: func(client int) string { return strconv.Itoa(client * client) }})
}

func runPricesUnder(t *testing.T, j jdk, c *collector, classpath string, l runtimes.Load) int64 {
	t.Helper()
	address := freeAddress(t)
	host, port, _ := strings.Cut(address, ":")
	jvm := java(t, j, c.endpoint, "prices", "-cp", classpath, "com.acme.prices.PriceServer", host, port)
	return serve(t, jvm, address, l)
}
