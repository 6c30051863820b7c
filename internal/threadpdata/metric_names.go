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

// metricText is what a metric says of itself. docs/metrics.md has the same names, units and instruments, which a test compares.
type metricText struct {
	name, unit, description string
	instrument              instrument
}

var metricTexts = [numMetrics]metricText{
	metricContentions:       {"weft.lock.contentions", "{contention}", "Times that a thread had to wait for a lock that another one held.", counter},
	metricBlockedTime:       {"weft.lock.blocked.time", "s", "Time that threads were blocked on locks, also of those that still are.", counter},
	metricBlockedDuration:   {"weft.lock.blocked.duration", "s", "How long threads were blocked on locks.", histogram},
	metricHandoffs:          {"weft.lock.handoffs", "{handoff}", "Times that a lock went straight to a thread that waited for it.", counter},
	metricHoldDuration:      {"weft.lock.hold.duration", "s", "How long locks were held, as far as contention shows it.", histogram},
	metricHeldTime:          {"weft.lock.held.time", "s", "Time that contended locks were held, by what their holders were doing.", counter},
	metricWaitDuration:      {"weft.wait.duration", "s", "How long threads waited for something else than a lock that another one held.", histogram},
	metricLostNotifies:      {"weft.wait.lost_notifies", "{wait}", "Waits that timed out although a notify on their object had been called.", counter},
	metricThreadTime:        {"weft.thread.time", "s", "Time of threads, by state.", counter},
	metricDeadlocks:         {"weft.deadlocks", "{deadlock}", "Deadlocks that were found.", counter},
	metricOrderHints:        {"weft.lock_order.hints", "{hint}", "Pairs of locks that were seen to be taken in both orders.", counter},
	metricPathTime:          {"weft.critical_path.time", "s", "Time on critical paths that was reached through being blocked on locks.", counter},
	metricPathLength:        {"weft.critical_path.length", "s", "Length of critical paths.", counter},
	metricSaved:             {"weft.what_if.saved", "s", "How much earlier the critical paths' threads would have been done without contention on locks.", counter},
	metricBound:             {"weft.what_if.bound", "s", "Upper bound of weft.what_if.saved.", counter},
	metricEvents:            {"weft.events", "{event}", "Thread events of the JVM.", counter},
	metricEventsLost:        {"weft.events.lost", "{event}", "Thread events that the agent could not keep.", counter},
	metricEventsMissed:      {"weft.events.missed", "{event}", "Thread events from before the collector took part, or lost on the way.", counter},
	metricThreadCount:       {"weft.thread.count", "{thread}", "Threads, by what they do now.", gauge},
	metricThreadStuck:       {"weft.thread.stuck", "{thread}", "Threads that have been waiting for a lock for long, now.", gauge},
	metricDeadlockedThreads: {"weft.deadlocked.threads", "{thread}", "Threads that are deadlocked now.", gauge},
	metricBlockedThreads:    {"weft.lock.blocked.threads", "{thread}", "Threads that are blocked on locks now.", gauge},
	metricBlockedLongest:    {"weft.lock.blocked.longest", "s", "For how long the one has been blocked that is blocked now for longest.", gauge},
	metricHeldLongest:       {"weft.lock.held.longest", "s", "For how long the lock has been held that is held now for longest while others wait for it.", gauge},
	metricWaiters:           {"weft.lock.waiters", "{thread}", "The most threads that were blocked on one lock at one time since the last flush.", gauge},
	metricChainLength:       {"weft.lock.chain.length", "{handoff}", "Handoffs of one lock in a row since the last flush, at most.", gauge},
}
