// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
)

// wait is a contended wait of a thread.
type wait struct {
	thread, object string // object: kind, class, name, entry
	length         time.Duration
	holder         string // name, share, state, function
	holders        string
	partly         bool // the sums of the class know the holder for its share only, too
}

const (
	bookLock   = "lock|java.util.concurrent.locks.ReentrantLock$NonfairSync|OrderBook.lock|java.util.concurrent.locks.ReentrantLock.lock"
	tapeLock   = "lock|java.util.concurrent.locks.ReentrantLock$NonfairSync|Tape.lock|java.util.concurrent.locks.ReentrantLock.lock"
	connection = "pool|java.util.concurrent.SynchronousQueue$TransferQueue||com.zaxxer.hikari.pool.HikariPool.getConnection"
	tapeRead   = "lock|java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync|Tape.rw.readLock()|java.util.concurrent.locks.ReadLock.lock"
	buffer     = "pool|java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject||org.apache.kafka.clients.producer.internals.BufferPool.allocate"
	permit     = "permit|java.util.concurrent.Semaphore$NonfairSync|Shop.slots|java.util.concurrent.Semaphore.acquire"
)

// traceOf returns the trace of a window with waits, as thread_span writes it. The sums of the locks include time and waits without a span.
func traceOf(t *testing.T, folded time.Duration, waits []wait) string {
	t.Helper()
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	require.NoError(t, rs.Resource().Attributes().FromRaw(attributes{"service.name": "orders", "weft.session.id": "5e551011"}))
	spans := rs.ScopeSpans().AppendEmpty().Spans()
	root := spans.AppendEmpty()
	root.SetSpanID(pcommon.SpanID{1})
	sums, counts, held := make(map[string]time.Duration), make(map[string]int), make(map[string]time.Duration)
	var all time.Duration
	for _, w := range waits {
		all += w.length
		class := strings.Split(w.object, "|")[1]
		sums[class] += w.length
		counts[class]++
		if !w.partly {
			held[class] += w.length
		}
	}
	require.NoError(t, root.Attributes().FromRaw(attributes{
		"weft.window.cut": "end", "weft.contended.count": len(waits), "weft.contended.time": int64(all + folded),
	}))
	event := func(name string, attrs attributes) {
		event := root.Events().AppendEmpty()
		event.SetName(name)
		require.NoError(t, event.Attributes().FromRaw(attrs))
	}
	event("weft.wait", attributes{"weft.wait.kind": "lock", "weft.wait.count": len(waits), "weft.wait.time": int64(all + folded)})
	for class, sum := range sums {
		event("weft.lock", attributes{
			"weft.lock.class": class, "weft.lock.contentions": counts[class], "weft.lock.blocked.time": int64(sum + folded),
			"weft.lock.held.time": int64(sum), "weft.lock.holder.sleeping": int64(held[class]),
			"weft.folded.contended.count": int64(folded / time.Second), "weft.folded.contended.time": int64(folded),
		})
	}
	for i, w := range waits {
		object := strings.Split(w.object, "|")
		attrs := attributes{
			"weft.state": "parked", "thread.id": i, "thread.name": w.thread, "weft.interval.time": int64(w.length), "weft.wait.kind": object[0],
			"weft.lock.class": object[1], "weft.lock.name": object[2], "weft.wait.entry": object[3], "code.function.name": "com.acme.Order.place",
		}
		if w.holder != "" {
			h := strings.Split(w.holder, "|")
			share, err := time.ParseDuration(h[1] + "s")
			require.NoError(t, err)
			attrs = with(attrs, attributes{
				"weft.lock.holder.thread.name": h[0], "weft.lock.holder.share": share.Seconds(), "weft.lock.holder.state": h[2],
				"weft.lock.holder.function": h[3], "weft.lock.holders": w.holders,
			})
		}
		span := spans.AppendEmpty()
		span.SetSpanID(pcommon.SpanID{2, byte(i)})
		require.NoError(t, span.Attributes().FromRaw(attrs))
	}
	marshaler := ptrace.JSONMarshaler{}
	line, err := marshaler.MarshalTraces(td)
	require.NoError(t, err)
	return string(line) + "\n"
}

