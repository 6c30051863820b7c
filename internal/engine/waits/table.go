// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package waits

import "github.com/weft-otel/weft/internal/jvmthread"

// rule finds the kind of a wait by a frame or by the class of the object. Both match from the beginning of a name. Frames of the
// application and of its callers are not searched, but for a frame that begins with "*": such a class has any name that ends so.
type rule struct {
	kind  jvmthread.Wait
	frame string // class and method
	class string
}

// reentrantLock begins the classes of the only locks of java.util.concurrent that one thread at a time holds in all cases.
const reentrantLock = "java.util.concurrent.locks.ReentrantLock"

// rules are in order of precedence. A lock is a lock, whoever takes it. Then frames come first: the pools and queues of libraries wait on the
// same classes as the application does.
var rules = []rule{
	// Threads that accept connections take turns.
	{kind: jvmthread.WaitIdle, frame: "sun.nio.ch.NioSocketImpl.accept"},
	{kind: jvmthread.WaitIdle, frame: "sun.nio.ch.ServerSocketChannelImpl.accept"},

	// What the agent sees a thread do in a system call.
	{kind: jvmthread.WaitIO, class: "reading "},
	{kind: jvmthread.WaitIO, class: "writing "},
	{kind: jvmthread.WaitIO, class: "connecting"},
	{kind: jvmthread.WaitIO, class: "syncing "},
	{kind: jvmthread.WaitIO, class: "opening "},
	{kind: jvmthread.WaitIO, class: "locking "},
	{kind: jvmthread.WaitIO, class: "waiting for process "},
	{kind: jvmthread.WaitIO, class: "waiting for a process "},
	{kind: jvmthread.WaitIO, frame: "java.lang.ProcessImpl.waitFor"}, // which waits for a thread that does
	{kind: jvmthread.WaitPause, class: jvmthread.PauseClass},
	{kind: jvmthread.WaitIdle, class: "waiting for clients"},
	{kind: jvmthread.WaitIdle, class: "waiting for the network"},

	{kind: jvmthread.WaitLock, class: reentrantLock},
	{kind: jvmthread.WaitLock, class: "java.util.concurrent.locks.ReentrantReadWriteLock"},
	{kind: jvmthread.WaitLock, class: "java.util.concurrent.locks.StampedLock"},

	// Virtual threads park to sleep, to join, and for sockets.
	{kind: jvmthread.WaitSleep, frame: "java.lang.VirtualThread.sleepNanos"},
	{kind: jvmthread.WaitJoin, frame: "java.lang.VirtualThread.joinNanos"},
	{kind: jvmthread.WaitJoin, frame: "java.lang.Thread.join"},
	{kind: jvmthread.WaitIO, frame: "sun.nio.ch."},

	// Blocking reads and writes of Tomcat, which its poller ends.
	{kind: jvmthread.WaitIO, frame: "org.apache.tomcat.util.net.NioEndpoint$NioSocketWrapper.", class: "java.lang.Object"},
	{kind: jvmthread.WaitIO, frame: "org.apache.tomcat.util.net.Nio2Endpoint$Nio2SocketWrapper.", class: "java.util.concurrent.Semaphore"},
	{kind: jvmthread.WaitIO, frame: "org.apache.tomcat.util.net.NioBlockingSelector."},

	// Pools of connections and of other objects.
	{kind: jvmthread.WaitPool, frame: "com.zaxxer.hikari.pool.HikariPool.getConnection"},
	{kind: jvmthread.WaitPool, frame: "org.apache.tomcat.jdbc.pool.ConnectionPool.borrowConnection"},
	{kind: jvmthread.WaitPool, frame: "org.apache.commons.dbcp2.BasicDataSource.getConnection"},
	{kind: jvmthread.WaitPool, frame: "org.apache.commons.dbcp2.PoolingDataSource.getConnection"},
	{kind: jvmthread.WaitPool, frame: "org.apache.commons.dbcp.BasicDataSource.getConnection"},
	{kind: jvmthread.WaitPool, frame: "redis.clients.jedis.JedisPool.getResource"},
	{kind: jvmthread.WaitPool, frame: "redis.clients.jedis.JedisSentinelPool.getResource"},
	{kind: jvmthread.WaitPool, frame: "redis.clients.jedis.util.Pool.getResource"},
	{kind: jvmthread.WaitPool, frame: "org.apache.commons.pool2.impl.GenericObjectPool.borrowObject"},
	{kind: jvmthread.WaitPool, frame: "org.apache.commons.pool2.impl.GenericKeyedObjectPool.borrowObject"},
	{kind: jvmthread.WaitPool, frame: "org.apache.commons.pool.impl.GenericObjectPool.borrowObject"},
	{kind: jvmthread.WaitPool, frame: "org.apache.commons.pool.impl.GenericKeyedObjectPool.borrowObject"},
	{kind: jvmthread.WaitPool, frame: "com.mchange.v2.resourcepool.BasicResourcePool.checkoutResource"},
	{kind: jvmthread.WaitPool, frame: "com.alibaba.druid.pool.DruidDataSource.getConnection"},
	{kind: jvmthread.WaitPool, frame: "io.agroal.pool.ConnectionPool.getConnection"},
	{kind: jvmthread.WaitPool, frame: "oracle.ucp.common.UniversalConnectionPoolBase.borrowConnection"},
	{kind: jvmthread.WaitPool, frame: "org.vibur.dbcp.ViburDBCPDataSource.getConnection"},
	{kind: jvmthread.WaitPool, frame: "com.mongodb.internal.connection.DefaultConnectionPool.get"},
	{kind: jvmthread.WaitPool, frame: "com.mongodb.internal.connection.ConcurrentPool.get"},
	{kind: jvmthread.WaitPool, frame: "org.apache.http.impl.conn.PoolingHttpClientConnectionManager.leaseConnection"},
	{kind: jvmthread.WaitPool, frame: "org.apache.http.pool.AbstractConnPool.getPoolEntryBlocking"},
	{kind: jvmthread.WaitPool, frame: "org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager$"},
	{kind: jvmthread.WaitPool, frame: "org.apache.commons.httpclient.MultiThreadedHttpConnectionManager.doGetConnection"},
	{kind: jvmthread.WaitPool, frame: "org.apache.kafka.clients.producer.internals.BufferPool.allocate"},
	{kind: jvmthread.WaitPool, frame: "org.apache.lucene.index.DocumentsWriterStallControl.waitIfStalled"}, // of memory

	{kind: jvmthread.WaitPermit, frame: "com.google.common.util.concurrent.RateLimiter.acquire"},
	{kind: jvmthread.WaitPermit, frame: "io.github.resilience4j.ratelimiter."},
	{kind: jvmthread.WaitPermit, frame: "org.apache.lucene.index.ConcurrentMergeScheduler.doStall"}, // for a further merge

	// Timers, before the workers that they are built on.
	{kind: jvmthread.WaitTimer, frame: "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take"},
	{kind: jvmthread.WaitTimer, frame: "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.poll"},
	{kind: jvmthread.WaitTimer, frame: "java.util.concurrent.DelayScheduler."},
	{kind: jvmthread.WaitTimer, frame: "java.util.TimerThread.mainLoop"},
	{kind: jvmthread.WaitTimer, frame: "io.netty.util.HashedWheelTimer$Worker.waitForNextTick"},
	{kind: jvmthread.WaitTimer, frame: "org.quartz.core.QuartzSchedulerThread.run"},
	{kind: jvmthread.WaitTimer, frame: "org.apache.kafka.clients.consumer.internals.AbstractCoordinator$HeartbeatThread.run", class: "org.apache.kafka."},
	{kind: jvmthread.WaitTimer, frame: "org.apache.kafka.server.util.ShutdownableThread.pause"},
	{kind: jvmthread.WaitTimer, frame: "org.apache.kafka.server.util.timer.SystemTimer.advanceClock"},
	{kind: jvmthread.WaitTimer, frame: "kafka.server.ClientQuotaManager$ThrottledChannelReaper.doWork"},

	// Workers without a task.
	{kind: jvmthread.WaitIdle, frame: "java.util.concurrent.ThreadPoolExecutor.getTask"},
	{kind: jvmthread.WaitIdle, frame: "java.util.concurrent.ForkJoinPool.awaitWork"},
	{kind: jvmthread.WaitIdle, frame: "java.lang.ref.ReferenceQueue.remove"},
	{kind: jvmthread.WaitIdle, frame: "java.lang.ref.Reference.waitForReferencePendingList"},
	{kind: jvmthread.WaitIdle, frame: "java.lang.ref.Reference$ReferenceHandler.run"},
	{kind: jvmthread.WaitIdle, frame: "org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask"},
	{kind: jvmthread.WaitIdle, frame: "org.eclipse.jetty.util.thread.QueuedThreadPool.idleJobPoll"},
	{kind: jvmthread.WaitIdle, frame: "org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.idleJobPoll"},
	{kind: jvmthread.WaitIdle, frame: "org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread.reservedWait"},
	{kind: jvmthread.WaitIdle, frame: "org.jboss.threads.EnhancedQueueExecutor$PoolThreadNode."},
	{kind: jvmthread.WaitIdle, frame: "org.jboss.threads.EnhancedQueueExecutor$ThreadBody."},
	{kind: jvmthread.WaitIdle, frame: "io.netty.util.concurrent.SingleThreadEventExecutor.takeTask"},
	{kind: jvmthread.WaitIdle, frame: "io.netty.util.concurrent.GlobalEventExecutor.takeTask"},
	{kind: jvmthread.WaitIdle, frame: "org.quartz.simpl.SimpleThreadPool$WorkerThread.run"},
	{kind: jvmthread.WaitIdle, frame: "com.mchange.v2.async.ThreadPoolAsynchronousRunner$PoolThread.run"},
	{kind: jvmthread.WaitIdle, frame: "ch.qos.logback.core.AsyncAppenderBase$Worker.run"},
	{kind: jvmthread.WaitIdle, frame: "org.apache.logging.log4j.core.appender.AsyncAppenderEventDispatcher."},
	{kind: jvmthread.WaitIdle, frame: "org.apache.logging.log4j.core.async.TimeoutBlockingWaitStrategy.waitFor"},
	{kind: jvmthread.WaitIdle, frame: "com.lmax.disruptor.BlockingWaitStrategy.waitFor"},
	{kind: jvmthread.WaitIdle, frame: "com.lmax.disruptor.TimeoutBlockingWaitStrategy.waitFor"},
	{kind: jvmthread.WaitIdle, frame: "com.lmax.disruptor.LiteBlockingWaitStrategy.waitFor"},
	{kind: jvmthread.WaitIdle, frame: "com.lmax.disruptor.LiteTimeoutBlockingWaitStrategy.waitFor"},
	{kind: jvmthread.WaitIdle, frame: "com.lmax.disruptor.SleepingWaitStrategy.waitFor"},
	{kind: jvmthread.WaitIdle, frame: "org.apache.catalina.core.StandardServer.await"},
	{kind: jvmthread.WaitIdle, frame: "kafka.network.RequestChannel.receiveRequest"},
	{kind: jvmthread.WaitIdle, frame: "kafka.server.BrokerServer.awaitShutdown"},
	{kind: jvmthread.WaitIdle, frame: "kafka.server.ControllerServer.awaitShutdown"},
	{kind: jvmthread.WaitIdle, frame: "org.apache.kafka.coordinator.common.runtime.EventAccumulator."},
	{kind: jvmthread.WaitIdle, frame: "org.apache.kafka.queue.KafkaEventQueue$EventHandler.handleEvents"},
	{kind: jvmthread.WaitIdle, frame: "org.apache.kafka.raft.internals.BlockingMessageQueue.poll"},
	{kind: jvmthread.WaitIdle, frame: "org.apache.kafka.storage.internals.log.LogDirFailureChannel.takeNextOfflineLogDir"},

	{kind: jvmthread.WaitFuture, frame: "org.apache.lucene.index.MergePolicy$MergeSpecification.await"},
	{kind: jvmthread.WaitQueue, frame: "org.apache.kafka.clients.consumer.KafkaConsumer.poll", class: conditionClass},
	{kind: jvmthread.WaitFuture, frame: "org.apache.kafka.clients.producer.KafkaProducer.waitOnMetadata"},
	{kind: jvmthread.WaitFuture, frame: "org.apache.kafka.common.internals.KafkaFutureImpl.get"},
	{kind: jvmthread.WaitFuture, frame: "java.util.concurrent.FutureTask.get"},
	{kind: jvmthread.WaitFuture, frame: "java.util.concurrent.CompletableFuture.get"},
	{kind: jvmthread.WaitFuture, frame: "java.util.concurrent.CompletableFuture.join"},
	{kind: jvmthread.WaitFuture, frame: "java.util.concurrent.ForkJoinTask.awaitDone"},
	{kind: jvmthread.WaitFuture, frame: "java.util.concurrent.ForkJoinTask.externalAwaitDone"},
	{kind: jvmthread.WaitFuture, frame: "java.util.concurrent.ForkJoinTask.externalInterruptibleAwaitDone"},
	{kind: jvmthread.WaitFuture, frame: "java.util.concurrent.ForkJoinTask.join"},
	{kind: jvmthread.WaitFuture, frame: "java.util.concurrent.ForkJoinTask.get"},
	{kind: jvmthread.WaitFuture, frame: "java.util.concurrent.ForkJoinPool.awaitJoin"},
	{kind: jvmthread.WaitFuture, frame: "java.util.concurrent.ForkJoinPool.awaitDone"},
	{kind: jvmthread.WaitFuture, frame: "java.util.concurrent.ThreadPoolExecutor.awaitTermination"},
	{kind: jvmthread.WaitFuture, frame: "java.util.concurrent.ForkJoinPool.awaitTermination"},
	{kind: jvmthread.WaitFuture, frame: "java.util.concurrent.ThreadPerTaskExecutor.awaitTermination"},
	{kind: jvmthread.WaitFuture, frame: "java.util.concurrent.ExecutorCompletionService.take"},
	{kind: jvmthread.WaitFuture, frame: "java.util.concurrent.StructuredTaskScope"},
	{kind: jvmthread.WaitFuture, frame: "com.google.common.util.concurrent.AbstractFuture.get"},
	{kind: jvmthread.WaitFuture, frame: "io.netty.util.concurrent.DefaultPromise.await"},
	{kind: jvmthread.WaitFuture, frame: "reactor.core.publisher.BlockingSingleSubscriber.blockingGet"},
	{kind: jvmthread.WaitFuture, frame: "reactor.core.publisher.BlockingMonoSubscriber.blockingGet"},
	{kind: jvmthread.WaitFuture, frame: "io.grpc.stub.ClientCalls."},
	{kind: jvmthread.WaitFuture, frame: "org.apache.kafka.clients.producer.internals.FutureRecordMetadata.get"},

	{kind: jvmthread.WaitFuture, frame: "*Future.get"},
	{kind: jvmthread.WaitFuture, frame: "*Future.join"},
	{kind: jvmthread.WaitFuture, frame: "*Future.await"},
	{kind: jvmthread.WaitFuture, frame: "*Promise.get"},
	{kind: jvmthread.WaitFuture, frame: "*Promise.await"},

	{kind: jvmthread.WaitBarrier, frame: "java.util.concurrent.CyclicBarrier."},
	{kind: jvmthread.WaitBarrier, frame: "java.util.concurrent.Phaser."},
	{kind: jvmthread.WaitLatch, frame: "java.util.concurrent.CountDownLatch.await"},
	{kind: jvmthread.WaitLatch, frame: "org.apache.tomcat.util.threads.LimitLatch.countUpOrAwait"},
	{kind: jvmthread.WaitExchange, frame: "java.util.concurrent.Exchanger."},
	{kind: jvmthread.WaitQueue, frame: "com.lmax.disruptor.SingleProducerSequencer.next"}, // room for an event
	{kind: jvmthread.WaitQueue, frame: "com.lmax.disruptor.MultiProducerSequencer.next"},
	{kind: jvmthread.WaitQueue, frame: "java.util.concurrent.SynchronousQueue"},
	{kind: jvmthread.WaitQueue, frame: "java.util.concurrent.LinkedTransferQueue"},
	{kind: jvmthread.WaitQueue, frame: "java.util.concurrent.ArrayBlockingQueue.", class: conditionClass},
	{kind: jvmthread.WaitQueue, frame: "java.util.concurrent.LinkedBlockingQueue.", class: conditionClass},
	{kind: jvmthread.WaitQueue, frame: "java.util.concurrent.LinkedBlockingDeque.", class: conditionClass},
	{kind: jvmthread.WaitQueue, frame: "java.util.concurrent.PriorityBlockingQueue.", class: conditionClass},
	{kind: jvmthread.WaitQueue, frame: "java.util.concurrent.DelayQueue.", class: conditionClass},

	// Native methods that wait: thread dumps show them.
	{kind: jvmthread.WaitIO, frame: "java.net.SocketInputStream."},
	{kind: jvmthread.WaitIO, frame: "java.net.SocketOutputStream."},
	{kind: jvmthread.WaitIO, frame: "java.net.PlainSocketImpl."},
	{kind: jvmthread.WaitIO, frame: "java.net.DualStackPlainSocketImpl."},
	{kind: jvmthread.WaitIO, frame: "java.net.TwoStacksPlainSocketImpl."},
	{kind: jvmthread.WaitIO, frame: "java.net.PlainDatagramSocketImpl."},
	{kind: jvmthread.WaitIO, frame: "java.net.Inet4AddressImpl."},
	{kind: jvmthread.WaitIO, frame: "java.net.Inet6AddressImpl."},
	{kind: jvmthread.WaitIO, frame: "java.io.FileInputStream.read"},
	{kind: jvmthread.WaitIO, frame: "java.io.FileOutputStream.write"},
	{kind: jvmthread.WaitIO, frame: "java.io.RandomAccessFile.read"},
	{kind: jvmthread.WaitIO, frame: "java.io.RandomAccessFile.write"},
	{kind: jvmthread.WaitIO, frame: "java.lang.ProcessHandleImpl.waitForProcessExit0"},
	{kind: jvmthread.WaitIO, frame: "java.lang.UNIXProcess.waitForProcessExit"},
	{kind: jvmthread.WaitIO, frame: "io.netty.channel.epoll.Native."},
	{kind: jvmthread.WaitIO, frame: "io.netty.channel.kqueue.Native."},

	{kind: jvmthread.WaitPermit, class: "java.util.concurrent.Semaphore"},
	{kind: jvmthread.WaitLatch, class: "java.util.concurrent.CountDownLatch"},
	{kind: jvmthread.WaitBarrier, class: "java.util.concurrent.Phaser"},
	{kind: jvmthread.WaitFuture, class: "java.util.concurrent.CompletableFuture"},
	{kind: jvmthread.WaitFuture, class: "java.util.concurrent.FutureTask"},
	{kind: jvmthread.WaitFuture, class: "java.util.concurrent.ForkJoinTask"},
	{kind: jvmthread.WaitQueue, class: "java.util.concurrent.SynchronousQueue"},
	{kind: jvmthread.WaitQueue, class: "java.util.concurrent.LinkedTransferQueue"},
	{kind: jvmthread.WaitExchange, class: "java.util.concurrent.Exchanger"},
	{kind: jvmthread.WaitIdle, class: "java.util.concurrent.ForkJoinPool"},
	{kind: jvmthread.WaitCondition, class: conditionClass},
}

