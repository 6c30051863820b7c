// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/e2e/runtimes"
	"github.com/weft-otel/weft/e2e/spantest"
)

// TestSpringBootNamesThePool puts Spring Boot under load: 24 clients share 4 connections of Hikari's pool. Whatever else the threads wait for,
// this is the answer. Below the application's method are 17 frames of Spring, Hikari and the JDK.
func TestSpringBootNamesThePool(t *testing.T) {
	classpath := withJars(t, "spring")
	onEachJDK(t, func(t *testing.T, j jdk) {
		c := startCollector(t, wholeRun)
		waited := runShop(t, j, c, classpath)
		o := c.finish(t, "shop")
		spantest.CheckNothingLost(t, o)
		atPools := spantest.WaitsWhere(o, "shop", func(s *span) bool { return s.Text("weft.wait.kind") == "pool" })
		assert.InEpsilon(t, waited, atPools.Time, 0.1, "waits for connections")
		assert.Equal(t, []string{"com.acme.shop.Shop$OrderController.order"}, atPools.Values("code.function.name"))
		assert.Equal(t, []string{"com.zaxxer.hikari.pool.HikariPool.getConnection"}, atPools.Values("weft.wait.entry"))
		assert.Equal(t, "com.acme.shop.Orders.charge", atPools.Most("weft.lock.holder.function"))

		spantest.CheckIncidents(t, o, spantest.NoException)
		costliest := slices.MaxFunc(o.Incidents, func(a, b *span) int {
			return cmp.Compare(a.Number("weft.incident.blocked.time"), b.Number("weft.incident.blocked.time"))
		})
		assert.Equal(t, "pool exhausted HikariPool", costliest.Name())
		assert.Regexp(t, `^\d+ threads waited .* for a connection of HikariPool; \d+ threads held one, .* in Orders\.charge`, costliest.Text("weft.explanation"))

		first, text := summaryOf(t, c)
		assert.Regexp(t, `^\d+ http-nio-\S+ threads waited \S+ s for a connection of HikariPool in Shop\$OrderController\.order; held by .*http-nio-.*, mostly in Orders\.charge$`, first)
		t.Logf("%v waited, %v at pools\n%s", time.Duration(waited), time.Duration(atPools.Time), text)
	})
}

// runShop starts the application, sends requests, and stops it. It returns how long the application's threads waited for connections.
func runShop(t *testing.T, j jdk, c *collector, classpath string) int64 {
	t.Helper()
	address := freeAddress(t)
	host, port, _ := strings.Cut(address, ":")
	jvm := java(t, j, c.endpoint, "shop", "-cp", classpath, "com.acme.shop.Shop", "--server.address="+host, "--server.port="+port,
		"--spring.datasource.url=jdbc:h2:mem:shop", "--spring.datasource.hikari.maximum-pool-size=4", "--spring.datasource.hikari.connection-timeout=600000")
	l := runtimes.Load{Clients: 24, Requests: 20, Path: "/order/", Want: func(int) string { return "placed" }}
	return serve(t, jvm, address, l)
}
