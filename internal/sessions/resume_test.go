// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/sessions/journal"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// A collector that crashes after any of its writes to the journal makes the same windows, and ends the session as it ended, although its next
// life gets again what was not acknowledged. The last batch comes some windows after the last event.
func TestCrashAfterEachWrite(t *testing.T) {
	session := jvmthread.SessionID{0: 1}
	batches := []ptrace.Traces{
		batchOf(&threadpdata.Carrier{Session: session, Batch: 1, First: 1, Watermark: 1000, Events: []jvmthread.Event{
			{Kind: jvmthread.KindThreadStart, Thread: 1, Time: 500}, {Kind: jvmthread.KindSleepStart, Thread: 1, Time: 950},
		}}),
		batchOf(&threadpdata.Carrier{Session: session, Batch: 2, First: 1, Before: 2, Watermark: 2000, End: threadpdata.EndExit}),
	}
	run := func(d *disk, writes int, batches []ptrace.Traces) (got []string, rest []ptrace.Traces) {
		l := begin(d, nil)
		l.client.writes = writes
		for rest = batches; len(rest) > 0; rest = rest[1:] {
			if l.Consume(t.Context(), rest[0]); l.client.dead {
				l.crash()
				return l.got, rest
			}
		}
		l.Shutdown(t.Context())
		return l.got, nil
	}
	whole, _ := run(newDisk(), 0, batches)
	for writes := 1; ; writes++ {
		d := newDisk()
		got, rest := run(d, writes, batches)
		if rest == nil {
			assert.Greater(t, writes, 3)
			return
		}
		more, _ := run(d, 0, rest)
		for _, w := range more {
			if !slices.Contains(got, w) {
				got = append(got, w)
			}
		}
		assert.Equal(t, whole, got, "%d writes", writes)
		assert.ElementsMatch(t, []string{"sessions", "ended"}, slices.Collect(maps.Keys(d.data)), "%d writes", writes)
	}
}

// After a crash of an edge, a batch may come after many later ones. If its collector crashes then, no batch in between counts as missed.
func TestCrashAfterBatchesOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		batches := program(3)
		require.Greater(t, len(batches), 6)
		d := newDisk()
		l := begin(d, nil)
		for _, td := range batches[1:4] {
			l.Consume(t.Context(), td)
		}
		l.Consume(t.Context(), together(batches[0], batches[4])) // what comes with the late one is in the open window
		l.crash()
		got := l.got
		l = begin(d, nil)
		for _, td := range batches[5:] {
			l.Consume(t.Context(), td)
		}
		time.Sleep(10 * time.Second) // in the synctest bubble
		l.Shutdown(t.Context())
		for _, w := range append(got, l.got...) {
			_, _, missed := windowOf(t, w)
			assert.Zero(t, missed, "%v", strings.SplitN(w, "\n", 2)[0])
		}
	})
}

// together returns the carriers of two batches in one request.
func together(a, b ptrace.Traces) ptrace.Traces {
	td := ptrace.NewTraces()
	a.ResourceSpans().At(0).CopyTo(td.ResourceSpans().AppendEmpty())
	b.ResourceSpans().At(0).CopyTo(td.ResourceSpans().AppendEmpty())
	return td
}

// A batch may come again together with a later one, which a window needs that is open. If the collector crashes then, no batch in between
// counts as missed.
func TestCrashAfterARepeat(t *testing.T) {
	batches := program(3)
	for at := 2; at < len(batches); at++ {
		synctest.Test(t, func(t *testing.T) {
			d := newDisk()
			l := begin(d, nil)
			for _, td := range batches[:at] {
				l.Consume(t.Context(), td)
			}
			l.Consume(t.Context(), together(batches[0], batches[at]))
			l.crash()
			got := l.got
			l = begin(d, nil)
			for _, td := range batches[at+1:] {
				l.Consume(t.Context(), td)
			}
			time.Sleep(10 * time.Second) // in the synctest bubble
			l.Shutdown(t.Context())
			for _, w := range append(got, l.got...) {
				_, _, missed := windowOf(t, w)
				assert.Zero(t, missed, "%d: %v", at, strings.SplitN(w, "\n", 2)[0])
			}
		})
	}
}

// A collector that is stopped cuts its windows; the next one knows the states of the threads.
func TestStoppedCollectorContinues(t *testing.T) {
	batches := program(7)
	d := newDisk()
	total := 0
	for i, td := range batches {
		l := begin(d, nil)
		l.Consume(t.Context(), td)
		l.Shutdown(t.Context())
		for _, w := range l.got {
			var from, to, events, missed int
			var cut string
			_, err := fmt.Sscanf(w, "%d to %d by %s %d events, %d missed", &from, &to, &cut, &events, &missed)
			require.NoError(t, err)
			assert.Zero(t, missed)
			total += events
		}
		if i > 0 {
			assert.NotContains(t, strings.Join(l.got, ""), "State:unknown")
		}
	}
	want := 0
	for _, td := range batches {
		want += int(threadpdata.CountEvents(td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)))
	}
	assert.Equal(t, want, total)
}

