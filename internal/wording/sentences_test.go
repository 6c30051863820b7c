// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/threadtest/golden"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

const ms = 1_000_000

func who(groups ...viewapi.ThreadGroup) []viewapi.ThreadGroup { return groups }

func threads(name string, n int, time int64) viewapi.ThreadGroup {
	return viewapi.ThreadGroup{Name: name, Threads: n, Time: time}
}

// holder is one that held something for a part of the waits' time, and did one thing for a part of that.
func holder(name string, time int64, share float64, text, method string, part float64) viewapi.Holder {
	return viewapi.Holder{
		Thread: viewapi.ThreadRef{Name: name}, Time: time, Share: share, Text: text, Method: method, Part: part, Length: int64(float64(time) * part),
	}
}

func waits(name, kind string, time int64) viewapi.CostRow {
	return viewapi.CostRow{Name: name, Kind: kind, Time: time, Locks: 1}
}

var (
	book     = waits("OrderBook.lock", "lock", 8920*ms)
	in       = &viewapi.Site{Function: "com.acme.orders.OrderBook.match"}
	matchers = threads("matcher-*", 3, 8000*ms)
	asleep   = holder("report", 5930*ms, 0.66, "asleep in Report.write", "com.acme.orders.Report.write", 1)
	gateway  = waits("Gateway.lock", "lock", 6100*ms)
)

