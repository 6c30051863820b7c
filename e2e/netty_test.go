// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/e2e/spantest"
)

// TestNettyNamesTheLock runs a server whose handler waits for a lock on Netty's event loops. Its clients wait for promises. Event loops without
// work do not contend.
func TestNettyNamesTheLock(t *testing.T) {
	classpath := withJars(t, "netty")
	onEachJDK(t, func(t *testing.T, j jdk) {
		c := startCollector(t, wholeRun)
		var truth struct{ Waited, Asked int64 }
		runJava(t, j, c.endpoint, "quotes", &truth, "-cp", classpath, "com.acme.quotes.Main", "60")
		o := c.finish(t, "quotes")
		spantest.CheckNothingLost(t, o)

		locked := spantest.WaitsWhere(o, "quotes", func(s *span) bool {
			return s.Text("weft.lock.name") == "Prices.lock" && s.Text("thread.name") != "price-feed"
		})
		assert.InEpsilon(t, truth.Waited, locked.Time, 0.1, "waits for the lock")
		assert.Equal(t, []string{"com.acme.quotes.Prices.of"}, locked.Values("code.function.name"))
		assert.Equal(t, []string{"java.util.concurrent.locks.ReentrantLock.lock"}, locked.Values("weft.wait.entry"))
		assert.Equal(t, "price-feed", locked.Most("weft.lock.holder.thread.name"))
		assert.Equal(t, "com.acme.quotes.Prices.fetch", locked.Most("weft.lock.holder.function"))
		others := spantest.WaitsWhere(o, "quotes", func(s *span) bool { return s.Contended() && s.Text("weft.lock.name") != "Prices.lock" })
		assert.Less(t, others.Time, truth.Waited/5, "event loops and clients do not contend: %v", others.Values("weft.lock.class"))

		promises := spantest.WaitsWhere(o, "quotes", func(s *span) bool {
			return strings.HasPrefix(s.Text("thread.name"), "customer-") && s.Text("weft.wait.kind") == "future"
		})
		assert.InEpsilon(t, truth.Asked, promises.Time, 0.1, "waits for answers")
		assert.Equal(t, []string{"com.acme.quotes.Client.ask"}, promises.Values("code.function.name"))
		assert.Equal(t, []string{"io.netty.util.concurrent.DefaultPromise.sync"}, promises.Values("weft.wait.entry"))

		first, text := summaryOf(t, c)
		assert.Regexp(t, `^price-feed slept \S+ \S+ in Prices\.fetch holding Prices\.lock; 4 nioEventLoopGroup-\d+ threads waited \S+ s for it`, first)
		t.Logf("%v waited, %v seen\n%s", time.Duration(truth.Waited), time.Duration(locked.Time), text)
	})
}
