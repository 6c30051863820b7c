// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"strconv"

	"github.com/weft-otel/weft/e2e/runtimes"
)

// priced is the answer of Tomcat's servlet to a client: only some items cost something.
func priced(client int) string {
	const items = 100
	if client >= items {
		return "0"
	}
	return strconv.Itoa(client * client)
}

// servers are real servers, each with a bottleneck that its source shows.
var servers = []entry{
	{
		name: "tomcat", program: []string{"com.acme.prices.PriceServer", "HOST", "PORT"}, jars: "tomcat", from: agent, engine: wholeRun(nil),
		drive: under(runtimes.Load{Clients: 24, Requests: 5, Path: "/price/", Want: priced}), check: checkTomcat,
	},
	{
		name: "tomcat-virtual", program: []string{"com.acme.prices.PriceServer", "HOST", "PORT", "virtual"}, jars: "tomcat", from: agent, least: 24,
		engine: wholeRun(nil), drive: under(runtimes.Load{Clients: 24, Requests: 5, Path: "/price/", Want: priced}), check: checkTomcatVirtual,
	},
	{
		name: "spring", jars: "spring", from: agent, engine: wholeRun(nil),
		program: []string{
			"com.acme.shop.Shop", "--server.address=HOST", "--server.port=PORT", "--spring.datasource.url=jdbc:h2:mem:shop",
			"--spring.datasource.hikari.maximum-pool-size=4", "--spring.datasource.hikari.connection-timeout=600000",
		},
		drive: under(runtimes.Load{Clients: 24, Requests: 5, Path: "/order/", Want: func(int) string { return "placed" }}), check: checkSpring,
	},
	{name: "kafka", program: []string{"com.acme.clicks.Clicks", "HOST:PORT", "20"}, jars: "kafka", java: runtimes.QuickStart, from: agent, engine: wholeRun(nil), drive: withBroker, check: checkKafka},
	{name: "kafka-broker", program: []string{"com.acme.clicks.Clicks", "HOST:PORT", "20"}, jars: "kafka", least: 24, from: agent, engine: wholeRun(nil), drive: asBroker, check: checkBroker},
	{name: "lucene", program: []string{"com.acme.search.Indexer", "3"}, jars: "lucene", from: agent, engine: wholeRun(nil), drive: alone(false), check: checkLucene},
	{name: "netty", program: []string{"com.acme.quotes.Main", "20"}, jars: "netty", from: agent, engine: wholeRun(nil), check: checkNetty},
	{
		name: "tomcat-crowd", program: []string{"com.acme.prices.PriceServer", "HOST", "PORT", "200"}, jars: "tomcat", from: agent,
		drive: under(runtimes.Load{Clients: 200, Requests: 2, Path: "/price/", Want: priced}), check: checkCrowd,
	},
	{name: "exchange-traces", program: []string{"com.acme.orders.Exchange", "4"}, from: agent, engine: seconds, drive: quoted, check: checkExchange},
	{
		name: "counters", program: []string{"Counters", "20"}, from: agent, engine: map[string]any{"window": "1s", "max_spans_per_window": 0},
		check: checkCounters,
	},
	{
		name: "contexts", program: []string{"Requests"}, from: agent, agent: ",cpu=on,owner-stacks=on", engine: wholeRun(nil), drive: withSDK,
		check: checkContexts,
	},
	{
		name: "requests", program: []string{"com.acme.checkout.PlainServer", "HOST", "PORT", "platform"}, jars: "requests", java: smallShop,
		from: agent, drive: shop, check: checkShop,
	},
	{
		name: "requests-virtual", program: []string{"com.acme.checkout.PlainServer", "HOST", "PORT", "virtual"}, jars: "requests", java: smallShop,
		from: agent, least: 24, drive: shop, check: checkShop, // before JDK 24, a monitor keeps the carrier
	},
	{
		name: "requests-spring", program: springShop("false"), jars: "requests", java: smallShop, from: agent, drive: shop, check: checkShop,
	},
	{
		name: "requests-spring-virtual", program: springShop("true"), jars: "requests", java: smallShop, from: agent, least: 24, drive: shop,
		check: checkShop,
	},
}

// smallShop has so few connections that some clients wait for them.
var smallShop = []string{"-Xmx512m", "-Dcheckout.pool=4"}

func springShop(virtual string) []string {
	return []string{
		"com.acme.checkout.SpringServer", "--server.address=HOST", "--server.port=PORT", "--spring.datasource.url=jdbc:h2:mem:shop",
		"--spring.threads.virtual.enabled=" + virtual, "--spring.datasource.hikari.maximum-pool-size=4",
		"--spring.datasource.hikari.connection-timeout=600000", "--logging.threshold.console=OFF", "--spring.main.banner-mode=off",
	}
}
