// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"strings"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/corpus/spantest"
)

// checkTomcat checks a servlet whose list of prices is locked while a thread fetches new ones. Tomcat has more workers than there are clients;
// their waits for requests are not contention.
func checkTomcat(t spantest.T, r *run) {
	t.Helper()
	var waited int64
	r.know(t, &waited)
	checkPrices(t, r, waited)
	workers := func(s *spantest.Span) bool {
		return strings.Contains(s.Text("thread.name"), "-exec-") && s.IsState() && s.Text("weft.wait.kind") != ""
	}
	assert.Subset(t, []string{"idle", "lock"}, spantest.WaitsWhere(r.Output, r.service, workers).Values("weft.wait.kind"))
	assert.Regexp(t, `^price-reloader slept \S+ \S+ in PriceList\.fetch holding PriceList\.lock; \d+ http-nio-\S+-exec threads waited \S+ \S*s for it`, headline(t, r))
	checkNewcomer(t, r, bottleneck{lock: "PriceList.lock", holder: "price-reloader", doing: "asleep in PriceList.fetch", sufferers: `http-nio-.*-exec-\*`})
}

// checkTomcatVirtual checks the same servlet with a virtual thread for each request.
func checkTomcatVirtual(t spantest.T, r *run) {
	t.Helper()
	var waited int64
	r.know(t, &waited)
	checkPrices(t, r, waited)
	checkNewcomer(t, r, bottleneck{lock: "PriceList.lock", holder: "price-reloader", doing: "asleep in PriceList.fetch", sufferers: "request-"})
}

// checkPrices checks the waits for the lock of the prices, and that there are few others.
func checkPrices(t spantest.T, r *run, waited int64) {
	t.Helper()
	isPrice := func(s *spantest.Span) bool {
		return s.Text("weft.lock.name") == "PriceList.lock" && s.Text("thread.name") != "price-reloader"
	}
	locked := spantest.WaitsWhere(r.Output, r.service, isPrice)
	accountedFor(t, waited, locked.Time, "waits for the lock")
	assert.Equal(t, []string{"com.acme.prices.PriceList.price"}, locked.Values("code.function.name"))
	assert.Equal(t, []string{"java.util.concurrent.locks.ReentrantLock.lock"}, locked.Values("weft.wait.entry"))
	assert.Equal(t, "price-reloader", locked.Most("weft.lock.holder.thread.name"))
	assert.Equal(t, "com.acme.prices.PriceList.fetch", locked.Most("weft.lock.holder.function"))
	others := spantest.WaitsWhere(r.Output, r.service, func(s *spantest.Span) bool { return s.Contended() && s.Text("weft.lock.name") != "PriceList.lock" })
	assert.Less(t, others.Time, waited/10, "idle workers, the acceptor and the poller do not contend: %v", others.Values("weft.lock.class"))
}

// accountedFor compares the time that a program measured around its waits with the waits that were seen. It reads the clock before and after
// each wait, so it cannot measure less. It measures more by the time for which it had no processor in between: a recording in which that is more
// than a tenth is recorded again.
func accountedFor(t spantest.T, measured, seen int64, what string) {
	t.Helper()
	assert.LessOrEqual(t, seen, measured, what)
	assert.GreaterOrEqual(t, seen, measured-measured/10, what)
}
