// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

// metricID names a metric.
type metricID uint8

const (
	metricContentions metricID = iota
	metricBlockedTime
	metricBlockedDuration
	metricHandoffs
	metricHoldDuration
	metricHeldTime
	metricWaitDuration
	metricLostNotifies
	metricThreadTime
	metricDeadlocks
	metricOrderHints
	metricPathTime
	metricPathLength
	metricSaved
	metricBound
	metricEvents
	metricEventsLost
	metricEventsMissed
	metricThreadCount
	metricThreadStuck
	metricDeadlockedThreads
	metricBlockedThreads
	metricBlockedLongest
	metricHeldLongest
	metricWaiters
	metricChainLength
	numMetrics
)

// instrument is a kind of metric.
type instrument uint8

const (
	counter instrument = iota
	gauge
	histogram
)

// metricText describes a metric. A test compares names, units and instruments with docs/metrics.md.
type metricText struct {
	name, unit, description string
	instrument              instrument
}

var metricTexts = [numMetrics]metricText{
	metricContentions:       {"weft.lock.contentions", "{contention}", "Number of times a thread waited for a lock that another thread held.", counter},
	metricBlockedTime:       {"weft.lock.blocked.time", "s", "Time threads were blocked on locks, including threads that still are.", counter},
	metricBlockedDuration:   {"weft.lock.blocked.duration", "s", "Duration of being blocked on a lock.", histogram},
	metricHandoffs:          {"weft.lock.handoffs", "{handoff}", "Number of times a lock went directly to a waiting thread.", counter},
	metricHoldDuration:      {"weft.lock.hold.duration", "s", "Duration of holding a lock, as far as contention reveals it.", histogram},
	metricHeldTime:          {"weft.lock.held.time", "s", "Time contended locks were held, by the state of the holder.", counter},
	metricWaitDuration:      {"weft.wait.duration", "s", "Duration of waits other than for a lock held by another thread.", histogram},
	metricLostNotifies:      {"weft.wait.lost_notifies", "{wait}", "Waits that timed out although notify had been called on their object.", counter},
	metricThreadTime:        {"weft.thread.time", "s", "Time of threads by state.", counter},
	metricDeadlocks:         {"weft.deadlocks", "{deadlock}", "Deadlocks found.", counter},
	metricOrderHints:        {"weft.lock_order.hints", "{hint}", "Pairs of locks that threads acquired in both orders.", counter},
	metricPathTime:          {"weft.critical_path.time", "s", "Time on critical paths due to being blocked on locks.", counter},
	metricPathLength:        {"weft.critical_path.length", "s", "Length of critical paths.", counter},
	metricSaved:             {"weft.what_if.saved", "s", "Time that the threads of critical paths would have saved without lock contention.", counter},
	metricBound:             {"weft.what_if.bound", "s", "Upper bound of weft.what_if.saved.", counter},
	metricEvents:            {"weft.events", "{event}", "Thread events of the JVM.", counter},
	metricEventsLost:        {"weft.events.lost", "{event}", "Thread events that the agent dropped.", counter},
	metricEventsMissed:      {"weft.events.missed", "{event}", "Thread events from before the collector joined, or lost in transit.", counter},
	metricThreadCount:       {"weft.thread.count", "{thread}", "Current number of threads by state.", gauge},
	metricThreadStuck:       {"weft.thread.stuck", "{thread}", "Current number of threads that have been waiting for a lock for long.", gauge},
	metricDeadlockedThreads: {"weft.deadlocked.threads", "{thread}", "Current number of deadlocked threads.", gauge},
	metricBlockedThreads:    {"weft.lock.blocked.threads", "{thread}", "Current number of threads blocked on locks.", gauge},
	metricBlockedLongest:    {"weft.lock.blocked.longest", "s", "Time the longest-blocked thread has been blocked so far.", gauge},
	metricHeldLongest:       {"weft.lock.held.longest", "s", "Time the longest-held contended lock has been held so far.", gauge},
	metricWaiters:           {"weft.lock.waiters", "{thread}", "Maximum number of threads blocked concurrently on one lock since the last flush.", gauge},
	metricChainLength:       {"weft.lock.chain.length", "{handoff}", "Maximum number of consecutive handoffs of one lock since the last flush.", gauge},
}
