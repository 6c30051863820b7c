// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

// instrument is a kind of metric.
type instrument uint8

const (
	counter instrument = iota
	gauge
	histogram
)

// seconds is the unit of times.
const seconds = "s"

// metricText describes a metric. A test compares names, units and instruments with docs/metrics.md.
type metricText struct {
	name, unit, description string
	instrument              instrument
	id                      int // in metricTexts
}

// metricTexts has all metrics.
var metricTexts = []*metricText{}

func newMetric(name, unit, description string, kind instrument) *metricText {
	t := &metricText{name, unit, description, kind, len(metricTexts)}
	metricTexts = append(metricTexts, t)
	return t
}

// The metrics.
var (
	metricContentions       = newMetric("weft.lock.contentions", "{contention}", "Number of times a thread waited for a lock that another thread held.", counter)
	metricBlockedTime       = newMetric("weft.lock.blocked.time", seconds, "Time threads were blocked on locks, including threads that still are.", counter)
	metricBlockedDuration   = newMetric("weft.lock.blocked.duration", seconds, "Duration of being blocked on a lock.", histogram)
	metricHandoffs          = newMetric("weft.lock.handoffs", "{handoff}", "Number of times a lock went directly to a waiting thread.", counter)
	metricHoldDuration      = newMetric("weft.lock.hold.duration", seconds, "Duration of holding a lock, as far as contention reveals it.", histogram)
	metricHeldTime          = newMetric("weft.lock.held.time", seconds, "Time contended locks were held, by the state of the holder.", counter)
	metricWaitDuration      = newMetric("weft.wait.duration", seconds, "Duration of waits other than for a lock held by another thread.", histogram)
	metricQueueDuration     = newMetric("weft.virtual.queue.duration", seconds, "Time virtual threads that could run waited for a carrier.", histogram)
	metricPinnedDuration    = newMetric("weft.virtual.pinned.duration", seconds, "Duration of waits during which a virtual thread kept its carrier.", histogram)
	metricRequestWait       = newMetric("weft.request.wait.duration", seconds, "Time a request waited on one thread, by what it waited for.", histogram)
	metricLostNotifies      = newMetric("weft.wait.lost_notifies", "{notify}", "Calls of notify that no thread heard, although one then waited in vain.", counter)
	metricThreadTime        = newMetric("weft.thread.time", seconds, "Time of threads by state.", counter)
	metricDeadlocks         = newMetric("weft.deadlocks", "{deadlock}", "Deadlocks found.", counter)
	metricOrderHints        = newMetric("weft.lock_order.hints", "{hint}", "Pairs of locks that threads acquired in both orders.", counter)
	metricPathTime          = newMetric("weft.critical_path.time", seconds, "Time on critical paths due to being blocked on locks.", counter)
	metricPathLength        = newMetric("weft.critical_path.length", seconds, "Length of critical paths.", counter)
	metricSaved             = newMetric("weft.what_if.saved", seconds, "Time that the threads of critical paths would have saved without lock contention.", counter)
	metricBound             = newMetric("weft.what_if.bound", seconds, "Upper bound of weft.what_if.saved.", counter)
	metricEvents            = newMetric("weft.events", "{event}", "Thread events of the JVM.", counter)
	metricEventsLost        = newMetric("weft.events.lost", "{event}", "Thread events that the agent dropped.", counter)
	metricEventsMissed      = newMetric("weft.events.missed", "{event}", "Thread events from before the collector joined, or lost in transit.", counter)
	metricThreadCount       = newMetric("weft.thread.count", "{thread}", "Current number of threads by state.", gauge)
	metricThreadStuck       = newMetric("weft.thread.stuck", "{thread}", "Current number of threads that have been waiting for a lock for long.", gauge)
	metricDeadlockedThreads = newMetric("weft.deadlocked.threads", "{thread}", "Current number of deadlocked threads.", gauge)
	metricBlockedThreads    = newMetric("weft.lock.blocked.threads", "{thread}", "Current number of threads blocked on locks.", gauge)
	metricBlockedLongest    = newMetric("weft.lock.blocked.longest", seconds, "Time the longest-blocked thread has been blocked so far.", gauge)
	metricHeldLongest       = newMetric("weft.lock.held.longest", seconds, "Time the longest-held contended lock has been held so far.", gauge)
	metricQueueLongest      = newMetric("weft.virtual.queue.longest", seconds, "Time the virtual thread that has waited longest for a carrier has waited so far.", gauge)
	metricCarrierCount      = newMetric("weft.virtual.carrier.count", "{carrier}", "Current number of carriers of virtual threads by state.", gauge)
	metricWaiters           = newMetric("weft.lock.waiters", "{thread}", "Maximum number of threads blocked concurrently on one lock since the last flush.", gauge)
	metricChainLength       = newMetric("weft.lock.chain.length", "{handoff}", "Maximum number of consecutive handoffs of one lock since the last flush.", gauge)
)
