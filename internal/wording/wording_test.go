// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread"
)

func TestSimpleClass(t *testing.T) {
	for class, want := range map[string]string{
		"":                          "?",
		"Plain":                     "Plain",
		"com.acme.OrderBook":        "OrderBook",
		"com.acme.OrderBook$Entry":  "OrderBook$Entry",
		"[I":                        "int[]",
		"[[Lcom.acme.Order;":        "Order[][]",
		"java.lang.Class":           "Class",
		"java.lang.Class<Registry>": "Class<Registry>",
		"java.lang.Class<com.acme.Registry$Entry>":               "Class<Registry$Entry>",
		"java.util.concurrent.locks.ReentrantLock$NonfairSync":   "ReentrantLock",
		"java.util.concurrent.locks.ReentrantReadWriteLock$Sync": "ReentrantReadWriteLock",
	} {
		if have := SimpleClass(class); have != want {
			t.Errorf("%q: have %q, want %q", class, have, want)
		}
	}
}

func TestObjectNamesClassInitialization(t *testing.T) {
	for _, test := range []struct{ class, lock, want string }{
		{"[I", "", "class initialization"},
		{"[I", "Counters.array", "Counters.array"},
		{"[J", "", "long[]"},
		{"", "", ""},
	} {
		if have := Object(jvmthread.WaitLock, test.class, test.lock, ""); have != test.want {
			t.Errorf("%q, %q: have %q, want %q", test.class, test.lock, have, test.want)
		}
	}
}

func TestTitleOfIdleThreads(t *testing.T) {
	const condition = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"
	for _, test := range []struct {
		state                    jvmthread.State
		kind                     jvmthread.Wait
		class, lock, entry, want string
	}{
		{jvmthread.StateParked, jvmthread.WaitIdle, condition, "", "", "idle"},                      // ThreadPoolExecutor.getTask
		{jvmthread.StateParked, jvmthread.WaitTimer, condition, "", "", "idle until the next task"}, // DelayedWorkQueue.take
		{jvmthread.StateParked, jvmthread.WaitIdle, condition, "", "com.acme.Pool.next", "idle"},    // through a library
		{jvmthread.StateWaiting, jvmthread.WaitTimer, "java.util.TaskQueue", "Timer.queue", "", "idle until the next task"},
		{jvmthread.StateParked, jvmthread.WaitQueue, condition, "", "java.util.concurrent.ArrayBlockingQueue.put", "wait for queue ArrayBlockingQueue"},
	} {
		if have := Title(test.state, test.kind, Object(test.kind, test.class, test.lock, test.entry), false); have != test.want {
			t.Errorf("%v in %s: have %q, want %q", test.kind, test.class, have, test.want)
		}
	}
}

func TestUnit(t *testing.T) {
	for _, test := range []struct {
		kind        jvmthread.Wait
		entry, want string
	}{
		{jvmthread.WaitPool, "com.zaxxer.hikari.pool.HikariPool.getConnection", "a connection"},
		{jvmthread.WaitPool, "org.apache.kafka.clients.producer.internals.BufferPool.allocate", "memory"},
		{jvmthread.WaitPool, "org.apache.lucene.index.DocumentsWriterStallControl.waitIfStalled", "memory"},
		{jvmthread.WaitPool, "org.apache.commons.pool2.impl.GenericObjectPool.borrowObject", "an object"},
		{jvmthread.WaitPermit, "java.util.concurrent.Semaphore.acquire", "a permit"},
		{jvmthread.WaitLock, "java.util.concurrent.locks.ReentrantLock.lock", ""},
	} {
		if have := Unit(test.kind, test.entry); have != test.want {
			t.Errorf("%s: have %q, want %q", test.entry, have, test.want)
		}
	}
}