// A collector that is stopped leaves events beyond the watermark to the next one: another thread may have earlier ones.
func TestStoppedCollectorLeavesWhatIsNotInOrder(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	send := func(l *life, c *threadpdata.Carrier) {
		td := ptrace.NewTraces()
		ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
		threadpdata.MarkCarriers(ss.Scope())
		c.Session = jvmthread.SessionID{0: 1}
		c.AppendTo(ss.Spans(), sym)
		l.Consume(t.Context(), td)
	}
	d := newDisk()
	l := begin(d, nil)
	send(l, &threadpdata.Carrier{Batch: 1, Watermark: 1050, Events: []jvmthread.Event{
		{Kind: jvmthread.KindThreadStart, Thread: 1, Time: 1000}, {Kind: jvmthread.KindSleepStart, Thread: 1, Time: 1090},
	}})
	l.Shutdown(t.Context())
	require.Len(t, l.got, 1)
	assert.Contains(t, l.got[0], "1000 to 1050 by shutdown: 1 events, 0 missed")
	l = begin(d, nil)
	send(l, &threadpdata.Carrier{Batch: 2, Before: 2, Watermark: 1200, End: threadpdata.EndExit, Events: []jvmthread.Event{
		{Kind: jvmthread.KindThreadStart, Thread: 2, Time: 1060}, {Kind: jvmthread.KindThreadEnd, Thread: 2, Time: 1100},
	}})
	l.Shutdown(t.Context())
	require.NotEmpty(t, l.got)
	assert.Contains(t, l.got[0], "1050 to 1200 by time: 3 events, 0 missed")
	assert.Contains(t, l.got[0], "Start:1060 End:1100 Thread:2")
}

// What cannot be read is dropped, with a warning, and the collector starts.
func TestDamagedJournal(t *testing.T) {
	batches := program(3)
	for name, damage := range map[string]func(d *disk, key string){
		"list":      func(d *disk, _ string) { d.data["sessions"] = []byte{99} },
		"truncated": func(d *disk, _ string) { d.data["sessions"] = d.data["sessions"][:9] },
		"head":      func(d *disk, key string) { d.data[key] = d.data[key][:len(d.data[key])/2] },
		"version":   func(d *disk, key string) { d.data[key][0] = 77 },
		"missing":   func(d *disk, key string) { delete(d.data, key) },
		"foreign":   func(d *disk, key string) { d.data[key] = []byte("\x01{json}") },
		"entries": func(d *disk, _ string) {
			for key := range d.data {
				if key != "sessions" && !strings.HasSuffix(key, ".head") {
					d.data[key] = []byte("damaged")
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDisk()
				l := begin(d, nil)
				half := len(batches) / 2
				for _, td := range batches[:half] {
					l.Consume(t.Context(), td)
				}
				l.crash()
				for key := range d.data {
					if strings.HasSuffix(key, ".head") {
						damage(d, key)
						break
					}
				}
				l = begin(d, nil)
				for _, td := range batches[half:] {
					l.Consume(t.Context(), td)
				}
				time.Sleep(6 * time.Second) // in the synctest bubble; an earlier batch might still arrive
				synctest.Wait()
				l.Shutdown(t.Context())
				assert.NotEmpty(t, l.got)
				assert.Positive(t, l.log.FilterLevelExact(zap.WarnLevel).Len(), "%v", l.log.All())
			})
		})
	}
}

// Carriers of the last sessions that have ended begin no session after a crash, and the journal does not grow with each of them.
func TestJournalRemembersEndedSessions(t *testing.T) {
	d := newDisk()
	l := begin(d, nil)
	session := func(n int) int {
		before := len(l.got)
		for _, td := range program(11) {
			for _, span := range td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
				id := span.TraceID()
				binary.BigEndian.PutUint32(id[12:], uint32(n))
				span.SetTraceID(id)
			}
			l.Consume(t.Context(), td)
		}
		return len(l.got) - before
	}
	for n := range journal.MaxEnded + 10 {
		assert.Positive(t, session(n), "session %d", n)
	}
	l.crash()
	l = begin(d, nil)
	assert.Zero(t, session(10), "the oldest one that is remembered")
	assert.Zero(t, session(journal.MaxEnded+9), "the newest one")
	assert.Positive(t, session(9), "one that is forgotten")
	l.Shutdown(t.Context())
	assert.LessOrEqual(t, len(d.data["ended"]), 1+16*journal.MaxEnded)
}

// A session of the journal whose JVM does not connect again has ended or moved: its window is delivered soon.
func TestSessionThatMovedIsClosedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		batches := program(5)
		d := newDisk()
		l := begin(d, nil)
		for _, td := range batches[:len(batches)/2] {
			l.Consume(t.Context(), td)
		}
		l.crash()
		l = begin(d, nil)
		time.Sleep(21 * time.Second) // in the synctest bubble
		synctest.Wait()
		require.Len(t, l.got, 1)
		assert.Contains(t, l.got[0], "by lost")
		assert.Contains(t, l.got[0], " 0 missed")
		l.Shutdown(t.Context())
	})
}

// A full journal is given up until the end of the window, and a collector without a journal works as before.
func TestJournalIsBounded(t *testing.T) {
	batches := program(11)
	d := newDisk()
	l := begin(d, func(o *sessions.Options) { o.JournalLimitMiB = 0 })
	whole := begin(nil, nil)
	for _, td := range batches {
		l.Consume(t.Context(), td)
		whole.Consume(t.Context(), td)
	}
	l.Shutdown(t.Context())
	whole.Shutdown(t.Context())
	assert.Equal(t, whole.got, l.got)
	assert.Equal(t, 1, l.log.FilterMessageSnippet("journal is full").Len())
	for key := range d.data {
		assert.Contains(t, []string{"sessions", "ended"}, key)
	}
}
