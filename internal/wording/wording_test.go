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
		"java.util.concurrent.ConcurrentHashMap$ReservationNode": "ConcurrentHashMap",
		"com.acme.Registry.<clinit>":                             "class initialization of Registry",
		"com.acme.Order$1":                                       "Order$1",
		"com.acme.Order2":                                        "Order2",
		"com.acme.Order$$Lambda$14/0x0000000800c03":              "Order$$Lambda",
		"com.acme.Order$$Lambda/0x00007f2a10003":                 "Order$$Lambda",
		"com.acme.Order$$Lambda.0x00007f2a10003":                 "Order$$Lambda",
		"com.acme.Order$$Lambda$14":                              "Order$$Lambda",
		"com.acme.Hidden+0x00007f2a10003":                        "Hidden",
		"com.acme.Order$$EnhancerBySpringCGLIB$$1a":              "Order$$EnhancerBySpringCGLIB",
		"com.acme.Order$$SpringCGLIB$$0":                         "Order$$SpringCGLIB",
		"com.acme.Order$HibernateProxy$Xy12":                     "Order$HibernateProxy",
		"jdk.proxy2.$Proxy12":                                    "$Proxy",
		"com.acme.Order$ProxyFactory":                            "Order$ProxyFactory",
		"jdk.internal.reflect.GeneratedMethodAccessor7":          "GeneratedMethodAccessor",
		"java.util.concurrent.locks.ReentrantReadWriteLock$Sync": "ReentrantReadWriteLock",
	} {
		if have := SimpleClass(class); have != want {
			t.Errorf("%q: have %q, want %q", class, have, want)
		}
	}
}

func TestStableFunction(t *testing.T) {
	for function, want := range map[string]string{
		"run":                      "run",
		"com.acme.Order.add":       "com.acme.Order.add",
		"com.acme.Order$1.compare": "com.acme.Order$1.compare",
		"com.acme.Order$$Lambda.0x00007f2a10003.run":           "com.acme.Order$$Lambda.run",
		"com.acme.Order$$Lambda$14/0x0000000800c03.run":        "com.acme.Order$$Lambda.run",
		"jdk.internal.reflect.GeneratedMethodAccessor7.invoke": "jdk.internal.reflect.GeneratedMethodAccessor.invoke",
	} {
		if have := StableFunction(function); have != want {
			t.Errorf("%q: have %q, want %q", function, have, want)
		}
	}
}

func TestClassName(t *testing.T) {
	for class, want := range map[string]string{
		"":                              "",
		"[I":                            "int[]",
		"[[Lcom.acme.Order;":            "com.acme.Order[][]",
		"com.acme.Order":                "com.acme.Order",
		"java.lang.Class<[I>":           "java.lang.Class<int[]>",
		"java.lang.Class<com.acme.A$B>": "java.lang.Class<com.acme.A$B>",
	} {
		if have := ClassName(class); have != want {
			t.Errorf("%q: have %q, want %q", class, have, want)
		}
	}
}

func TestObjectNamesClassInitialization(t *testing.T) {
	for _, test := range []struct{ class, lock, want string }{
		{"[I", "", "class initialization"},
		{"[I", "Counters.array", "Counters.array"},
		{"com.acme.Registry.<clinit>", "", "class initialization of Registry"},
		{"com.acme.Registry.<clinit>", "Orders.registry", "class initialization of Registry"},
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
		{jvmthread.StateParked, jvmthread.WaitPool, condition, "AbstractConnPool.condition", "org.apache.http.pool.AbstractConnPool$2.get", "wait for pool AbstractConnPool"},
		{jvmthread.StateParked, jvmthread.WaitSleep, "java.lang.VirtualThread", "Thread.currentThread()", "", "sleep"},
	} {
		if have := Title(test.state, test.kind, Object(test.kind, test.class, test.lock, test.entry), false); have != test.want {
			t.Errorf("%v in %s: have %q, want %q", test.kind, test.class, have, test.want)
		}
	}
}

func TestWhatAThreadDoesInASystemCall(t *testing.T) {
	for _, test := range []struct {
		kind                            jvmthread.Wait
		class, function, doing, inTable string
	}{
		{jvmthread.WaitIO, "reading from 10.0.0.7:5432", "com.acme.Db.query", "reading from 10.0.0.7:5432 in Db.query", "reading from 10.0.0.7:5432"},
		{jvmthread.WaitIO, "waiting for process 4711 to end", "", "waiting for process 4711 to end", "waiting for process 4711 to end"},
		{jvmthread.WaitIdle, "waiting for the network", "", "waiting for the network", "waiting for the network"},
		{jvmthread.WaitIO, "java.lang.ProcessImpl", "com.acme.Zip.pack", "waiting for a process to end in Zip.pack", "waiting for a process to end"},
		{jvmthread.WaitIO, "", "com.acme.Db.query", "waiting for I/O in Db.query", "wait for I/O"},
	} {
		object := Object(test.kind, test.class, "", "")
		if have := Doing(jvmthread.StateParked, test.kind, object, test.function); have != test.doing {
			t.Errorf("%s: does %q, want %q", test.class, have, test.doing)
		}
		if have := Title(jvmthread.StateParked, test.kind, object, false); have != test.inTable {
			t.Errorf("%s: title %q, want %q", test.class, have, test.inTable)
		}
	}
	if have := SimpleClass("reading from a.b/c.txt"); have != "reading from a.b/c.txt" {
		t.Errorf("have %q", have)
	}
}

func TestLimiterOfARateIsTheLibrary(t *testing.T) {
	const entry = "com.google.common.util.concurrent.RateLimiter.acquire"
	if have := Object(jvmthread.WaitPermit, "", "", entry); have != "RateLimiter" {
		t.Errorf("have %q", have)
	}
	if have := Object(jvmthread.WaitPermit, "java.util.concurrent.Semaphore", "", entry); have != "Semaphore" {
		t.Errorf("have %q", have)
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
		{jvmthread.WaitPool, "org.apache.http.pool.AbstractConnPool$2.get", "a connection"},
		{jvmthread.WaitPool, "redis.clients.jedis.JedisPool.getResource", "a connection"},
		{jvmthread.WaitPermit, "java.util.concurrent.Semaphore.acquire", "a permit"},
		{jvmthread.WaitLock, "java.util.concurrent.locks.ReentrantLock.lock", ""},
	} {
		if have := Unit(test.kind, test.entry); have != test.want {
			t.Errorf("%s: have %q, want %q", test.entry, have, test.want)
		}
	}
}