// costs are what can be said about what cost the most.
var costs = []struct {
	name string
	cost viewapi.Cost
}{
	{"one holder", viewapi.Cost{CostRow: book, Waiters: 1, Who: who(threads("main", 1, 8920*ms)), Site: in, Culprit: true, Holders: []viewapi.Holder{
		holder("report", 8920*ms, 1, "asleep in Report.write", "com.acme.orders.Report.write", 1),
	}}},
	{"the holder reads", viewapi.Cost{CostRow: book, Waiters: 1, Who: who(threads("main", 1, 8920*ms)), Site: in, Culprit: true, Holders: []viewapi.Holder{
		holder("report", 8920*ms, 1, "reading from 10.0.0.7:5432 in Report.load", "com.acme.orders.Report.load", 1),
	}}},
	{"one of several holders", viewapi.Cost{
		CostRow: book, Waiters: 3, Who: who(matchers), Site: in, Culprit: true, Holders: []viewapi.Holder{asleep},
		Others: who(threads("matcher-*", 3, 2600*ms)),
	}},
	{"others held it for an instant", viewapi.Cost{
		CostRow: book, Waiters: 8, Who: who(matchers, threads("settle-*", 4, 900*ms), threads("audit", 1, 20*ms)), Site: in, Culprit: true,
		Holders: []viewapi.Holder{asleep}, Others: who(threads("audit", 1, 20*ms)),
	}},
	{"class initialization", viewapi.Cost{
		CostRow: waits("class initialization of Registry", "lock", 8920*ms), Waiters: 3, Who: who(matchers), Site: in, Culprit: true,
		Holders: []viewapi.Holder{holder("loader", 2230*ms, 1, "asleep in Registry.<clinit>", "com.acme.Registry.<clinit>", 1)},
	}},
	{"class initialization, several things", viewapi.Cost{
		CostRow: waits("class initialization of Registry", "lock", 8920*ms), Waiters: 3, Who: who(matchers), Site: in, Culprit: true,
		Holders: []viewapi.Holder{holder("loader", 2230*ms, 1, "asleep in Registry.<clinit>", "com.acme.Registry.<clinit>", 0.6)},
	}},
	{"it did several things", viewapi.Cost{CostRow: book, Waiters: 3, Who: who(matchers), Site: in, Culprit: true, Holders: []viewapi.Holder{
		holder("report", 8920*ms, 0.97, "asleep in Report.format", "com.acme.orders.Report.format", 0.6),
	}}},
	{"the holder runs", viewapi.Cost{CostRow: book, Waiters: 1, Who: who(threads("main", 1, 8920*ms)), Site: in, Culprit: true, Holders: []viewapi.Holder{
		holder("report", 8920*ms, 1, "running", "", 0.97),
	}}},
	{"the holder runs, with a place", viewapi.Cost{CostRow: book, Waiters: 1, Who: who(threads("main", 1, 8920*ms)), Site: in, Culprit: true, Holders: []viewapi.Holder{
		holder("report", 8920*ms, 1, "running in Report.format", "com.acme.orders.Report.format", 0.97),
	}}},
	{"the holder runs for a part", viewapi.Cost{CostRow: book, Waiters: 1, Who: who(threads("main", 1, 8920*ms)), Site: in, Culprit: true, Holders: []viewapi.Holder{
		holder("report", 8920*ms, 1, "running", "", 0.7),
	}}},
	{"the holder waits for a processor", viewapi.Cost{CostRow: book, Waiters: 1, Who: who(threads("main", 1, 8920*ms)), Site: in, Culprit: true, Holders: []viewapi.Holder{
		holder("report", 8920*ms, 1, "waiting for a processor", "", 0.93),
	}}},
	{"the holder's clocks were not read", viewapi.Cost{CostRow: book, Waiters: 1, Who: who(threads("main", 1, 8920*ms)), Site: in, Culprit: true, Holders: []viewapi.Holder{
		holder("report", 8920*ms, 1, "runnable", "", 1),
	}}},
	{"the holder's clocks say little", viewapi.Cost{CostRow: book, Waiters: 1, Who: who(threads("main", 1, 8920*ms)), Site: in, Culprit: true, Holders: []viewapi.Holder{
		holder("report", 8920*ms, 1, "runnable", "", 0.7),
	}}},
	{"a class is initialized by one that waits for a processor", viewapi.Cost{
		CostRow: waits("class initialization of Registry", "lock", 8920*ms), Waiters: 3, Who: who(matchers), Site: in, Culprit: true,
		Holders: []viewapi.Holder{holder("loader", 2230*ms, 1, "waiting for a processor", "", 0.8)},
	}},
	{"in turn, starved", viewapi.Cost{
		CostRow: book, Waiters: 1204, Who: who(threads("http-exec-*", 1204, 8920*ms)), Site: in, Holders: []viewapi.Holder{asleep, asleep}, More: 9,
		Turns: &viewapi.Turns{Own: true, Text: "waiting for a processor", Share: 0.8},
	}},
	{"it is not known what it did", viewapi.Cost{CostRow: book, Waiters: 3, Who: who(matchers), Culprit: true, Holders: []viewapi.Holder{
		holder("report", 8920*ms, 0.97, "", "", 0),
	}}},
	{"the holder waits for another lock", viewapi.Cost{
		CostRow: book, Waiters: 24, Who: who(threads("http-nio-8080-exec-*", 24, 8920*ms)), Site: in, Culprit: true,
		Holders: []viewapi.Holder{holder("report", 6100*ms, 0.95, "waiting for Gateway.lock in Gateway.send", "com.acme.Gateway.send", 0.98)},
		Next: &viewapi.Cost{CostRow: gateway, Waiters: 1, Who: who(threads("report", 1, 6100*ms)), Culprit: true, Holders: []viewapi.Holder{
			holder("gateway-1", 6000*ms, 0.98, "asleep in Gateway.retry", "com.acme.Gateway.retry", 1),
		}},
	}},
	{"a chain of three locks", viewapi.Cost{
		CostRow: book, Waiters: 2, Who: who(threads("main", 1, 5000*ms), threads("audit", 1, 3920*ms)), Site: in, Culprit: true,
		Holders: []viewapi.Holder{holder("report", 6100*ms, 0.7, "waiting for Gateway.lock in Gateway.send", "com.acme.Gateway.send", 0.98)},
		Next: &viewapi.Cost{
			CostRow: gateway, Waiters: 1, Who: who(threads("report", 1, 6100*ms)), Culprit: true,
			Holders: []viewapi.Holder{holder("gateway-1", 6000*ms, 0.98, "waiting for Log.lock in Log.write", "com.acme.Log.write", 0.9)},
			Next: &viewapi.Cost{CostRow: waits("Log.lock", "lock", 5400*ms), Waiters: 1, Culprit: true, Holders: []viewapi.Holder{
				holder("log-writer", 5400*ms, 1, "running", "", 1),
			}},
		},
	}},
	{"the holder waits for a pool", viewapi.Cost{
		CostRow: book, Waiters: 3, Who: who(matchers), Site: in, Culprit: true,
		Holders: []viewapi.Holder{holder("report", 6100*ms, 0.95, "waiting for HikariPool in Orders.find", "com.acme.Orders.find", 0.98)},
		Next: &viewapi.Cost{
			CostRow: waits("HikariPool", "pool", 6100*ms), Unit: "a connection", Waiters: 1, Who: who(threads("report", 1, 6100*ms)),
			Holders: []viewapi.Holder{holder("http-1", 6000*ms, 0.5, "running", "", 1)},
		},
	}},
	{"the holder waits on", viewapi.Cost{CostRow: book, Waiters: 3, Who: who(matchers), Site: in, Culprit: true, Holders: []viewapi.Holder{
		holder("report", 8920*ms, 0.97, "waiting for future CompletableFuture in Report.format", "com.acme.orders.Report.format", 0.95),
	}}},
	{"in turn", viewapi.Cost{
		CostRow: book, Waiters: 1204, Who: who(threads("http-exec-*", 1204, 8920*ms)), Site: in, Holders: []viewapi.Holder{asleep, asleep}, More: 9,
		Turns: &viewapi.Turns{Own: true, Text: "asleep in Disk.sync", Share: 0.8},
	}},
	{"in turn, by others", viewapi.Cost{
		CostRow: book, Waiters: 5, Who: who(threads("a", 1, 2000*ms), threads("b", 1, 2000*ms), threads("c", 1, 2000*ms)), Site: in,
		Holders: []viewapi.Holder{asleep, asleep}, More: 9, Turns: &viewapi.Turns{}, Others: who(threads("writer-*", 11, 8920*ms)),
	}},
	{"mostly unknown holders", viewapi.Cost{CostRow: book, Waiters: 3, Who: who(matchers), Site: in, Unknown: 0.93, Holders: []viewapi.Holder{asleep}}},
	{"unknown holder", viewapi.Cost{CostRow: book, Waiters: 3, Who: who(matchers)}},
	{"no lock of the source", viewapi.Cost{
		CostRow: viewapi.CostRow{Name: "ReentrantLock", Caller: "com.acme.Inventory.reserve", Kind: "lock", Time: 12 * ms}, Waiters: 3, Who: who(matchers), Site: in,
	}},
	{"unknown class", viewapi.Cost{CostRow: waits("", "lock", 12*ms), Waiters: 3, Who: who(matchers), Site: in}},
	{"read-write lock", viewapi.Cost{CostRow: waits("Inventory.lock.readLock()", "lock", 12*ms), Waiters: 3, Who: who(matchers), Site: in, Culprit: true, Holders: []viewapi.Holder{
		holder("report", 12*ms, 1, "running", "", 1),
	}}},
	{"pool", viewapi.Cost{
		CostRow: waits("HikariPool", "pool", 96_300*ms), Unit: "a connection", Waiters: 40, Who: who(threads("http-exec-*", 40, 96_300*ms)),
		Site: &viewapi.Site{Function: "com.acme.Orders.find"}, More: 5, Turns: &viewapi.Turns{Own: true, Text: "asleep in Orders.query", Share: 0.97},
		Holders: []viewapi.Holder{holder("http-exec-3", 1, 0.3, "", "", 0), holder("http-exec-7", 1, 0.3, "", "", 0), holder("job", 1, 0.3, "", "", 0), holder("x", 1, 0.3, "", "", 0)},
	}},
	{"permit", viewapi.Cost{
		CostRow: waits("Orders.slots", "permit", 96*ms), Unit: "a permit", Waiters: 1, Who: who(threads("main", 1, 96*ms)),
		Holders: []viewapi.Holder{holder("job-1", 1, 0.3, "asleep in Job.run", "", 0)},
	}},
	{"permit without a known holder", viewapi.Cost{CostRow: waits("Semaphore", "permit", 96*ms), Unit: "a permit", Waiters: 1, Who: who(threads("main", 1, 96*ms))}},
	{"future", viewapi.Cost{
		CostRow: waits("", "future", 47_300*ms), Waiters: 12, Who: who(threads("request-*", 12, 47_300*ms)), Site: send, Known: 0.95, Busy: 1,
		Holders: []viewapi.Holder{holder("mailer-1", 1, 0.5, "runnable", "", 1), holder("mailer-2", 1, 0.45, "runnable", "", 1)},
		Others:  who(threads("mailer-*", 2, 45_000*ms)), Turns: &viewapi.Turns{Text: "runnable", Share: 1},
	}},
	{"future, workers with something to do", viewapi.Cost{
		CostRow: waits("", "future", 47_300*ms), Waiters: 12, Who: who(threads("request-*", 12, 47_300*ms)), Site: send, Known: 0.7, Busy: 0.7,
		Holders: []viewapi.Holder{holder("mailer-1", 1, 0.4, "", "", 1), holder("mailer-2", 1, 0.3, "", "", 1)}, More: 2,
		Others: who(threads("mailer-*", 4, 45_000*ms)), Turns: &viewapi.Turns{Text: "asleep in Smtp.send", Share: 0.8},
	}},
	{"future, tasks in a queue", viewapi.Cost{
		CostRow: waits("", "future", 47_300*ms), Waiters: 12, Who: who(threads("request-*", 12, 47_300*ms)), Site: send, Known: 0.97, Busy: 0.98, Queued: 0.83,
		Holders: []viewapi.Holder{holder("mailer-1", 1, 0.5, "", "", 1), holder("mailer-2", 1, 0.47, "", "", 1)},
		Others:  who(threads("mailer-*", 2, 45_000*ms)), Turns: &viewapi.Turns{Text: "reading from 10.0.0.7:25 in Smtp.send", Share: 1},
	}},
	{"future, tasks in the queue of workers that never rest", viewapi.Cost{
		CostRow: waits("", "future", 47_300*ms), Waiters: 12, Who: who(threads("request-*", 12, 47_300*ms)), Site: send, Known: 1, Busy: 1, Queued: 0.996,
		Holders: []viewapi.Holder{holder("mailer-1", 1, 1, "asleep in Smtp.send", "", 0.8)}, Others: who(threads("mailer-1", 1, 45_000*ms)),
	}},
	{"future, tasks that go on", viewapi.Cost{
		CostRow: waits("", "future", 8_000*ms), Waiters: 4, Who: who(threads("request-*", 4, 8_000*ms)), Site: send, Known: 0.5, Open: 4, Pending: 8_000 * ms,
		Running: 2, Holders: []viewapi.Holder{holder("mailer-1", 1, 0.3, "asleep in Smtp.send", "", 1), holder("mailer-2", 1, 0.2, "asleep in Smtp.send", "", 1)},
		Others: who(threads("mailer-*", 2, 4_000*ms)), Turns: &viewapi.Turns{Text: "asleep in Smtp.send", Share: 1},
	}},
	{"starved pool", viewapi.Cost{
		CostRow: waits("", "future", 16_200*ms), Waiters: 4, Who: who(threads("http-*", 4, 16_200*ms)), Site: send, Open: 4, Stuck: 4, Pending: 16_200 * ms,
		Starved: &viewapi.ThreadGroup{Name: "order-pool-*", Threads: 4},
	}},
	{"barrier", viewapi.Cost{
		CostRow: waits("CyclicBarrier", "barrier", 11_300*ms), Waiters: 3, Who: who(threads("worker-*", 3, 11_300*ms)), Site: send, Known: 1,
		Holders: []viewapi.Holder{holder("worker-3", 1, 1, "running in Partition.scan", "", 1)},
	}},
	{"latch", viewapi.Cost{
		CostRow: waits("Startup.ready", "latch", 12_100*ms), Waiters: 3, Who: who(threads("request-*", 3, 12_100*ms)), Open: 3, Pending: 12_100 * ms,
	}},
	{"full queue", viewapi.Cost{
		CostRow: waits("Index.q", "queue", 12_000*ms), Waiters: 4, Who: who(threads("request-*", 4, 12_000*ms)), Site: send, Open: 4, Stuck: 4, Pending: 12_000 * ms,
		Gone: []viewapi.GoneThread{{Thread: viewapi.ThreadRef{Name: "indexer"}}},
	}},
	{"leaked permits", viewapi.Cost{
		CostRow: waits("Payments.permits", "permit", 12_700*ms), Unit: "a permit", Waiters: 5, Who: who(threads("request-*", 5, 12_700*ms)), Site: send, Unknown: 1,
		Holders: []viewapi.Holder{holder("request-1", 1, 0, "", "", 0)}, Open: 5, Stuck: 5, Pending: 12_500 * ms, Unable: who(threads("request-*", 5, 12_500*ms)),
		Gone: []viewapi.GoneThread{{Thread: viewapi.ThreadRef{Name: "job-1"}}},
	}},
	{"a lock whose owner has ended", viewapi.Cost{
		CostRow: book, Waiters: 3, Who: who(matchers), Site: in, Open: 3, Stuck: 3, Certain: true, Pending: 8920 * ms,
		Gone: []viewapi.GoneThread{{Thread: viewapi.ThreadRef{Name: "report"}}},
	}},
	{"a reader that wants to write", viewapi.Cost{
		CostRow: waits("Inventory.lock", "lock", 15_800*ms), Waiters: 5, Who: who(threads("request-*", 4, 12_000*ms), threads("cart", 1, 3_800*ms)), Site: in,
		Open: 5, Stuck: 5, Certain: true, Itself: true, Pending: 15_800 * ms, Unable: who(threads("cart", 1, 3_800*ms)),
	}},
	{"the holder waits for a task that needs the lock", viewapi.Cost{
		CostRow: book, Waiters: 3, Who: who(matchers), Site: in, Culprit: true, Open: 3, Stuck: 3, Pending: 8920 * ms, Unable: who(threads("report", 1, 9_000*ms)),
		Back: who(threads("pricer-1", 1, 9_000*ms)), Holders: []viewapi.Holder{holder("report", 8920*ms, 1, "waiting for a future in Report.format", "com.acme.orders.Report.format", 1)},
	}},
	{"a pool that is exhausted by its own threads", viewapi.Cost{
		CostRow: waits("HikariPool", "pool", 32_400*ms), Unit: "a connection", Waiters: 8, Who: who(threads("request-*", 8, 32_400*ms)), Site: send,
		Open: 8, Pending: 32_400 * ms, Nested: &viewapi.Nested{Threads: 4, Site: &viewapi.Site{Function: "com.acme.Audit.write"}},
	}},
	{"the end of a thread", viewapi.Cost{
		CostRow: waits("Thread", "join", 7_200*ms), Waiters: 2, Who: who(threads("request-*", 2, 7_200*ms)), Site: send, Known: 1, Open: 2, Pending: 7_200 * ms,
		Holders: []viewapi.Holder{holder("exporter", 3_600*ms, 1, "asleep in Export.run", "", 1)}, Others: who(threads("exporter", 1, 7_200*ms)),
	}},
	{"the ends of threads", viewapi.Cost{
		CostRow: waits("Thread", "join", 7_200*ms), Waiters: 1, Who: who(threads("request-1", 1, 7_200*ms)), Site: send, Known: 1, More: 2,
		Holders: []viewapi.Holder{holder("exporter-1", 3_600*ms, 1, "asleep in Export.run", "", 1)}, Others: who(threads("exporter-*", 3, 7_200*ms)),
		Turns: &viewapi.Turns{Text: "asleep in Export.run", Share: 0.8},
	}},
	{"a notify that cannot come any more", viewapi.Cost{
		CostRow: waits("Mailbox", "object", 10_500*ms), Waiters: 3, Who: who(threads("request-*", 3, 10_500*ms)), Site: send, Open: 3, Stuck: 3, Pending: 9_000 * ms,
		Known: 0.1, Holders: []viewapi.Holder{holder("dispatcher", 1, 0.1, "asleep in Dispatcher.run", "", 1)},
		Gone: []viewapi.GoneThread{{Thread: viewapi.ThreadRef{Name: "dispatcher"}}},
	}},
	{"full queue, several consumers", viewapi.Cost{
		CostRow: waits("Index.q", "queue", 12_000*ms), Waiters: 1, Who: who(threads("main", 1, 12_000*ms)), Open: 1, Stuck: 1, Pending: 12_000 * ms, Known: 0,
		Gone: []viewapi.GoneThread{{Thread: viewapi.ThreadRef{Name: "indexer-1"}}, {Thread: viewapi.ThreadRef{Name: "indexer-2"}}},
	}},
	{"full queue, its consumers do other things", viewapi.Cost{
		CostRow: waits("Index.q", "queue", 12_000*ms), Waiters: 4, Who: who(threads("request-*", 4, 12_000*ms)), Site: send, Open: 4, Pending: 12_000 * ms, Known: 0.1,
		Holders: []viewapi.Holder{holder("indexer-1", 300*ms, 0.1, "asleep in Disk.sync", "", 1)},
		Able: []viewapi.Holder{
			holder("indexer-1", 2900*ms, 0, "reading from 10.0.0.7:443 in Disk.sync", "", 1), holder("indexer-2", 2900*ms, 0, "reading from 10.0.0.7:443 in Disk.sync", "", 1),
			holder("janitor", 2900*ms, 0, "asleep in Janitor.run", "", 1),
		},
	}},
	{"rate limiter", viewapi.Cost{
		CostRow: viewapi.CostRow{Name: "RateLimiter", Kind: "permit", Time: 28_500 * ms}, Unit: "a permit", Waiters: 4, Who: who(threads("request-*", 4, 28_500*ms)), Site: send,
	}},
	{"permits of virtual threads", viewapi.Cost{
		CostRow: waits("Api.limit", "permit", 12_000*ms), Unit: "a permit", Waiters: 6, Who: who(threads("", 6, 12_000*ms)), Site: send, Exact: true,
	}},
	{"a lock of virtual threads", viewapi.Cost{
		CostRow: waits("Api.rw", "lock", 12_000*ms), Waiters: 6, Who: who(threads("", 6, 12_000*ms)), Site: send, Unknown: 0.8, Exact: true,
	}},
	{"a latch of virtual threads", viewapi.Cost{
		CostRow: waits("Api.up", "latch", 12_000*ms), Waiters: 6, Who: who(threads("", 6, 12_000*ms)), Site: send, Exact: true,
	}},
	{"end of an executor", viewapi.Cost{
		CostRow: waits("", "future", 6_500*ms), Waiters: 1, Who: who(threads("stopper", 1, 6_500*ms)), Known: 1,
		Site:    &viewapi.Site{Function: "com.acme.Server.stop", Entry: "java.util.concurrent.ThreadPoolExecutor.awaitTermination"},
		Holders: []viewapi.Holder{holder("drain-1", 6_500*ms, 1, "reading from 10.0.0.7:443 in Drain.flush", "", 1)},
	}},
	{"a notify that came too early", viewapi.Cost{
		CostRow: waits("Box", "object", 7_800*ms), Waiters: 1, Who: who(threads("printer", 1, 7_800*ms)), Site: send, Open: 1, Pending: 7_800 * ms,
		Vain: &viewapi.VainNotify{Thread: viewapi.ThreadRef{Name: "starter"}, Method: "com.acme.Box.open"},
	}},
	{"exchanger", viewapi.Cost{CostRow: waits("Exchanger", "exchange", 96*ms), Waiters: 1, Who: who(threads("main", 1, 96*ms)), Site: send}},
}

