// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/threadtest/golden"
)

type attributes = map[string]any

// window returns one trace: a root with locks, and thread spans.
func window(t *testing.T, number int64, root attributes, locks, threads []attributes) string {
	t.Helper()
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	require.NoError(t, rs.Resource().Attributes().FromRaw(attributes{"service.name": "orders", "weft.session.id": "5e551011"}))
	spans := rs.ScopeSpans().AppendEmpty().Spans()
	start := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC).Add(time.Duration(number) * 2 * time.Second)
	trace := pcommon.TraceID{0x5e, 1, 15: byte(number)}

	span := spans.AppendEmpty()
	span.SetName("orders threads")
	span.SetTraceID(trace)
	span.SetSpanID(pcommon.SpanID{1})
	span.SetStartTimestamp(pcommon.NewTimestampFromTime(start))
	span.SetEndTimestamp(pcommon.NewTimestampFromTime(start.Add(2 * time.Second)))
	require.NoError(t, span.Attributes().FromRaw(root))
	for _, lock := range locks {
		event := span.Events().AppendEmpty()
		event.SetName("weft.lock")
		if lock["weft.deadlock.id"] != nil {
			event.SetName("weft.deadlock")
		}
		require.NoError(t, event.Attributes().FromRaw(lock))
	}
	for i, thread := range threads {
		span := spans.AppendEmpty()
		span.SetTraceID(trace)
		span.SetSpanID(pcommon.SpanID{2, byte(i)})
		span.SetParentSpanID(pcommon.SpanID{1})
		require.NoError(t, span.Attributes().FromRaw(thread))
		state := spans.AppendEmpty()
		state.SetTraceID(trace)
		state.SetSpanID(pcommon.SpanID{3, byte(i)})
		state.SetParentSpanID(span.SpanID())
		state.SetStartTimestamp(pcommon.NewTimestampFromTime(start))
		blocked := attributes{
			"weft.state": "blocked", "thread.id": thread["thread.id"], "thread.name": thread["thread.name"],
			"weft.interval.time": int64(time.Second), "weft.lock.class": "com.acme.orders.OrderBook",
			"weft.lock.owner.thread.name": "report", "code.function.name": "com.acme.orders.OrderBook.match",
		}
		if number > 1 { // the state started in the previous window
			blocked["weft.interval.start"] = start.Add(-2 * time.Second).UnixNano()
		}
		require.NoError(t, state.Attributes().FromRaw(blocked))
	}
	marshaler := ptrace.JSONMarshaler{}
	line, err := marshaler.MarshalTraces(td)
	require.NoError(t, err)
	return string(line) + "\n"
}

func lock(class string, contentions, handoffs int64, blocked, longest time.Duration) attributes {
	return attributes{
		"weft.lock.class": class, "weft.lock.contentions": contentions, "weft.lock.handoffs": handoffs,
		"weft.lock.blocked.time": int64(blocked), "weft.lock.blocked.max": int64(longest),
	}
}

func with(a, more attributes) attributes {
	maps.Copy(a, more)
	return a
}

func thread(id int64, name string, blocks int64, blocked time.Duration) attributes {
	return attributes{
		"thread.id": id, "thread.name": name, "weft.count.blocked": blocks, "weft.time.blocked": int64(blocked),
		"weft.time.runnable": int64(2*time.Second - blocked), "weft.count.runnable": blocks + 1,
	}
}

func exchange(t *testing.T) []string {
	t.Helper()
	const book, queue = "com.acme.orders.OrderBook", "com.acme.orders.OrderQueue"
	return []string{
		window(t, 1, attributes{
			"weft.window.cut": "time", "weft.events.count": 24_310, "weft.count.blocked": 907, "weft.time.blocked": int64(1001 * time.Millisecond),
			"weft.count.waiting": 310, "weft.time.waiting": int64(1700 * time.Millisecond),
		}, []attributes{
			with(lock(book, 880, 879, 990*time.Millisecond, 121_400*time.Microsecond), attributes{
				"weft.lock.holds": 870, "weft.lock.held.time": int64(1900 * time.Millisecond),
				"weft.lock.held.max": int64(122 * time.Millisecond), "weft.lock.waiters": 5,
				"weft.lock.chain.length": 37, "weft.lock.chain.time": int64(212 * time.Millisecond),
				"weft.lock.chain.threads": strings.TrimSuffix(strings.Repeat("matcher-1 -> matcher-2 -> settle-alpine -> ", 5), " -> "),
			}),
			with(lock(queue, 20, 20, 10*time.Millisecond, 900*time.Microsecond), attributes{
				"weft.lock.waits": 310, "weft.lock.waited.time": int64(1700 * time.Millisecond),
				"weft.lock.chain.length": 2, "weft.lock.chain.time": int64(time.Millisecond), "weft.lock.chain.threads": "a -> b",
			}),
		}, []attributes{
			thread(31, "matcher-1", 450, 600*time.Millisecond),
			with(thread(32, "matcher-2", 440, 400*time.Millisecond), attributes{
				"weft.folded.count": 1203, "weft.folded.time": int64(3200 * time.Microsecond),
				"weft.count.waiting": 12, "weft.time.waiting": int64(45 * time.Millisecond),
			}),
			thread(40, "settle-alpine", 1, 999_700*time.Nanosecond),
		}),
		window(t, 2, attributes{
			"weft.window.cut": "end", "weft.events.count": 1, "weft.events.lost": 12, "weft.events.missed": 3,
			"weft.count.blocked": 5, "weft.time.blocked": 91, "weft.count.waiting": 5, "weft.time.waiting": int64(11 * time.Minute),
		}, []attributes{
			lock(book, 1, 1, 1, 1),
			{
				"weft.deadlock.id": "5e55-1", "weft.deadlock.threads": "matcher-1 -> OrderBook -> report -> Tape -> matcher-1",
				"weft.deadlock.since": time.Date(2026, 3, 4, 12, 0, 4, 0, time.UTC).UnixNano(),
			},
			lock("com.acme.a.name.that.is.much.too.long.for.the.column.of.a.table.ReentrantReadWriteBookLock$Sync", 4, 0, 90, 60),
			with(lock("com.acme.orders.Tape", 0, 0, 0, 0), attributes{"weft.lock.waits": 5, "weft.lock.waited.time": int64(11 * time.Minute)}),
		}, []attributes{
			thread(31, "matcher-1", 1, 1),
			thread(41, "settle-alpine", 1, 300*time.Nanosecond),
		}),
	}
}

