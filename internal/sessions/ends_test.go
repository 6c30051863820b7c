// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// batchOf returns a batch of a session as a receiver sends it.
func batchOf(c *threadpdata.Carrier) ptrace.Traces {
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(ss.Scope())
	c.AppendTo(ss.Spans(), symbols.New(symbols.DefaultLimits()))
	return td
}

// A collector that restarts every 6 s does not live long enough to find out that a JVM has ended, but all its lives together do. Each JVM here
// sends one batch and is never heard of again: its window must be delivered once, its session must end once, and nothing of it may stay in the
// storage.
func TestShortLivesEndSessionsToo(t *testing.T) {
	for cut, stop := range map[string]func(*life){
		"lost":     func(l *life) { l.crash() },
		"shutdown": func(l *life) { l.Shutdown(context.Background()) }, // delivers the window; the end is empty
	} {
		t.Run(cut, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const lives, limit = 50, 8 // no more JVMs than that may be followed
				d := newDisk()
				var got []string
				most := 0
				for n := range lives {
					l := begin(d, func(o *sessions.Options) { o.MaxSessions = limit })
					l.Consume(t.Context(), batchOf(&threadpdata.Carrier{
						Session: jvmthread.SessionID{0: 1, 1: byte(n)}, Batch: 1, First: 1, Watermark: 2000,
						Events: []jvmthread.Event{{Kind: jvmthread.KindThreadStart, Thread: 1, Time: 1900}, {Kind: jvmthread.KindSleepStart, Thread: 1, Time: 1950}},
					}))
					time.Sleep(6*time.Second + 500*time.Millisecond) // in the synctest bubble
					synctest.Wait()
					most = max(most, len(d.data))
					stop(l)
					got = append(got, l.got...)
				}
				l := begin(d, nil)
				time.Sleep(25 * time.Second)
				synctest.Wait()
				assert.Subset(t, []string{"sessions", "ended", "lost"}, slices.Collect(maps.Keys(d.data)), "keys of %d JVMs", lives)
				l.Shutdown(t.Context())
				got = append(got, l.got...)
				assert.LessOrEqual(t, most, 4+2*limit, "keys")
				windows, lost := 0, 0
				for _, w := range got {
					why, events, missed := windowOf(t, w)
					assert.Zero(t, missed)
					if why == "lost" {
						lost++
					}
					if events > 0 {
						windows++
						assert.Equal(t, cut, why)
						assert.Equal(t, 2, events)
					}
				}
				assert.Equal(t, lives, windows)
				assert.Equal(t, lives, lost)
			})
		})
	}
}

// The last window of a JVM that is lost lasts until its last batch. That has no event, ended the window before, and was followed by a crash.
func TestLostSessionLastsUntilItsLastBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		l := begin(d, nil)
		session := jvmthread.SessionID{0: 1}
		l.Consume(t.Context(), batchOf(&threadpdata.Carrier{
			Session: session, Batch: 1, First: 1, Watermark: 550, Events: []jvmthread.Event{{Kind: jvmthread.KindThreadStart, Thread: 1, Time: 500}},
		}))
		l.Consume(t.Context(), batchOf(&threadpdata.Carrier{Session: session, Batch: 2, First: 1, Before: 1, Watermark: 650}))
		require.Len(t, l.got, 1)
		l.crash()
		l = begin(d, nil)
		time.Sleep(25 * time.Second) // in the synctest bubble
		synctest.Wait()
		l.Shutdown(t.Context())
		require.Len(t, l.got, 1)
		assert.Contains(t, l.got[0], "600 to 650 by lost: 0 events, 0 missed")
	})
}

// A JVM that is heard of again has the whole time again.
func TestSessionHeardOfAgainGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		for n := range uint64(20) {
			l := begin(d, nil)
			if n%2 == 0 {
				l.Consume(t.Context(), batchOf(&threadpdata.Carrier{
					Session: jvmthread.SessionID{0: 1}, Batch: n/2 + 1, First: 1, Before: n / 2, Watermark: jvmthread.Time(1000 + 10*n),
					Events: []jvmthread.Event{{Kind: jvmthread.KindYield, Thread: 1, Time: jvmthread.Time(995 + 10*n)}},
				}))
			}
			time.Sleep(12*time.Second + 500*time.Millisecond) // in the synctest bubble
			synctest.Wait()
			l.crash()
			for _, w := range l.got {
				cut, _, _ := windowOf(t, w)
				require.NotEqual(t, "lost", cut, "life %d: %v %v", n, l.log.All(), l.got)
			}
		}
	})
}

// A JVM in which nothing happens sends an empty batch each second. Its journal does not grow.
func TestJournalOfAnIdleJVMIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		l := begin(d, func(o *sessions.Options) { o.Window = time.Second })
		defer l.Shutdown(t.Context())
		most := 0
		for n := range uint64(3600) {
			c := threadpdata.Carrier{Session: jvmthread.SessionID{0: 1}, Batch: n + 1, First: 1, Watermark: jvmthread.Time(n * 1_000_000_000)}
			if n > 0 {
				c.Before = 1
			} else {
				c.Events = []jvmthread.Event{{Kind: jvmthread.KindThreadStart, Thread: 1, Time: 0}}
			}
			l.Consume(t.Context(), batchOf(&c))
			most = max(most, len(d.data))
		}
		assert.Less(t, most, 100, "keys")
	})
}