var send = &viewapi.Site{Function: "com.acme.Mailer.send"}

// TestSentences prints each sentence, to be read in one sitting.
func TestSentences(t *testing.T) {
	var names []string
	bodies := map[string]string{}
	add := func(name string, parts []viewapi.Part) {
		names = append(names, name)
		bodies[name] = wording.Plain(parts) + "\n"
		for i, p := range parts {
			assert.False(t, p.Text == "" || i > 0 && p.Role == "" && parts[i-1].Role == "", "%s: %v", name, parts)
		}
	}
	for i := range costs {
		add(costs[i].name, wording.Cost(&costs[i].cost))
	}
	small := costs[0].cost
	small.Time = 2 * ms
	add("nothing to report", wording.Quiet(&small, nil, false))
	pool := viewapi.Cost{CostRow: waits("HikariPool", "pool", 3*ms), Unit: "a connection", Waiters: 3, Who: who(matchers), Site: in}
	add("nothing to report, of a pool", wording.Quiet(&pool, nil, false))
	latch := viewapi.Cost{CostRow: waits("Startup.ready", "latch", 3*ms), Waiters: 3, Who: who(matchers), Site: in}
	sleeping := viewapi.KindRow{Wait: "sleep", Stats: viewapi.Stats{Time: 5300 * ms}, Site: send}
	add("nothing to report, of a latch", wording.Quiet(&latch, &sleeping, false))
	add("no waits", wording.Quiet(nil, nil, false))
	add("no waits in a recording", wording.Quiet(nil, nil, true))
	add("no waits for others", wording.Quiet(nil, &sleeping, false))
	pauses := viewapi.Pauses{Count: 12, Time: 1200 * ms, Longest: 300 * ms}
	stopped := costs[0].cost
	stopped.Holders = []viewapi.Holder{holder("report", 8920*ms, 1, "stopped for garbage collection", "", 0.95)}
	add("the holder stood still", wording.Cost(&stopped))
	add("few pauses", wording.Paused(wording.Cost(&stopped), pauses, 60_000*ms))
	add("pauses", wording.Paused(wording.Cost(&stopped), pauses, 10_000*ms))
	add("mostly pauses", wording.Paused(wording.Cost(&stopped), pauses, 2000*ms))
	add("pauses only", wording.Paused(wording.Quiet(&small, nil, false), viewapi.Pauses{Count: 1, Time: 300 * ms, Longest: 300 * ms}, 3000*ms))
	queue := viewapi.Cost{
		CostRow: waits("Mailer.replies", "queue", 10_500*ms), Takes: true, Waiters: 3, Who: who(threads("request-*", 3, 10_500*ms)), Site: send, Known: 0.9,
		Holders: []viewapi.Holder{holder("worker", 1, 0.9, "asleep in Work.run", "", 1)},
	}
	add("perhaps nothing to report", wording.Lull(&queue))
	member := func(thread, class string) viewapi.DeadlockMember {
		return viewapi.DeadlockMember{Thread: viewapi.ThreadRef{Name: thread}, Lock: viewapi.LockRef{Class: class}}
	}
	two := viewapi.Deadlock{Members: []viewapi.DeadlockMember{member("a", "com.acme.Left"), member("b", "com.acme.Right")}}
	add("deadlock", wording.Deadlock(&two, "12:00:03 UTC", 0, 5))
	classes := viewapi.Deadlock{Members: []viewapi.DeadlockMember{member("a", "com.acme.Left.<clinit>"), member("b", "com.acme.Right.<clinit>")}}
	add("deadlock of class initializations", wording.Deadlock(&classes, "12:00:03 UTC", 0, 0))
	for i := range 4 {
		two.Members = append(two.Members, member(fmt.Sprint("c-", i), "com.acme.Fork"))
	}
	add("large deadlock", wording.Deadlock(&two, "12:00:03 UTC", 2, 0))
	golden.Compare(t, "testdata/sentences.txt", golden.Join(names, bodies))
}

func TestListed(t *testing.T) {
	for want, names := range map[string]string{
		"":                              "",
		"a":                             "a",
		"a, b":                          "a b",
		"http-exec-3, -7, -9":           "http-exec-3 http-exec-7 http-exec-9",
		"http-exec-3, job, http-exec-9": "http-exec-3 job http-exec-9",
		"t1, 2, 3 and 2 more":           "t1 t2 t3 t4 t5",
	} {
		list := strings.Fields(names)
		assert.Equal(t, want, wording.Listed(list, len(list)))
	}
	assert.Equal(t, "a and 1,204 more", wording.Listed([]string{"a"}, 1205))
}