func TestText(t *testing.T) {
	for _, test := range []struct {
		name  string
		input []string
		top   int
	}{
		{name: "exchange", input: exchange(t), top: 10},
		{name: "top_one", input: exchange(t), top: 1},
		{name: "quiet", input: []string{window(t, 3, attributes{"weft.window.cut": "time"}, nil, []attributes{thread(1, "main", 0, 0)})}, top: 10},
		{name: "kinds", input: []string{traceOf(t, 0, []wait{
			{"matcher-1", bookLock, 2 * time.Second, "report|1|sleeping|com.acme.Report.write", "", false},
			{"matcher-2", bookLock, time.Second, "report|0.6|sleeping|com.acme.Report.write", "report 60 %, matcher-1 40 %", false},
			{"report", tapeLock, time.Second, "archiver|1|runnable|", "", false},
			{"http-exec-3", connection, time.Second, "http-exec-1|1|runnable|com.acme.Orders.insert", "http-exec-1 100 %, http-exec-2 70 %, main <1 %", false},
			{"client-1", permit, time.Millisecond, "", "", false},
		})}, top: 10},
		{name: "nothing", input: []string{`{"resourceSpans":[]}` + "\n"}, top: 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := Read(replay.Source{Reader: strings.NewReader(strings.Join(test.input, ""))})
			require.NoError(t, err)
			var out strings.Builder
			require.NoError(t, s.WriteText(&out, test.top))
			for line := range strings.Lines(out.String()) {
				assert.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), pageWidth, line)
			}
			golden.Compare(t, filepath.Join("testdata", test.name+".txt"), out.String())
		})
	}
}

func TestSumsAreExactOverWindows(t *testing.T) {
	lines := exchange(t)
	s, err := Read(replay.Source{Reader: strings.NewReader(lines[0])}, replay.Source{Reader: strings.NewReader(lines[1])})
	require.NoError(t, err)
	assert.Equal(t, 2, s.Windows)
	assert.Equal(t, 1, s.Sessions)
	assert.EqualValues(t, 2+5+5, s.Spans)
	assert.EqualValues(t, 24_311, s.Events)
	assert.Equal(t, []Cut{{"end", 1}, {"time", 1}}, s.Cuts)
	assert.Equal(t, Lock{
		Class: "com.acme.orders.OrderBook", Kind: "lock", Contentions: 881, Handoffs: 880,
		Blocked: 990*time.Millisecond + 1, BlockedMax: 121_400 * time.Microsecond,
		Waiters: 5, Holds: 870, Held: 1900 * time.Millisecond, HeldMax: 122 * time.Millisecond,
	}, s.Locks[0])
	assert.Equal(t, Lock{Class: otherLocks, Kind: "lock", Contentions: 7, Blocked: time.Millisecond}, s.Locks[2], "contention of unlisted classes")
	assert.Equal(t, Thread{
		Name: "matcher-1", Service: "orders", Threads: 1, Blocks: 451, Blocked: 600*time.Millisecond + 1, Time: 4 * time.Second,
	}, s.Threads[0])
	require.Len(t, s.Longest, 4, "two of the five pieces belong to the same blocked interval")
	assert.Equal(t, Blocked{
		Thread: "matcher-1", Class: "com.acme.orders.OrderBook", Kind: "lock", Name: "OrderBook", Time: 3 * time.Second, Owner: "report", Service: "orders",
		Function: "com.acme.orders.OrderBook.match", At: s.Start, TraceID: "5e010000000000000000000000000002",
	}, s.Longest[0])
	assert.EqualValues(t, 37, s.Chain.Length)
	assert.Equal(t, "5e01000000000000000000000000"+"0001", s.Chain.TraceID)
}

