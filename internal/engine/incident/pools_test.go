// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

const (
	kafkaStack = `	at jdk.internal.misc.Unsafe.park(Native Method)
	at org.apache.kafka.clients.producer.internals.BufferPool.allocate(BufferPool.java:1)
	at com.acme.Shop.send(Shop.java:1)
`
	hikariStack = `	at jdk.internal.misc.Unsafe.park(Native Method)
	at com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:1)
	at com.acme.Shop.load(Shop.java:1)
`
)

const starts = `
0 A threadStart
0 B threadStart
0 C threadStart
0 D threadStart
`

// Each case says how many threads waited how long in each incident, and whether its lock is known, however windows cut them.
func TestPools(t *testing.T) {
	for _, test := range []struct {
		name, events string
		want         []string
	}{
		{"a condition for each waiter, one of which waits twice", starts + `
100 A park lock=C1 stack=1
150 B park lock=C2 stack=1
200 C park lock=C3 stack=1
400 A unparked lock=C1
410 A park lock=C1 stack=1
500 A unparked lock=C1
600 B unparked lock=C2
900 C unparked lock=C3
`, []string{"3 threads 1.54µs, cast A B C"}},
		{"a queue for each pool", starts + `
100 A park lock=java.util.concurrent.SynchronousQueue$TransferStack stack=2
150 B park lock=java.util.concurrent.SynchronousQueue$TransferQueue stack=2
500 A unparked lock=java.util.concurrent.SynchronousQueue$TransferStack
600 B unparked lock=java.util.concurrent.SynchronousQueue$TransferQueue
`, []string{"1 threads 400ns, cast A, lock known", "1 threads 450ns, cast B, lock known"}},
		{"a condition for each pool", starts + `
100 A park lock=C1 stack=2
100 B park lock=C1 stack=2
100 C park lock=C2 stack=2
100 D park lock=C2 stack=2
900 A unparked lock=C1
900 B unparked lock=C1
950 C unparked lock=C2
950 D unparked lock=C2
`, []string{"2 threads 1.6µs, cast A B, lock known", "2 threads 1.7µs, cast C D, lock known"}},
		{"classes of pools", starts + `
100 A park lock=C1 stack=1
100 B park lock=C2 stack=1
100 C park lock=C3 stack=2
100 D park lock=C4 stack=2
500 A unparked lock=C1
500 B unparked lock=C2
600 C unparked lock=C3
600 D unparked lock=C4
`, []string{"2 threads 800ns, cast A B", "2 threads 1µs, cast C D"}},
		{"one after the other", starts + `
100 A park lock=C1 stack=1
200 A unparked lock=C1
300 B park lock=C2 stack=1
400 B unparked lock=C2
`, []string{"1 threads 100ns, cast A, lock known", "1 threads 100ns, cast B, lock known"}},
	} {
		for _, length := range []time.Duration{1000, 130} {
			t.Run(fmt.Sprint(test.name, " ", length), func(t *testing.T) {
				h, err := threadtest.Parse(test.events)
				require.NoError(t, err)
				sym := h.Symbols()
				sym.InternStack(kafkaStack)
				sym.InternStack(hikariStack)
				f := incident.NewFinder(incident.Options{MinTime: 1, MaxPerWindow: 20})
				f.Waits = waits.NewRules(waits.Config{}).Of(sym)
				var got []string
				var blocked, before time.Duration
				run(sym, h.Events, length, func(w *window.Window) {
					found := f.Find(w)
					blocked = found.Reported.Time + found.Rest.Time + found.Open.Time - before
					before = found.Open.Time
					assert.Equal(t, w.Waits.Contended().Time, blocked)
					for _, inc := range found.Incidents {
						assert.Empty(t, threadtest.ValidateIncident(inc))
						assert.Equal(t, incident.PoolExhausted, inc.Kind)
						assert.Len(t, inc.Locks, 1)
						cast, _ := inc.Cast(10)
						text := fmt.Sprintf("%d threads %v, cast %s", inc.Threads, inc.Blocked, castNames(h, cast))
						if !inc.Lock.IsZero() {
							text += ", lock known"
						}
						got = append(got, text)
					}
				})
				assert.ElementsMatch(t, test.want, got)
			})
		}
	}
}

// The thread that ended the waits is named if they are at least half of the time.
func TestGiver(t *testing.T) {
	for _, test := range []struct{ events, want string }{
		{"500 D unpark target=A\n501 A unparked lock=C1\n600 D unpark target=B\n601 B unparked lock=C2\n", "D 852ns"},
		{"300 D unpark target=A\n301 A unparked lock=C1\n900 B unparked lock=C2 timedOut\n", ""},
	} {
		h, err := threadtest.Parse(starts + "100 A park lock=C1 stack=1\n150 B park lock=C2 stack=1\n" + test.events)
		require.NoError(t, err)
		sym := h.Symbols()
		sym.InternStack(kafkaStack)
		f := incident.NewFinder(incident.Options{MinTime: 1, MaxPerWindow: 20})
		f.Waits = waits.NewRules(waits.Config{}).Of(sym)
		var got []string
		run(sym, h.Events, 1000, func(w *window.Window) {
			for _, inc := range f.Find(w).Incidents {
				giver := ""
				if g := inc.Giver(); g != nil {
					giver = fmt.Sprint(castNames(h, []jvmthread.ThreadID{g.Thread}), " ", g.Waited)
				}
				got = append(got, giver)
			}
		})
		assert.Equal(t, []string{test.want}, got)
	}
}
