// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

const (
	parks             = "jdk.internal.misc.Unsafe.park java.util.concurrent.locks.LockSupport.park java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire "
	waitsForCondition = "jdk.internal.misc.Unsafe.park java.util.concurrent.locks.LockSupport.park " +
		"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await "
	web = " com.acme.Shop.buy com.acme.Web.handle org.apache.tomcat.A.a org.apache.tomcat.B.b org.apache.tomcat.C.c org.apache.tomcat.D.d " +
		"org.apache.tomcat.E.e java.lang.Thread.run"
	condition = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"
)

// What a thread waits for does not change, although spans leave out most frames that show it.
func TestKindsOfWaitsSurviveBriefStacks(t *testing.T) {
	rules := waits.NewRules(waits.Config{})
	for name, test := range map[string]struct {
		class, frames string
		want          jvmthread.Wait
	}{
		"pool": {
			"java.util.concurrent.SynchronousQueue$TransferQueue", parks + "java.util.concurrent.SynchronousQueue.poll com.zaxxer.hikari.util.ConcurrentBag.borrow " +
				"com.zaxxer.hikari.pool.HikariPool.getConnection com.zaxxer.hikari.pool.HikariPool.getConnection com.zaxxer.hikari.HikariDataSource.getConnection " +
				"org.springframework.jdbc.core.JdbcTemplate.execute" + web, jvmthread.WaitPool,
		},
		"permit": {"java.util.concurrent.Semaphore$NonfairSync", parks + "java.util.concurrent.Semaphore.acquire" + web, jvmthread.WaitPermit},
		"lock": {
			"java.util.concurrent.locks.ReentrantLock$NonfairSync", parks + "java.util.concurrent.locks.ReentrantLock$Sync.lock java.util.concurrent.locks.ReentrantLock.lock" + web,
			jvmthread.WaitLock,
		},
		"queue": {
			condition, waitsForCondition + "java.util.concurrent.LinkedBlockingQueue.take org.springframework.messaging.A.b org.springframework.messaging.A.c" + web,
			jvmthread.WaitQueue,
		},
		"condition": {condition, waitsForCondition + web, jvmthread.WaitCondition},
		"future": {
			"java.util.concurrent.FutureTask", "jdk.internal.misc.Unsafe.park java.util.concurrent.locks.LockSupport.park java.util.concurrent.FutureTask.awaitDone " +
				"java.util.concurrent.FutureTask.get org.springframework.core.A.a org.springframework.core.A.b" + web, jvmthread.WaitFuture,
		},
		"idle": {
			condition, waitsForCondition + "java.util.concurrent.LinkedBlockingQueue.take java.util.concurrent.ThreadPoolExecutor.getTask " +
				"java.util.concurrent.ThreadPoolExecutor.runWorker java.util.concurrent.ThreadPoolExecutor$Worker.run java.lang.Thread.run", jvmthread.WaitIdle,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b symbols.StackBuilder
			b.Begin()
			for i, frame := range strings.Fields(test.frames) {
				b.Add(frame, "X.java", i+1)
				if frame == "com.acme.Shop.buy" {
					b.AddLock("Shop.guard")
				}
			}
			text := b.End(false)
			require.Equal(t, test.want, rules.Kind(jvmthread.StateParked, test.class, text))
			site, brief := rules.Site(text), rules.Brief(text)
			sym := symbols.New(symbols.DefaultLimits())
			texts := stackTexts{symbols: sym}
			got := sym.Stack(texts.id(stackText{brief, site.Function, site.Entry, site.Lock}))
			assert.Equal(t, test.want, rules.Kind(jvmthread.StateParked, test.class, got), "%s\n\nfrom\n%s", got, brief)
			assert.NotContains(t, got, "frames")
			after := rules.Site(got)
			assert.Equal(t, site.Function, after.Function)
			assert.Equal(t, site.Line, after.Line)
			assert.Equal(t, site.Lock, after.Lock)
			assert.Equal(t, site.Entry, after.Entry)
		})
	}
}
