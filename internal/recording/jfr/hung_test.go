// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
)

const (
	dumpTitle = "2026-11-30 17:42:16\nFull thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode):\n\n"

	dumpedMain = `"main" #1 prio=5 os_prio=0 cpu=1.00ms elapsed=5.00s tid=0x0000000000000001 nid=0x1 runnable  [0x0000000000000001]
   java.lang.Thread.State: RUNNABLE
	at com.acme.Main.main(Main.java:3)

`
	dumpedWorker = `"worker" #17 prio=5 os_prio=0 cpu=1.00ms elapsed=5.00s tid=0x0000000000000002 nid=0x2 waiting on condition  [0x0000000000000002]
   java.lang.Thread.State: WAITING (parking)
	at jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)
	- parking to wait for  <0x000000069e81f008> (a java.util.concurrent.CountDownLatch$Sync)
	at java.util.concurrent.locks.LockSupport.park(java.base@17.0.15/LockSupport.java:211)
	at com.acme.Startup.await(Startup.java:5)

`
	dumpedOther = `"other" #23 prio=5 os_prio=0 cpu=1.00ms elapsed=5.00s tid=0x0000000000000003 nid=0x3 waiting for monitor entry  [0x0000000000000003]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at com.acme.Book.add(Book.java:42)
	- waiting to lock <0x000000069e81f010> (a com.acme.Book)

`
)

// endsOf lists the events that say what threads did when the recording ended, in ticks from the start of the chunk.
func (c *collector) endsOf(b *builder) (list []string) {
	var gaps []string
	for _, ev := range c.of(0, jvmthread.KindGap) {
		if name := c.threads[ev.Thread].Name; c.isOpen(ev.Thread) {
			gaps = append(gaps, fmt.Sprintf("%s %d gap", name, 2*(int64(ev.Time)-b.nanos)))
		}
	}
	for _, line := range c.did(b) {
		if !strings.Contains(line, "contended") || strings.HasPrefix(line, "other") {
			list = append(list, line)
		}
	}
	return append(list, gaps...)
}

// isOpen reports whether a wait of a thread has no record.
func (c *collector) isOpen(id jvmthread.ThreadID) bool {
	return slices.ContainsFunc(c.of(int64(id), jvmthread.KindPark), func(ev jvmthread.Event) bool { return ev.Flags&jvmthread.FlagSnapshot != 0 })
}

func TestWaitsThatHaveNotEnded(t *testing.T) {
	const parked, blocked = "java.util.concurrent.CountDownLatch$Sync", "contendedEnter"
	for name, test := range map[string]struct {
		events func(b *builder)
		want   []string
	}{
		"no dump": {
			func(b *builder) { b.settings(typeEnter, typePark, typeSample); b.enter(100, 400) },
			nil,
		},
		"since the last event": {
			func(b *builder) {
				b.settings(typeEnter, typePark, typeSample)
				b.dump(10, dumpTitle+dumpedMain)
				b.enter(100, 400)
				b.dump(9000, dumpTitle+dumpedWorker)
			},
			[]string{"worker 500 " + parked},
		},
		"since it last ran": {
			func(b *builder) {
				b.settings(typeEnter, typePark, typeSample)
				b.dump(10, dumpTitle+dumpedMain)
				b.enter(100, 400)
				b.sample(700)
				b.dump(9000, dumpTitle+dumpedWorker)
			},
			[]string{"worker 700 " + parked},
		},
		"since the dump before, which shows something else": {
			func(b *builder) {
				b.settings(typeEnter, typePark, typeSample)
				b.enter(100, 400)
				b.dump(4000, dumpTitle+dumpedMain)
				b.dump(9000, dumpTitle+dumpedWorker)
			},
			[]string{"worker 4000 " + parked, "worker 500 gap"},
		},
		"since before the dump before, which shows the same": {
			func(b *builder) {
				b.settings(typeEnter, typePark, typeSample)
				b.enter(100, 400)
				b.dump(4000, dumpTitle+dumpedWorker)
				b.dump(9000, dumpTitle+dumpedWorker)
			},
			[]string{"worker 500 " + parked},
		},
		"threads are not sampled": {
			func(b *builder) {
				b.settings(typeEnter, typePark)
				b.enter(100, 400)
				b.dump(10, dumpTitle+dumpedMain)
				b.dump(9000, dumpTitle+dumpedWorker)
			},
			[]string{"worker 9000 " + parked, "worker 500 gap"},
		},
		"parks are not recorded": {
			func(b *builder) {
				b.settings(typeEnter, typeSample)
				b.enter(100, 400)
				b.dump(10, dumpTitle+dumpedMain)
				b.dump(9000, dumpTitle+dumpedWorker)
			},
			[]string{"worker 9000 " + parked, "worker 500 gap", "worker 9002 gap"},
		},
		"many short waits": {
			func(b *builder) {
				b.settings(typeEnter, typePark, typeSample)
				b.enter(100, 400)
				b.dump(10, dumpTitle+dumpedMain)
				b.dump(9000, dumpTitle+strings.Replace(dumpedWorker, "cpu=1.00ms", "cpu=11.00ms", 1))
			},
			[]string{"worker 500 " + parked, "worker 9002 gap"},
		},
		"an event ends later": {
			func(b *builder) {
				b.settings(typeEnter, typePark, typeSample)
				b.enter(100, 9000)
				b.dump(9000, dumpTitle+dumpedWorker)
			},
			nil,
		},
		"it ran later": {
			func(b *builder) {
				b.settings(typeEnter, typePark, typeSample)
				b.enter(100, 400)
				b.dump(9000, dumpTitle+dumpedWorker)
				b.sample(9500)
			},
			nil,
		},
		"without an event": {
			func(b *builder) {
				b.settings(typeEnter, typePark, typeSample)
				b.dump(10, dumpTitle+dumpedMain+dumpedOther)
				b.enter(100, 400)
				b.dump(9000, dumpTitle+dumpedOther)
			},
			[]string{"other 0 " + blocked},
		},
		"without an event, only in the last dump": {
			func(b *builder) {
				b.settings(typeEnter, typePark, typeSample)
				b.dump(10, dumpTitle+dumpedMain)
				b.enter(100, 400)
				b.dump(9000, dumpTitle+dumpedOther)
			},
			[]string{"other 10 " + blocked},
		},
		"a dump that cannot be read": {
			func(b *builder) {
				b.settings(typeEnter, typePark, typeSample)
				b.enter(100, 400)
				b.dump(9000, "gc.log")
			},
			nil,
		},
		"a large dump": {
			func(b *builder) {
				b.settings(typeEnter, typePark, typeSample)
				b.dump(10, dumpTitle+dumpedMain)
				b.enter(100, 400)
				b.dump(9000, dumpTitle+strings.Repeat(dumpedMain, 2*windowSize/len(dumpedMain))+dumpedWorker)
			},
			[]string{"worker 500 " + parked},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBuilder(true)
			start := *b
			c := readBytes(t, b.chunk(test.events))
			assert.Equal(t, test.want, c.endsOf(&start))
			assert.Empty(t, c.problems)
		})
	}
}

