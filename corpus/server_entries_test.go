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
}
