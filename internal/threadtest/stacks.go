// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

const (
	stackLocks   = 8
	stackWaiters = 64
)

// ManyStacks is a program that waits for locks at so many stacks, once at each, while their owners sleep at as many others.
func ManyStacks(sym *symbols.Table, stacks int) []jvmthread.Event {
	const ms = 1_000_000
	rng := rand.New(rand.NewPCG(1, uint64(stacks)))
	var events []jvmthread.Event
	for i := range stackLocks + stackWaiters {
		th := jvmthread.Thread{ID: jvmthread.ThreadID(i + 1), Name: fmt.Sprintf("owner-%d", i+1), Group: "main"}
		if i >= stackLocks {
			th.Name = fmt.Sprintf("http-nio-8080-exec-%d", i+1-stackLocks)
		}
		sym.SetThread(th)
		events = append(events, jvmthread.Event{Time: 1, Thread: th.ID, Kind: jvmthread.KindThreadStart})
	}
	var locks [stackLocks]jvmthread.LockID
	for i := range locks {
		locks[i] = jvmthread.LockID{Class: sym.InternClass(fmt.Sprintf("com.acme.warehouse.inventory.Shelf%d", i)), Hash: uint32(0x100 + i)}
	}
	for i := range stacks {
		at := jvmthread.Time(ms * (i + 1))
		n := i % stackLocks
		owner, waiter := jvmthread.ThreadID(n+1), jvmthread.ThreadID(stackLocks+1+i%stackWaiters)
		length := ms/50 + jvmthread.Time(rng.ExpFloat64()*ms*float64(stackLocks-n))
		asleep := sym.InternStack("at java.lang.Thread.sleep(Native Method)\n" + deepStack(rng, i, "warehouse.store.Writer"))
		events = append(events,
			jvmthread.Event{Time: at, Thread: owner, Kind: jvmthread.KindSleepStart, Stack: asleep},
			jvmthread.Event{Time: at + 1, Thread: waiter, Kind: jvmthread.KindContendedEnter, Lock: locks[n], Peer: owner, Stack: sym.InternStack(deepStack(rng, i, "shop.order.Orders"))},
			jvmthread.Event{Time: at + 2 + min(length, 40*ms), Thread: waiter, Kind: jvmthread.KindContendedEntered, Lock: locks[n]},
			jvmthread.Event{Time: at + 15*ms/2, Thread: owner, Kind: jvmthread.KindSleepEnd},
		)
	}
	slices.SortStableFunc(events, func(a, b jvmthread.Event) int { return int(a.Time - b.Time) })
	return events
}

// deepStack is a stack of a number, which has its innermost frames in common with similar numbers.
func deepStack(rng *rand.Rand, number int, where string) string {
	var b strings.Builder
	depth := 8 + rng.IntN(8)
	for d := range depth {
		branch := number >> max(0, 13-2*d)
		if d == 0 {
			branch = number % 7
		}
		fmt.Fprintf(&b, "at com.acme.%s$Step%d.call%d(Step.java:%d)\n", where, d, branch, 10+d)
	}
	b.WriteString("at java.lang.Thread.run(Thread.java:840)\n")
	return b.String()
}