func TestOrderAndRepetitionOfLinesDoNotMatter(t *testing.T) {
	lines := exchange(t)
	want, err := Read(replay.Source{Reader: strings.NewReader(lines[0] + lines[1])})
	require.NoError(t, err)
	got, err := Read(replay.Source{Reader: strings.NewReader(lines[1] + "\n" + lines[0])})
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(want, got))
	got, err = Read(replay.Source{Reader: strings.NewReader(lines[1] + lines[0] + lines[0])})
	require.NoError(t, err)
	want.Spans += 3 // repeated state spans are counted
	assert.Empty(t, cmp.Diff(want, got))
}

func TestBadLinesAreReportedAndSkipped(t *testing.T) {
	lines := exchange(t)
	s, err := Read(replay.Source{Name: "spans.json", Reader: strings.NewReader(lines[0] + "\n" + lines[1][:50] + "\n" + lines[1])})
	require.ErrorContains(t, err, "spans.json: line 3: not OTLP JSON: ")
	assert.Equal(t, 2, s.Windows)

	_, err = Read(replay.Source{Name: "x", Reader: strings.NewReader(strings.Repeat("oops\n", 30))})
	require.ErrorContains(t, err, "line 10: not OTLP JSON")
	require.ErrorContains(t, err, "and 20 more bad lines")
}

// A line of 60 MB, which gzip packs into 60 KB, can otherwise take 3 GB.
func TestLinesWithTooManyObjectsAreSkipped(t *testing.T) {
	lines := exchange(t)
	for _, object := range []string{"{},", "null,"} {
		bomb := `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Repeat(object, maxLineObjects) + "{}]}]}]}\n"
		s, err := Read(replay.Source{Name: "spans.json", Reader: strings.NewReader(lines[0] + bomb + lines[1])})
		require.ErrorContains(t, err, "spans.json: line 2: 41943")
		require.ErrorContains(t, err, " objects, want at most 4194304; write smaller batches")
		assert.Equal(t, 2, s.Windows)
	}
}

// What precedes the limit or damage of a compressed file is summarized.
func TestCompressedFilesAreReadUpToTheLimitOrDamage(t *testing.T) {
	text := strings.Join(exchange(t), "")
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	_, err := io.WriteString(z, text)
	require.NoError(t, err)
	require.NoError(t, z.Flush())
	good := file.Len()
	_, err = z.Write(bytes.Repeat([]byte{'\n'}, 4<<20))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for _, test := range []struct {
		size int
		want string
	}{
		{file.Len(), "the file has more than 1048576 bytes uncompressed; decompress it before, or raise --max-unpacked"},
		{good, "cannot decompress beyond byte " + strconv.Itoa(len(text)) + ": the file is truncated or damaged"},
	} {
		s, err := Read(replay.Source{Name: "x.gz", Reader: bytes.NewReader(file.Bytes()[:test.size]), MaxUnpacked: 1 << 20})
		require.ErrorContains(t, err, "x.gz: line ")
		require.ErrorContains(t, err, test.want)
		assert.Equal(t, 2, s.Windows)
	}
}

// A collector that was killed while it wrote leaves a line without an end; the next one appends to it. Only what was cut is missing.
func TestLinesOfAKilledCollector(t *testing.T) {
	lines := exchange(t)
	s, err := Read(replay.Source{Name: "spans.json", Reader: strings.NewReader(strings.TrimSpace(lines[0]) + lines[1])})
	require.NoError(t, err)
	assert.Equal(t, 2, s.Windows)
	s, err = Read(replay.Source{Name: "spans.json", Reader: strings.NewReader(lines[0][:len(lines[0])/2] + lines[0] + lines[1])})
	require.ErrorContains(t, err, "spans.json: line 1: not OTLP JSON: ")
	assert.Equal(t, 2, s.Windows)
}

func TestOnlyTheLongestAreKept(t *testing.T) {
	var l longest
	for i := range int64(10_000) {
		l.add(blockedKey{thread: i}, Blocked{Time: time.Duration(i * 7919 % 10_000)})
	}
	sorted := l.sorted()
	require.Len(t, sorted, maxLongest)
	for i, b := range sorted {
		assert.Equal(t, time.Duration(9_999-i), b.Time)
	}
	assert.Less(t, len(l.blocked), 8*maxLongest)
}

func TestNamesAreShortened(t *testing.T) {
	assert.Equal(t, "int[]", shortClass("[I", 20))
	assert.Equal(t, "java.lang.Object[][]", shortClass("[[Ljava.lang.Object;", 20))
	assert.Equal(t, "c.a.orders.OrderBook", shortClass("com.acme.orders.OrderBook", 20))
	assert.Equal(t, "ab…yz", clip("abcdefxyz", 5))
	assert.Equal(t, "Class<Shutdown>", shortClass("java.lang.Class<java.lang.Shutdown>", 28))
	assert.Equal(t, "j.u.concurrent.ForkJoinPool.awaitWork", shortFunction("java.util.concurrent.ForkJoinPool.awaitWork", 38))
	assert.Equal(t, "j.u.c.ForkJoinPool.awaitWork", shortFunction("java.util.concurrent.ForkJoinPool.awaitWork", 20+8))
}