func TestDumpThatIsTooLarge(t *testing.T) {
	c := readBytes(t, newBuilder(true).chunk(func(b *builder) {
		b.settings(typeEnter, typePark, typeSample)
		b.enter(100, 400)
		b.dump(9000, dumpTitle+strings.Repeat(dumpedMain, maxDump/len(dumpedMain))+dumpedWorker)
	}))
	require.Len(t, c.problems, 1)
	assert.Equal(t, "1 thread dumps have more than 16777216 bytes", c.problems[0].What)
	assert.Empty(t, c.of(17, jvmthread.KindPark))
}

func TestDumpOfALaterChunk(t *testing.T) {
	b := newBuilder(true)
	start := *b
	first := b.chunk(func(b *builder) {
		b.settings(typeEnter, typePark, typeSample)
		b.dump(10, dumpTitle+dumpedMain)
		b.enter(100, 400)
		b.dump(90_000, dumpTitle+dumpedWorker)
	})
	b.ticks, b.nanos = b.ticks+100_000, b.nanos+50_000
	second := b.chunk(func(b *builder) {
		b.settings(typeEnter, typePark, typeSample)
		b.dump(10, dumpTitle+dumpedWorker)
		b.sleep(200, 600)
		b.dump(90_000, dumpTitle+dumpedWorker+dumpedOther)
	})
	c := readBytes(t, slices.Concat(first, second))
	require.Len(t, c.sessions, 1)
	assert.Equal(t, []string{
		"worker 500 java.util.concurrent.CountDownLatch$Sync",
		"other 100010 contendedEnter",
		"main 100200 sleepStart", "main 100800 sleepEnd",
	}, c.endsOf(&start))
	gaps := c.of(0, jvmthread.KindGap)
	require.Len(t, gaps, 1, "what main did then is not known")
	assert.Equal(t, "main", c.threads[gaps[0].Thread].Name)
}

// A lock of a dump is that of events if they have one of the class each. The owner in the dump has owned it since it got it.
func TestOwnersOfLocksInDumps(t *testing.T) {
	holder := strings.Replace(dumpedWorker, "\tat com.acme.Startup", "\t- locked <0x000000069e81f010> (a com.acme.Book)\n\tat com.acme.Startup", 1)
	another := strings.NewReplacer("#23", "#24", "other", "another", "f010", "f018").Replace(dumpedOther)
	for name, test := range map[string]struct {
		before, last string
		owner        jvmthread.ThreadID
		found        bool
	}{
		"got while the other waited": {dumpedOther, holder + dumpedOther, jvmthread.NoThread, true},
		"got before":                 {dumpedMain, holder + dumpedOther, 17, true},
		"two of the class":           {dumpedMain, holder + dumpedOther + another, 17, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBuilder(true)
			c := readBytes(t, b.chunk(func(b *builder) {
				b.settings(typeEnter, typePark, typeSample)
				b.enter(100, 400)
				b.dump(4000, dumpTitle+test.before)
				b.dump(9000, dumpTitle+test.last)
			}))
			recorded := c.of(17, jvmthread.KindContendedEnter)
			waits := c.of(23, jvmthread.KindContendedEnter)
			require.Len(t, recorded, 1)
			require.Len(t, waits, 1)
			assert.Equal(t, test.owner, waits[0].Peer)
			assert.Equal(t, test.found, waits[0].Lock == recorded[0].Lock)
		})
	}
}
