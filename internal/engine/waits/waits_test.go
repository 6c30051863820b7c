// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package waits

import (
	"strings"
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// frames makes a stack of methods.
func frames(methods string) string {
	var b strings.Builder
	for m := range strings.FieldsSeq(methods) {
		b.WriteString("at " + m + "(X.java:7)\n")
	}
	return strings.TrimSpace(b.String())
}

const (
	parkFrames = "jdk.internal.misc.Unsafe.park java.util.concurrent.locks.LockSupport.park "
	condition  = conditionClass
	awaits     = parkFrames + "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await "
)

// The stacks are those of JDK 17 and 25 and of the libraries' current versions, shortened in their middle.
func TestKindsAndSites(t *testing.T) {
	const app = "com.acme.Shop.buy com.acme.Shop.main"
	tests := []struct {
		name         string
		state        jvmthread.State
		class, stack string
		kind         jvmthread.Wait
		site, entry  string
	}{
		{"monitor", jvmthread.StateBlocked, "com.acme.Stock", app, jvmthread.WaitLock, "com.acme.Shop.buy", ""},
		{
			"ReentrantLock", jvmthread.StateParked, "java.util.concurrent.locks.ReentrantLock$NonfairSync",
			parkFrames + "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire java.util.concurrent.locks.ReentrantLock.lock " + app,
			jvmthread.WaitLock, "com.acme.Shop.buy", "java.util.concurrent.locks.ReentrantLock.lock",
		},
		{
			"Semaphore", jvmthread.StateParked, "java.util.concurrent.Semaphore$NonfairSync", parkFrames + "java.util.concurrent.Semaphore.acquire " + app,
			jvmthread.WaitPermit, "com.acme.Shop.buy", "java.util.concurrent.Semaphore.acquire",
		},
		{
			"connection of another version", jvmthread.StateParked, condition,
			awaits + `org.apache.hc.core5.concurrent.BasicFuture.get org.apache.hc.core5.pool.StrictConnPool$1.get
				org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager$3.get org.apache.hc.client5.http.impl.classic.InternalHttpClient.doExecute ` + app,
			jvmthread.WaitPool, "com.acme.Shop.buy", "org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager$3.get",
		},
		{
			"end of an executor of virtual threads", jvmthread.StateParked, "java.util.concurrent.CountDownLatch$Sync",
			parkFrames + "java.util.concurrent.CountDownLatch.await java.util.concurrent.ThreadPerTaskExecutor.awaitTermination " + app,
			jvmthread.WaitFuture, "com.acme.Shop.buy", "java.util.concurrent.ThreadPerTaskExecutor.awaitTermination",
		},
		{
			"future of an unknown library", jvmthread.StateWaiting, "org.example.ReplyFuture",
			"java.lang.Object.wait org.example.ReplyFuture.await org.example.ReplyFuture.get org.example.Client.ask " + app,
			jvmthread.WaitFuture, "org.example.ReplyFuture.await", "",
		},
		{
			"full queue of a library", jvmthread.StateParked, condition,
			awaits + "java.util.concurrent.ArrayBlockingQueue.put org.apache.logging.log4j.core.appender.AsyncAppender.append org.apache.logging.log4j.Logger.error " + app,
			jvmthread.WaitQueue, "com.acme.Shop.buy", "java.util.concurrent.ArrayBlockingQueue.put",
		},
		{
			"full ring buffer", jvmthread.StateParked, "",
			parkFrames + "com.lmax.disruptor.MultiProducerSequencer.next com.lmax.disruptor.RingBuffer.next " + app,
			jvmthread.WaitQueue, "com.acme.Shop.buy", "com.lmax.disruptor.MultiProducerSequencer.next",
		},
		{
			"connection", jvmthread.StateParked, "java.util.concurrent.SynchronousQueue$TransferQueue",
			parkFrames + `java.util.concurrent.SynchronousQueue.poll com.zaxxer.hikari.util.ConcurrentBag.borrow
				com.zaxxer.hikari.pool.HikariPool.getConnection com.zaxxer.hikari.pool.HikariPool.getConnection com.zaxxer.hikari.HikariDataSource.getConnection
				org.springframework.jdbc.core.JdbcTemplate.execute com.acme.Shop$$SpringCGLIB$$0.buy ` + app,
			jvmthread.WaitPool, "com.acme.Shop.buy", "com.zaxxer.hikari.pool.HikariPool.getConnection",
		},
		{
			"connection in a stack that is cut", jvmthread.StateParked, "java.util.concurrent.SynchronousQueue$TransferQueue",
			parkFrames + "java.util.concurrent.SynchronousQueue.poll com.zaxxer.hikari.pool.HikariPool.getConnection com.zaxxer.hikari.HikariDataSource.getConnection",
			jvmthread.WaitPool, "com.zaxxer.hikari.pool.HikariPool.getConnection", "com.zaxxer.hikari.pool.HikariPool.getConnection",
		},
		{
			"connection of an HTTP client", jvmthread.StateParked, condition,
			awaits + `org.apache.http.pool.AbstractConnPool.getPoolEntryBlocking org.apache.http.pool.AbstractConnPool$2.get
				org.apache.http.impl.conn.PoolingHttpClientConnectionManager.leaseConnection org.apache.http.impl.conn.PoolingHttpClientConnectionManager$1.get
				org.apache.http.impl.execchain.MainClientExec.execute org.apache.http.impl.client.CloseableHttpClient.execute ` + app,
			jvmthread.WaitPool, "com.acme.Shop.buy", "org.apache.http.impl.conn.PoolingHttpClientConnectionManager$1.get",
		},
		{
			"connection to Redis", jvmthread.StateParked, condition,
			awaits + `org.apache.commons.pool2.impl.LinkedBlockingDeque.takeFirst org.apache.commons.pool2.impl.GenericObjectPool.borrowObject
				redis.clients.jedis.util.Pool.getResource redis.clients.jedis.JedisPool.getResource ` + app,
			jvmthread.WaitPool, "com.acme.Shop.buy", "redis.clients.jedis.JedisPool.getResource",
		},
		{
			"acceptor whose turn it is not", jvmthread.StateParked, "java.util.concurrent.locks.ReentrantLock$NonfairSync",
			parkFrames + `java.util.concurrent.locks.ReentrantLock.lock sun.nio.ch.NioSocketImpl.accept java.net.ServerSocket.implAccept
				java.net.ServerSocket.accept ` + app,
			jvmthread.WaitIdle, "sun.nio.ch.NioSocketImpl.accept", "",
		},
		{
			"producer's buffer", jvmthread.StateParked, condition, awaits + "org.apache.kafka.clients.producer.internals.BufferPool.allocate org.apache.kafka.clients.producer.KafkaProducer.send " + app,
			jvmthread.WaitPool, "com.acme.Shop.buy", "org.apache.kafka.clients.producer.internals.BufferPool.allocate",
		},
		{
			"consumer without records", jvmthread.StateParked, condition,
			awaits + `org.apache.kafka.clients.consumer.internals.FetchBuffer.awaitNotEmpty org.apache.kafka.clients.consumer.internals.AsyncKafkaConsumer.poll
				org.apache.kafka.clients.consumer.KafkaConsumer.poll ` + app,
			jvmthread.WaitQueue, "com.acme.Shop.buy", "org.apache.kafka.clients.consumer.KafkaConsumer.poll",
		},
		{
			"heartbeat", jvmthread.StateWaiting, "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
			"java.lang.Object.wait0 java.lang.Object.wait org.apache.kafka.clients.consumer.internals.AbstractCoordinator$HeartbeatThread.run",
			jvmthread.WaitTimer, "org.apache.kafka.clients.consumer.internals.AbstractCoordinator$HeartbeatThread.run", "java.lang.Object.wait",
		},
		{
			"lock of the heartbeat", jvmthread.StateParked, "java.util.concurrent.locks.ReentrantLock$FairSync",
			parkFrames + `java.util.concurrent.locks.ReentrantLock.lock org.apache.kafka.clients.consumer.internals.ConsumerNetworkClient.poll
				org.apache.kafka.clients.consumer.internals.AbstractCoordinator$HeartbeatThread.run`,
			jvmthread.WaitLock, "org.apache.kafka.clients.consumer.internals.ConsumerNetworkClient.poll", "java.util.concurrent.locks.ReentrantLock.lock",
		},
		{
			"topic's metadata", jvmthread.StateWaiting, "org.apache.kafka.clients.producer.internals.ProducerMetadata",
			"java.lang.Object.wait org.apache.kafka.common.utils.SystemTime.waitObject org.apache.kafka.clients.producer.KafkaProducer.waitOnMetadata",
			jvmthread.WaitFuture, "org.apache.kafka.clients.producer.KafkaProducer.waitOnMetadata", "",
		},
		{
			"broker without requests", jvmthread.StateParked, condition,
			awaits + "java.util.concurrent.ArrayBlockingQueue.poll kafka.network.RequestChannel.receiveRequest kafka.server.KafkaRequestHandler.run java.lang.Thread.run",
			jvmthread.WaitIdle, "kafka.network.RequestChannel.receiveRequest", "",
		},
		{
			"selector of the broker", jvmthread.StateBlocked, "java.lang.Object",
			"sun.nio.ch.EPollSelectorImpl.clearInterrupt sun.nio.ch.EPollSelectorImpl.doSelect org.apache.kafka.common.network.Selector.poll kafka.network.Processor.poll",
			jvmthread.WaitLock, "org.apache.kafka.common.network.Selector.poll", "sun.nio.ch.EPollSelectorImpl.doSelect",
		},
		{
			"broker that starts", jvmthread.StateParked, "java.util.concurrent.FutureTask",
			parkFrames + "java.util.concurrent.FutureTask.awaitDone java.util.concurrent.FutureTask.get kafka.log.LogManager.loadLogs java.util.concurrent.FutureTask.run java.lang.Thread.run kafka.Kafka$.main",
			jvmthread.WaitFuture, "kafka.log.LogManager.loadLogs", "java.util.concurrent.FutureTask.get",
		},
		{
			"broker's timer", jvmthread.StateParked, condition,
			awaits + "java.util.concurrent.DelayQueue.poll org.apache.kafka.server.util.timer.SystemTimer.advanceClock java.lang.Thread.run",
			jvmthread.WaitTimer, "org.apache.kafka.server.util.timer.SystemTimer.advanceClock", "",
		},
		{
			"lock of the broker's queue", jvmthread.StateParked, "java.util.concurrent.locks.ReentrantLock$NonfairSync",
			parkFrames + "java.util.concurrent.locks.ReentrantLock.lockInterruptibly java.util.concurrent.ArrayBlockingQueue.poll kafka.network.RequestChannel.receiveRequest",
			jvmthread.WaitLock, "kafka.network.RequestChannel.receiveRequest", "",
		},
		{
			"queue", jvmthread.StateParked, condition, awaits + "java.util.concurrent.ArrayBlockingQueue.put " + app,
			jvmthread.WaitQueue, "com.acme.Shop.buy", "java.util.concurrent.ArrayBlockingQueue.put",
		},
		{
			"lock of a queue", jvmthread.StateParked, "java.util.concurrent.locks.ReentrantLock$NonfairSync",
			parkFrames + "java.util.concurrent.locks.ReentrantLock.lockInterruptibly java.util.concurrent.ArrayBlockingQueue.put " + app,
			jvmthread.WaitLock, "com.acme.Shop.buy", "java.util.concurrent.ArrayBlockingQueue.put",
		},
		{
			"idle worker", jvmthread.StateParked, condition,
			awaits + "java.util.concurrent.LinkedBlockingQueue.take java.util.concurrent.ThreadPoolExecutor.getTask java.util.concurrent.ThreadPoolExecutor.runWorker java.lang.Thread.run",
			jvmthread.WaitIdle, "java.util.concurrent.ThreadPoolExecutor.getTask", "",
		},
		{
			"idle worker with a Runnable of the application", jvmthread.StateParked, condition,
			awaits + "java.util.concurrent.LinkedBlockingQueue.take java.util.concurrent.ThreadPoolExecutor.getTask java.util.concurrent.ThreadPoolExecutor.runWorker com.acme.Named.lambda$newThread$0 java.lang.Thread.run",
			jvmthread.WaitIdle, "java.util.concurrent.ThreadPoolExecutor.getTask", "",
		},
		{
			"scheduled worker", jvmthread.StateParked, condition,
			awaits + "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take java.util.concurrent.ThreadPoolExecutor.getTask java.lang.Thread.run",
			jvmthread.WaitTimer, "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take", "",
		},
		{
			"a worker's task waits", jvmthread.StateParked, condition, awaits + "com.acme.Job.run java.util.concurrent.ThreadPoolExecutor.runWorker java.lang.Thread.run",
			jvmthread.WaitCondition, "com.acme.Job.run", "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await",
		},
		{
			"future", jvmthread.StateParked, "java.util.concurrent.CompletableFuture$Signaller",
			parkFrames + "java.util.concurrent.CompletableFuture$Signaller.block java.util.concurrent.ForkJoinPool.managedBlock java.util.concurrent.CompletableFuture.waitingGet java.util.concurrent.CompletableFuture.join " + app,
			jvmthread.WaitFuture, "com.acme.Shop.buy", "java.util.concurrent.CompletableFuture.join",
		},
		{
			"SynchronousQueue of JDK 17", jvmthread.StateParked, "java.util.concurrent.SynchronousQueue$TransferStack",
			parkFrames + "java.util.concurrent.SynchronousQueue$TransferStack$SNode.block java.util.concurrent.ForkJoinPool.managedBlock java.util.concurrent.SynchronousQueue$TransferStack.transfer java.util.concurrent.SynchronousQueue.put " + app,
			jvmthread.WaitQueue, "com.acme.Shop.buy", "java.util.concurrent.SynchronousQueue.put",
		},
		{"timer thread", jvmthread.StateWaiting, "java.util.TaskQueue", "java.lang.Object.wait java.util.TimerThread.mainLoop java.util.TimerThread.run", jvmthread.WaitTimer, "java.util.TimerThread.mainLoop", ""},
		{"worker of Quartz", jvmthread.StateWaiting, "java.lang.Object", "java.lang.Object.wait org.quartz.simpl.SimpleThreadPool$WorkerThread.run", jvmthread.WaitIdle, "org.quartz.simpl.SimpleThreadPool$WorkerThread.run", ""},
		{"job of Quartz", jvmthread.StateWaiting, "java.lang.Object", "java.lang.Object.wait com.acme.Shop.buy org.quartz.core.JobRunShell.run org.quartz.simpl.SimpleThreadPool$WorkerThread.run", jvmthread.WaitObject, "com.acme.Shop.buy", "java.lang.Object.wait"},
		{"system call", jvmthread.StateParked, "reading from 10.0.0.7:5432", "java.io.FileInputStream.read java.util.concurrent.FutureTask.get " + app, jvmthread.WaitIO, "com.acme.Shop.buy", "java.util.concurrent.FutureTask.get"},
		{"selector", jvmthread.StateParked, "waiting for the network", "", jvmthread.WaitIdle, "", ""},
		{"process", jvmthread.StateWaiting, "java.lang.ProcessImpl", "java.lang.Object.wait java.lang.ProcessImpl.waitFor " + app, jvmthread.WaitIO, "com.acme.Shop.buy", "java.lang.ProcessImpl.waitFor"},
		{"Object.wait", jvmthread.StateWaiting, "com.acme.Stock", "java.lang.Object.wait0 java.lang.Object.wait " + app, jvmthread.WaitObject, "com.acme.Shop.buy", "java.lang.Object.wait"},
		{"virtual thread sleeps", jvmthread.StateParked, "", "java.lang.VirtualThread.parkNanos java.lang.VirtualThread.sleepNanos java.lang.Thread.sleep " + app, jvmthread.WaitSleep, "com.acme.Shop.buy", "java.lang.VirtualThread.sleepNanos"},
		{"unknown synchronizer", jvmthread.StateParked, "com.acme.Gate$Sync", parkFrames + app, jvmthread.WaitPark, "com.acme.Shop.buy", "java.util.concurrent.locks.LockSupport.park"},
		{"a library's own thread", jvmthread.StateWaiting, "", "java.lang.Object.wait org.h2.mvstore.MVStore$BackgroundWriterThread.run", jvmthread.WaitObject, "org.h2.mvstore.MVStore$BackgroundWriterThread.run", "java.lang.Object.wait"},
		{
			"body of a request", jvmthread.StateWaiting, "java.lang.Object",
			`java.lang.Object.wait0 java.lang.Object.wait org.apache.tomcat.util.net.NioEndpoint$NioSocketWrapper.fillReadBuffer
				org.apache.tomcat.util.net.NioEndpoint$NioSocketWrapper.read org.apache.coyote.http11.Http11InputBuffer.fill org.apache.catalina.connector.InputBuffer.read ` + app,
			jvmthread.WaitIO, "com.acme.Shop.buy", "org.apache.catalina.connector.InputBuffer.read",
		},
		{
			"lock of a Tomcat connection", jvmthread.StateParked, "java.util.concurrent.locks.ReentrantLock$NonfairSync",
			parkFrames + "java.util.concurrent.locks.ReentrantLock.lock org.apache.tomcat.util.net.NioEndpoint$NioSocketWrapper.close",
			jvmthread.WaitLock, "org.apache.tomcat.util.net.NioEndpoint$NioSocketWrapper.close", "java.util.concurrent.locks.ReentrantLock.lock",
		},
		{
			"body of a request, NIO2", jvmthread.StateParked, "java.util.concurrent.Semaphore$NonfairSync",
			parkFrames + "java.util.concurrent.Semaphore.acquire org.apache.tomcat.util.net.Nio2Endpoint$Nio2SocketWrapper.read org.apache.coyote.http11.Http11InputBuffer.fill " + app,
			jvmthread.WaitIO, "com.acme.Shop.buy", "org.apache.coyote.http11.Http11InputBuffer.fill",
		},
		{
			"main of an embedded Tomcat", jvmthread.StateSleeping, "",
			"java.lang.Thread.sleep0 java.lang.Thread.sleep org.apache.catalina.core.StandardServer.await com.acme.Shop.main",
			jvmthread.WaitIdle, "org.apache.catalina.core.StandardServer.await", "",
		},
		{
			"acceptor at the limit of connections", jvmthread.StateParked, "org.apache.tomcat.util.threads.LimitLatch$Sync",
			parkFrames + "org.apache.tomcat.util.threads.LimitLatch.countUpOrAwait org.apache.tomcat.util.net.Acceptor.run java.lang.Thread.run",
			jvmthread.WaitLatch, "org.apache.tomcat.util.threads.LimitLatch.countUpOrAwait", "",
		},
		{
			"commit of an index", jvmthread.StateBlocked, "java.lang.Object",
			"org.apache.lucene.index.IndexWriter.commitInternal org.apache.lucene.index.IndexWriter.commit " + app,
			jvmthread.WaitLock, "com.acme.Shop.buy", "org.apache.lucene.index.IndexWriter.commit",
		},
		{
			"merges of a commit", jvmthread.StateParked, "java.util.concurrent.CompletableFuture$Signaller",
			parkFrames + `java.util.concurrent.CompletableFuture.timedGet java.util.concurrent.CompletableFuture.get
				org.apache.lucene.index.MergePolicy$MergeSpecification.await org.apache.lucene.index.IndexWriter.prepareCommitInternal
				org.apache.lucene.index.IndexWriter.commit ` + app,
			jvmthread.WaitFuture, "com.acme.Shop.buy", "org.apache.lucene.index.MergePolicy$MergeSpecification.await",
		},
		{
			"memory of an index", jvmthread.StateWaiting, "org.apache.lucene.index.DocumentsWriterStallControl",
			"java.lang.Object.wait org.apache.lucene.index.DocumentsWriterStallControl.waitIfStalled org.apache.lucene.index.IndexWriter.addDocument " + app,
			jvmthread.WaitPool, "com.acme.Shop.buy", "org.apache.lucene.index.DocumentsWriterStallControl.waitIfStalled",
		},
		{"no stack", jvmthread.StateParked, "java.util.concurrent.CountDownLatch$Sync", "", jvmthread.WaitLatch, "", ""},
		{"running", jvmthread.StateRunnable, "", app, jvmthread.WaitNone, "com.acme.Shop.buy", ""},
	}
	rules := NewRules(Config{})
	for _, test := range tests {
		text := frames(test.stack)
		if kind := rules.Kind(test.state, test.class, text); kind != test.kind {
			t.Errorf("%s: have kind %v, want %v", test.name, kind, test.kind)
		}
		if site := rules.Site(text); site.Function != test.site || site.Entry != test.entry {
			t.Errorf("%s: have %s through %q, want %s through %q", test.name, site.Function, site.Entry, test.site, test.entry)
		}
	}
}

func TestOwnerMakesALock(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	iv := jvmthread.Interval{State: jvmthread.StateParked, Peer: 7, Lock: jvmthread.LockID{Class: sym.InternClass("com.acme.Gate$Sync")}}
	if kind := NewRules(Config{}).Of(sym).Wait(&iv); kind != jvmthread.WaitLock {
		t.Errorf("parked while another thread owned the synchronizer: %v", kind)
	}
	accept := iv
	accept.Stack = sym.InternStack(frames(parkFrames + "java.util.concurrent.locks.ReentrantLock.lock sun.nio.ch.NioSocketImpl.accept com.acme.Server.run"))
	if kind := NewRules(Config{}).Of(sym).Wait(&accept); kind != jvmthread.WaitIdle {
		t.Errorf("parked while another thread accepts connections: %v", kind)
	}
	iv.Peer = jvmthread.NoThread
	if kind := NewRules(Config{}).Of(sym).Wait(&iv); kind != jvmthread.WaitPark {
		t.Errorf("parked on an unknown synchronizer: %v", kind)
	}
}

func TestConfiguredPackages(t *testing.T) {
	text := frames("java.lang.Object.wait com.acme.framework.Base.get com.acme.shop.Shop.buy")
	if site := NewRules(Config{Libraries: []string{"com.acme.framework."}}).Site(text); site.Function != "com.acme.shop.Shop.buy" {
		t.Errorf("have %s", site.Function)
	}
	text = frames("java.lang.Object.wait org.h2.engine.Session.lock com.acme.shop.Shop.buy")
	if site := NewRules(Config{Applications: []string{"org.h2."}}).Site(text); site.Function != "org.h2.engine.Session.lock" {
		t.Errorf("have %s", site.Function)
	}
}

func TestSiteNamesTheLockAndTheLine(t *testing.T) {
	const stack = "at java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:1)\n- lock A.rw.readLock()\nat com.acme.A.b(A.java:7)"
	want := Site{Function: "com.acme.A.b", File: "A.java", Line: 7, Frame: 2, Entry: "java.util.concurrent.locks.ReentrantLock.lock", Lock: "A.rw.readLock()", Own: true}
	if site := NewRules(Config{}).Site(stack); site != want {
		t.Errorf("have %+v", site)
	}
}

func TestClassLoadersHaveALock(t *testing.T) {
	const loader = "jdk.internal.loader.BuiltinClassLoader.loadClassOrNull jdk.internal.loader.BuiltinClassLoader.loadClass java.lang.ClassLoader.loadClass "
	rules := NewRules(Config{})
	if site := rules.Site(frames(loader + "com.acme.Shop.buy")); site.Lock != "class loading" || site.Function != "com.acme.Shop.buy" {
		t.Errorf("have %+v", site)
	}
	const own = "jdk.internal.loader.BuiltinClassLoader.loadClassOrNull jdk.internal.loader.BuiltinClassLoader.loadClass jdk.internal.loader.ClassLoaders$AppClassLoader.loadClass java.lang.ClassLoader.loadClass "
	if site := rules.Site(frames(own + "com.acme.Shop.buy")); site.Lock != "class loading by AppClassLoader" {
		t.Errorf("have %+v", site)
	}
	if site := rules.Site(frames("java.lang.ClassLoader.loadClass org.apache.catalina.loader.WebappClassLoaderBase.loadClass com.acme.Shop.buy")); site.Lock != "class loading by WebappClassLoaderBase" {
		t.Errorf("have %+v", site)
	}
	if site := rules.Site(frames("com.acme.Shop.buy " + loader)); site.Lock != "" {
		t.Errorf("the lock of a method called by a class loader: have %+v", site)
	}
}

func BenchmarkWait(b *testing.B) {
	sym := symbols.New(symbols.DefaultLimits())
	c := NewRules(Config{}).Of(sym)
	iv := jvmthread.Interval{
		State: jvmthread.StateParked, Lock: jvmthread.LockID{Class: sym.InternClass(condition)}, Stack: sym.InternStack(frames(awaits + "com.acme.Shop.buy")),
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Wait(&iv)
	}
}
