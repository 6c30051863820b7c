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
)

// TestSpringBootNamesThePool puts Spring Boot under load: 24 clients share 4 connections of Hikari's pool. Whatever else the threads wait for,
// this is the answer. Below the application's method are 17 frames of Spring, Hikari and the JDK.
func TestSpringBootNamesThePool(t *testing.T) {
	classpath := withJars(t, "spring")
	onEachJDK(t, func(t *testing.T, j jdk) {
		c := startCollector(t, wholeRun)
		waited := runShop(t, j, c, classpath)
		o := c.finish(t, "shop")
		checkNothingLost(t, o)
		atPools := waitsWhere(o, "shop", func(s *span) bool { return s.text("weft.wait.kind") == "pool" })
		assert.InEpsilon(t, waited, atPools.time, 0.1, "waits for connections")
		assert.Equal(t, []string{"com.acme.shop.Shop$OrderController.order"}, atPools.values("code.function.name"))
		assert.Equal(t, []string{"com.zaxxer.hikari.pool.HikariPool.getConnection"}, atPools.values("weft.wait.entry"))
		assert.Equal(t, "com.acme.shop.Orders.charge", atPools.most("weft.lock.holder.function"))

		checkIncidents(t, o, noException)
		costliest := slices.MaxFunc(o.incidents, func(a, b *span) int {
			return cmp.Compare(a.number("weft.incident.blocked.time"), b.number("weft.incident.blocked.time"))
		})
		assert.Equal(t, "pool exhausted HikariPool", costliest.Name())
		assert.Regexp(t, `^\d+ threads waited .* for a connection of HikariPool; \d+ threads held one, .* in Orders\.charge`, costliest.text("weft.explanation"))

		first, text := summaryOf(t, c)
		assert.Regexp(t, `^\d+ http-nio-\S+ threads waited \S+ s for a connection of HikariPool in Shop\$OrderController\.order; held by .*http-nio-.*, mostly in Orders\.charge$`, first)
		t.Logf("%v waited, %v at pools\n%s", time.Duration(waited), time.Duration(atPools.time), text)
	})
}

// runShop starts the application, sends requests, and stops it. It returns how long the application's threads waited for connections.
func runShop(t *testing.T, j jdk, c *collector, classpath string) int64 {
	t.Helper()
	address := freeAddress(t)
	host, port, _ := strings.Cut(address, ":")
	jvm := java(t, j, c.endpoint, "shop", "-cp", classpath, "com.acme.shop.Shop", "--server.address="+host, "--server.port="+port,
		"--spring.datasource.url=jdbc:h2:mem:shop", "--spring.datasource.hikari.maximum-pool-size=4", "--spring.datasource.hikari.connection-timeout=600000")
	l := load{clients: 24, requests: 20, path: "/order/", want: func(int) string { return "placed" }}
	return l.serve(t, jvm, address)
}