// returning are the frames of threads that give an object back to a pool whose threads wait in Object.wait. Those that wait in a park are
// unparked by whoever returns one.
var returning = []string{
	"com.mchange.v2.resourcepool.BasicResourcePool.checkinResource(", "org.apache.commons.pool.impl.GenericObjectPool.returnObject(",
	"org.apache.commons.pool.impl.GenericKeyedObjectPool.returnObject(",
}

const conditionClass = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"

// own is the kind of a wait whose state is sufficient, and what others are if no rule matches.
var own = [jvmthread.NumStates]struct {
	kind   jvmthread.Wait
	decide bool // rules may know better
}{
	jvmthread.StateBlocked:    {kind: jvmthread.WaitLock},
	jvmthread.StateWaiting:    {jvmthread.WaitObject, true},
	jvmthread.StateReentering: {kind: jvmthread.WaitReenter},
	jvmthread.StateJoining:    {kind: jvmthread.WaitJoin},
	jvmthread.StateSleeping:   {jvmthread.WaitSleep, true},
	jvmthread.StateParked:     {jvmthread.WaitPark, true},
	jvmthread.StateDeadlocked: {kind: jvmthread.WaitLock},
	jvmthread.StateSuspended:  {kind: jvmthread.WaitSuspend},
	jvmthread.StateQueued:     {kind: jvmthread.WaitCarrier},
}
