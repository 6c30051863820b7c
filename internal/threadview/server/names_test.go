// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// The overview has the colors of the lanes: who waits for a ReentrantLock is blocked. Lanes name what the thread waited for.
func TestOverviewAndLanesKnowContendedParks(t *testing.T) {
	f := reportAndMatchers(t, time.Second)
	busy := fmt.Sprintf("?from=%d&to=%d", 200*ms, 210*ms)
	overview := ask[viewapi.Minimap](f, "/minimap"+busy+"&width=1")
	assert.Equal(t, []int64{3 * 10 * ms}, overview.Time[jvmthread.StateBlocked])
	assert.Equal(t, []int64{10 * ms}, overview.Time[store.StateIdle], "the worker without a task")
	labels := map[string]bool{}
	for _, lane := range ask[viewapi.Lanes](f, "/lanes").Lanes {
		for _, label := range lane.Labels {
			labels[label.Text] = true
			assert.GreaterOrEqual(t, lane.Width[label.Run], 32, label.Text)
		}
	}
	assert.Contains(t, labels, "blocked OrderBook.lock")
	assert.Contains(t, labels, "idle")
}

// Rows of contended waits say which locks and pools they are for, over whole blocks and over parts of them.
func TestTablesNameLocksAndPools(t *testing.T) {
	f := reportAndMatchers(t, 170*time.Millisecond)
	for _, span := range []string{"", "?from=150000000&to=1900000000"} {
		classes := map[string]viewapi.ClassRow{}
		for _, row := range ask[viewapi.Classes](f, "/classes"+span).Classes {
			classes[row.Class] = row
		}
		require.Len(t, classes, 3)
		lock := classes["java.util.concurrent.locks.ReentrantLock$NonfairSync"]
		assert.Equal(t, "lock", lock.Kind)
		assert.Equal(t, []string{"OrderBook.lock"}, lock.Names)
		pool := classes["java.util.concurrent.SynchronousQueue"]
		assert.Equal(t, "pool", pool.Kind)
		assert.Equal(t, []string{"HikariPool"}, pool.Names)
		idle := classes["java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"]
		assert.Empty(t, idle.Kind)
		assert.Empty(t, idle.Names)
		callers := map[string]viewapi.CallerRow{}
		for _, row := range ask[viewapi.Callers](f, "/callers"+span).Callers {
			callers[row.Name] = row
		}
		require.Len(t, callers, 2)
		assert.Equal(t, []string{"com.acme.Matcher.match", "lock"}, []string{callers["OrderBook.lock"].Method, callers["OrderBook.lock"].Wait})
		assert.Equal(t, []string{"com.acme.Shop.buy", "pool"}, []string{callers["HikariPool"].Method, callers["HikariPool"].Wait})
	}
}

// The lock that the JVM takes to initialize a class has no name in the source. An array of the program that has one keeps it.
func TestTablesNameTheInitializationOfClasses(t *testing.T) {
	const in = "at com.acme.Counters.get(Counters.java:9)\n"
	for lock, want := range map[string]string{"": "class initialization", "- lock Counters.array\n": "Counters.array"} {
		sym := symbols.New(symbols.DefaultLimits())
		array := jvmthread.LockID{Class: sym.InternClass("[I"), Hash: 0x1417}
		f := fixtureOf(t, sym, []jvmthread.Event{
			{Time: 100, Thread: 1, Kind: jvmthread.KindThreadStart},
			{Time: 100, Thread: 2, Kind: jvmthread.KindThreadStart},
			{Time: 200, Thread: 2, Peer: 1, Lock: array, Kind: jvmthread.KindContendedEnter, Stack: sym.InternStack(in + lock)},
			{Time: 900, Thread: 2, Lock: array, Kind: jvmthread.KindContendedEntered},
			{Time: 1000, Thread: 1, Kind: jvmthread.KindThreadEnd},
			{Time: 1000, Thread: 2, Kind: jvmthread.KindThreadEnd},
		}, time.Hour)
		classes := ask[viewapi.Classes](f, "/classes").Classes
		require.Len(t, classes, 1)
		assert.Equal(t, []string{want}, classes[0].Names)
		locks := ask[viewapi.Locks](f, "/locks").Locks
		require.Len(t, locks, 1)
		assert.Equal(t, want, locks[0].Name)
		callers := ask[viewapi.Callers](f, "/callers").Callers
		require.Len(t, callers, 1)
		assert.Equal(t, want, callers[0].Name)
	}
}

// A thread that waits for a ReentrantLock all the time is blocked rather than idle or parked; a worker without a task is idle.
func TestIdleThreadsAreToldByKind(t *testing.T) {
	f := reportAndMatchers(t, 170*time.Millisecond)
	names := func(parameter string) (out []string) {
		for _, row := range ask[viewapi.Threads](f, fmt.Sprintf("/threads?from=%d&to=%d&%s", 200*ms, 210*ms, parameter)).Threads {
			out = append(out, row.Name)
		}
		return out
	}
	matchers := []string{"matcher-1", "matcher-2", "matcher-3"}
	assert.Equal(t, matchers, names("hide=idle"))
	assert.Equal(t, matchers, names("state=blocked"))
	assert.Equal(t, []string{"pool-1-thread-1"}, names("state=idle"))
	assert.Empty(t, names("state=parked"))
	for _, row := range ask[viewapi.Threads](f, fmt.Sprintf("/threads?from=%d&to=%d", 200*ms, 210*ms)).Threads {
		assert.Equal(t, row.Name == "pool-1-thread-1", row.OnlyIdle, row.Name)
		assert.Equal(t, row.OnlyIdle, row.Idle.Time == row.Time, row.Name)
	}
}

// The table as a file has the names, too.
func TestFileOfClassesHasNames(t *testing.T) {
	f := reportAndMatchers(t, time.Second)
	file := string(f.file("/export?table=classes&format=csv"))
	assert.Contains(t, file, "class,kind,names,")
	assert.Contains(t, file, "java.util.concurrent.SynchronousQueue,pool,HikariPool,")
}
