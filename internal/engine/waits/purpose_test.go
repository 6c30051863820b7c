// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package waits

import (
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread"
)

func TestWhoHasWork(t *testing.T) {
	const wait, app = "java.lang.Object.wait ", "com.acme.Shop.main"
	for _, test := range []struct {
		name, methods string
		kind          jvmthread.Wait
		want          bool
	}{
		{"puts into a queue", awaits + "java.util.concurrent.ArrayBlockingQueue.put com.acme.Shop.log " + app, jvmthread.WaitQueue, true},
		{"offers through a library", awaits + "java.util.concurrent.LinkedBlockingQueue.offer org.slf4j.Logger.error com.acme.Shop.log " + app, jvmthread.WaitQueue, true},
		{"takes from a queue", awaits + "java.util.concurrent.ArrayBlockingQueue.take com.acme.Shop.loop " + app, jvmthread.WaitQueue, false},
		{"puts into a queue of its own", wait + "com.acme.Box.put com.acme.Shop.fill " + app, jvmthread.WaitObject, true},
		{"takes from a queue of its own", wait + "com.acme.Box.take com.acme.Shop.loop " + app, jvmthread.WaitObject, false},
		{"a method whose name only begins like a known one", wait + "com.acme.Box.address " + app, jvmthread.WaitObject, false},
		{"a database's lock", wait + "org.h2.mvstore.tx.Transaction.waitFor org.h2.jdbc.JdbcStatement.executeUpdate com.acme.Shop.buy " + app, jvmthread.WaitObject, true},
		{"messages of a library", awaits + "org.apache.activemq.Queue.dequeue org.apache.activemq.Consumer.receive com.acme.Shop.listen " + app, jvmthread.WaitCondition, false},
		{"a library's own thread", wait + "org.h2.store.WriterThread.flush", jvmthread.WaitObject, false},
		{"a future", wait + "com.acme.Reply.get " + app, jvmthread.WaitFuture, true},
		{"sleep", "java.lang.Thread.sleep " + app, jvmthread.WaitSleep, false},
	} {
		site := NewRules(Config{}).Site(frames(test.methods))
		if got := site.HasWork(test.kind); got != test.want {
			t.Errorf("%s: %v, want %v (%+v)", test.name, got, test.want, site)
		}
	}
}