func TestHeadlineNamesTheCause(t *testing.T) {
	const second = time.Second
	report := "report|1|sleeping|com.acme.Report.write"
	waits := func(n int, w wait) (list []wait) {
		for i := range n {
			w.thread = w.thread[:strings.LastIndexByte(w.thread, '-')+1] + string(rune('1'+i))
			list = append(list, w)
		}
		return list
	}
	for _, test := range []struct {
		name, want string
		waits      []wait
		folded     time.Duration
	}{
		{
			name:  "one culprit",
			want:  "report slept 2.00 s in Report.write holding OrderBook.lock; 3 matchers waited 6.00 s for it",
			waits: waits(3, wait{thread: "matcher-1", object: bookLock, length: 2 * second, holder: report}),
		},
		{
			name: "the culprit waited for its turn",
			want: "report slept 2.00 s in Report.write holding OrderBook.lock; 3 matchers waited 6.01 s for it",
			waits: append(waits(3, wait{thread: "matcher-1", object: bookLock, length: 2 * second, holder: report}),
				wait{thread: "report", object: bookLock, length: 10 * time.Millisecond, holder: "matcher-1|1|runnable|"}),
		},
		{
			name: "some of the time",
			want: "report slept 1.00 s in Report.write holding OrderBook.lock; 3 matchers waited 6.00 s for it, 50 % of that while report held it, 20 % " +
				"while a, b did",
			waits: waits(3, wait{
				thread: "matcher-1", object: bookLock, length: 2 * second, holder: "report|0.5|sleeping|com.acme.Report.write",
				holders: "report 50 %, a, b 20 %, c <1 %",
			}),
		},
		{
			name: "less than those that wait for it, but for longer",
			want: "report slept 600 ms in Report.write holding OrderBook.lock; 3 matchers waited 6.00 s for it, 30 % of that while report held it, " +
				"66 % while 2 matchers did",
			waits: waits(3, wait{
				thread: "matcher-1", object: bookLock, length: 2 * second, holder: "report|0.3|sleeping|com.acme.Report.write",
				holders: "report 30 %, matcher-1 33 %, matcher-2 33 %",
			}),
		},
		{
			name: "in turn",
			want: "8 matchers waited 16.0 s for OrderBook.lock in Order.place; they held it in turn, running in Order.place for 100 % of the time",
			waits: func() (list []wait) {
				for i, w := range waits(8, wait{thread: "matcher-1", object: bookLock, length: 2 * second}) {
					w.holder = "matcher-" + string(rune('1'+(i+1)%8)) + "|0.9|runnable|com.acme.Order.place"
					list = append(list, w)
				}
				return list
			}(),
		},
		{
			name: "in turn as far as it is known, which is little",
			want: "6 clerks waited 12.0 s for OrderBook.lock in Order.place; who held it for 96 % of that time is not known",
			waits: func() (list []wait) {
				for i, w := range waits(6, wait{thread: "clerk-1", object: bookLock, length: 2 * second}) {
					w.holder = "clerk-" + string(rune('1'+(i+1)%6)) + "|0.04|runnable|"
					w.partly = true
					list = append(list, w)
				}
				return list
			}(),
		},
		{
			name: "in turn, although one had it longer",
			want: "8 indexers waited 16.0 s for OrderBook.lock in Order.place; they held it in turn, asleep in Disk.sync for 74 % of the time",
			waits: func() (list []wait) {
				for i, w := range waits(8, wait{thread: "indexer-1", object: bookLock, length: 2 * second}) {
					w.holder, w.holders = "indexer-8|0.27|runnable|com.acme.Order.place", "indexer-8 27 %, indexer-1 15 %"
					if i > 0 {
						w.holder, w.holders = "indexer-"+string(rune('0'+i))+"|0.11|sleeping|com.acme.Disk.sync", "indexer-7 11 %, indexer-8 27 %"
					}
					list = append(list, w)
				}
				return list
			}(),
		},
		{
			name: "one of those that wait",
			want: "indexer-8 slept 800 ms in Disk.sync holding OrderBook.lock; 3 indexers waited 6.00 s for it, 40 % of that while indexer-8 held it, " +
				"15 % while indexer-1 did",
			waits: waits(3, wait{
				thread: "indexer-1", object: bookLock, length: 2 * second, holder: "indexer-8|0.4|sleeping|com.acme.Disk.sync",
				holders: "indexer-8 40 %, indexer-1 15 %",
			}),
		},
		{
			name: "pool",
			want: "5 http-nio-8080-exec threads waited 10.0 s for a connection of HikariPool in Order.place; held by http-nio-8080-exec-8, -9, -7 and 1 " +
				"more, mostly in Orders.insert",
			waits: waits(5, wait{
				thread: "http-nio-8080-exec-1", object: connection, length: 2 * second, holder: "http-nio-8080-exec-8|1|runnable|com.acme.Orders.insert",
				holders: "http-nio-8080-exec-8 100 %, http-nio-8080-exec-9 90 %, http-nio-8080-exec-7 40 %, main 5 %",
			}),
		},
		{
			name: "pool of one thread, while others had little for an instant",
			want: "2 visitors waited 4.00 s for memory of BufferPool in Order.place; held by kafka-producer-network-thread, mostly in Audit.write",
			waits: waits(2, wait{
				thread: "visitor-1", object: buffer, length: 2 * second, holder: "kafka-producer-network-thread|0.98|sleeping|com.acme.Audit.write",
				holders: "kafka-producer-network-thread 98 %, visitor-2 2 %, visitor-1 <1 %",
			}),
		},
		{
			name:  "pool whose holder ran",
			want:  "client-1 waited 2.00 s for a connection of HikariPool in Order.place; held by main, mostly running",
			waits: waits(1, wait{thread: "client-1", object: connection, length: 2 * second, holder: "main|1|runnable|"}),
		},
		{
			name:  "permit",
			want:  "client-1 waited 2.00 s for a permit of Shop.slots in Order.place; held by main, mostly in Main.run",
			waits: waits(1, wait{thread: "client-1", object: permit, length: 2 * second, holder: "main|0|joining|com.acme.Main.run"}),
		},
		{
			name:  "read lock, whose holder has the write lock",
			want:  "report slept 2.00 s in Report.write holding Tape.rw; 2 clients waited 4.00 s for it",
			waits: waits(2, wait{thread: "client-1", object: tapeRead, length: 2 * second, holder: report}),
		},
		{
			name:  "lock without a name",
			want:  "report slept 2.00 s in Report.write holding the ReentrantLock of Order.place; 2 clients waited 4.00 s for it",
			waits: waits(2, wait{thread: "client-1", object: strings.Replace(bookLock, "OrderBook.lock", "", 1), length: 2 * second, holder: report}),
		},
		{
			name:  "unknown",
			want:  "2 clients waited 4.00 s for OrderBook.lock in Order.place; who held it is not known",
			waits: waits(2, wait{thread: "client-1", object: bookLock, length: 2 * second}),
		},
		{
			name: "nested, and waits without spans that may be for either lock",
			want: "report held OrderBook.lock for 2.00 s, mostly blocked in Report.write, and waited for Tape.lock itself; 3 matchers waited at least 6.00 s for it",
			waits: append(waits(3, wait{thread: "matcher-1", object: bookLock, length: 2 * second, holder: "report|1|blocked|com.acme.Report.write"}),
				wait{thread: "report", object: tapeLock, length: second, holder: "main|1|runnable|"}),
			folded: 9 * second,
		},
		{
			name: "nested",
			want: "archiver slept 1.90 s in Tape.write holding Tape.lock; report waited 1.90 s for it holding OrderBook.lock, for which 3 matchers waited 6.00 s",
			waits: append(waits(3, wait{thread: "matcher-1", object: bookLock, length: 2 * second, holder: "report|1|parked|com.acme.Report.write"}),
				wait{thread: "report", object: tapeLock, length: 1900 * time.Millisecond, holder: "archiver|1|sleeping|com.acme.Tape.write"}),
		},
		{
			name:   "waits without spans",
			want:   "report slept 2.00 s in Report.write holding OrderBook.lock; 3 matchers waited 15.0 s for it",
			waits:  waits(3, wait{thread: "matcher-1", object: bookLock, length: 2 * second, holder: report}),
			folded: 9 * second,
		},
		{name: "nothing", want: "No thread had to wait for a lock"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := Read(replay.Source{Reader: strings.NewReader(traceOf(t, test.folded, test.waits))})
			require.NoError(t, err)
			assert.Equal(t, test.want, s.Headline)
		})
	}
}

func TestHoldersOfAPoolInTheListOfWaits(t *testing.T) {
	const second = time.Second
	for holders, want := range map[string]string{
		"":                    "  held by report, asleep in Report.write",
		"report 90 %, b 80 %": "  held by report, b; the first asleep in Report.write",
	} {
		s, err := Read(replay.Source{Reader: strings.NewReader(traceOf(t, 0, []wait{
			{thread: "visitor-1", object: connection, length: second, holder: "report|0.9|sleeping|com.acme.Report.write", holders: holders},
		}))})
		require.NoError(t, err)
		var text strings.Builder
		require.NoError(t, s.WriteText(&text, 10))
		assert.Contains(t, text.String(), want+"\n")
	}
}