// If the end of a session that was lost comes twice, as its acknowledgment was lost, it begins no other session. It has the number of the batch
// with which the JVM returns.
func TestRepeatedLossHidesNoBatch(t *testing.T) {
	batch := func(number, first, before uint64, end string, events ...jvmthread.Event) ptrace.Traces {
		return batchOf(&threadpdata.Carrier{
			Session: jvmthread.SessionID{0: 1}, Batch: number, First: first, Before: before, Watermark: jvmthread.Time(1000 * number), End: end, Events: events,
		})
	}
	started := jvmthread.Event{Kind: jvmthread.KindThreadStart, Thread: 1, Time: 500}
	slept := jvmthread.Event{Kind: jvmthread.KindSleepStart, Thread: 1, Time: 1500}
	l := begin(nil, nil)
	for _, td := range []ptrace.Traces{
		batch(1, 1, 0, "", started), batch(2, 1, 1, threadpdata.EndLost), batch(2, 1, 1, threadpdata.EndLost),
		batch(2, 2, 1, "", slept), batch(3, 2, 2, threadpdata.EndExit),
	} {
		l.Consume(t.Context(), td)
	}
	l.Shutdown(t.Context())
	total := 0
	for _, w := range l.got {
		_, events, missed := windowOf(t, w)
		assert.Zero(t, missed, w)
		total += events
	}
	assert.Equal(t, 2, total, "%v", l.got)
}

// Batches of a session that was lost may come again, as their acknowledgment was lost, before its JVM returns or after. Each counts once, also if
// the collector restarts meanwhile.
func TestRepeatsOfALostSession(t *testing.T) {
	batch := func(number uint64, end string, events ...jvmthread.Event) ptrace.Traces {
		return batchOf(&threadpdata.Carrier{
			Session: jvmthread.SessionID{0: 1}, Batch: number, Before: number - 1, Watermark: jvmthread.Time(1000 * number), End: end, Events: events,
		})
	}
	event := func(number uint64) ptrace.Traces {
		return batch(number, "", jvmthread.Event{Kind: jvmthread.KindYield, Thread: 1, Time: jvmthread.Time(1000*number - 500)})
	}
	sent := []ptrace.Traces{
		event(1), event(2), batch(3, threadpdata.EndLost), // all of it once more:
		event(1), event(2), batch(3, threadpdata.EndLost),
		event(4), event(2), event(3), batch(5, threadpdata.EndExit),
	}
	for at := range sent {
		d := newDisk()
		l := begin(d, nil)
		for _, td := range sent[:at] {
			l.Consume(t.Context(), td)
		}
		l.crash()
		got := l.got
		l = begin(d, nil)
		for _, td := range sent[at:] {
			l.Consume(t.Context(), td)
		}
		l.Shutdown(t.Context())
		var windows []string
		for _, w := range append(got, l.got...) {
			about, _, _ := strings.Cut(w, "\n")
			if cut, events, _ := windowOf(t, w); events > 0 || cut != "time" { // others have the time of the thread
				windows = append(windows, about)
			}
		}
		assert.Equal(t, []string{
			"500 to 600 by time: 1 events, 0 missed", "1500 to 1800 by time: 1 events, 0 missed", "3000 to 3000 by lost: 0 events, 0 missed",
			"2500 to 2700 by time: 1 events, 0 missed", "3300 to 3600 by time: 1 events, 0 missed", "4800 to 5000 by end: 0 events, 0 missed",
		}, windows, "restarted before %d", at)
	}
}

// An edge that was restarted says with which batch it began, but the queue of its earlier life may still have batches, which come later. A
// receiver in the same process has no such queue.
func TestFirstBatchOfARestartedSender(t *testing.T) {
	batch := func(number, first uint64, end string) ptrace.Traces {
		return batchOf(&threadpdata.Carrier{
			Session: jvmthread.SessionID{0: 1}, Batch: number, First: first, Before: number - 1, Watermark: jvmthread.Time(1000 * number), End: end,
			Events: []jvmthread.Event{{Kind: jvmthread.KindYield, Thread: 1, Time: jvmthread.Time(1000*number - 500)}},
		})
	}
	for _, c := range []struct {
		name   string
		ctx    context.Context
		events int
	}{{"edge", t.Context(), 3}, {"receiver", threadpdata.Direct(t.Context()), 2}} {
		t.Run(c.name, func(t *testing.T) {
			l := begin(nil, nil)
			for _, td := range []ptrace.Traces{batch(2, 2, ""), batch(1, 1, ""), batch(3, 2, threadpdata.EndExit)} {
				l.Consume(c.ctx, td)
			}
			l.Shutdown(t.Context())
			total := 0
			for _, w := range l.got {
				_, events, missed := windowOf(t, w)
				assert.Zero(t, missed, w)
				total += events
			}
			assert.Equal(t, c.events, total, "%v", l.got)
		})
	}
}
