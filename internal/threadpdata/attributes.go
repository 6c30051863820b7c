// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package threadpdata maps threads, waits and locks to OpenTelemetry data: carriers, in which components exchange raw events (carrier*.go),
// the trace of a window (spans*.go), contention metrics (metric*.go) and log records (logs.go). All attribute names are in attributes.go, the
// same list as docs/semantic-conventions.md.
//
// The trace of a window is written span by span, in the order of spans_lanes.go: spans_plan.go decides what a span shows, spans_names.go names
// it, spans_words.go and spans_path_words.go put it into words, ids.go connects it to others, and spans_write.go writes its attributes.
package threadpdata

// Attributes of OpenTelemetry's semantic conventions.
const (
	attrServiceName       = "service.name"
	attrServiceInstanceID = "service.instance.id"
	attrProcessPID        = "process.pid"
	attrThreadID          = "thread.id"
	attrThreadName        = "thread.name"
	attrThreadDaemon      = "jvm.thread.daemon"
	attrFunction          = "code.function.name"
	attrLine              = "code.line.number"
	attrStacktrace        = "code.stacktrace"
	attrErrorType         = "error.type"
)

// Attributes of carriers, in which components exchange raw events. Times are nanoseconds since the Unix epoch.
const (
	attrSessionID   = "weft.session.id"       // resource; string of 32 hexadecimal digits
	attrSingleEnded = "weft.recording.old"    // resource; bool; a wait has one end only, see recording.CompleteWaits
	attrRawFirst    = "weft.raw.first"        // int; the first batch that the sender got from the JVM, if above 1
	attrRawEnd      = "weft.raw.end"          // string; the session ended: exit, detached or lost
	attrRawVersion  = "weft.raw.version"      // int; of the form of weft.raw.batch.bytes: 1
	attrRawBytes    = "weft.raw.batch.bytes"  // bytes; the batch with all that it refers to, as frames of the protocol
	attrRawEvents   = "weft.raw.batch.events" // int; number of events in it; 0 for a heartbeat, the end of a session or an aggregate
	attrRawMAC      = "weft.raw.mac"          // bytes; signature of the carrier
	attrThreadGroup = "weft.thread.group"     // string
	attrVirtual     = "weft.thread.virtual"   // bool

	attrRecordingFormat     = "weft.recording.format"     // resource; string; format of the recording, if the session is not from an agent
	attrRecordingDumps      = "weft.recording.dumps"      // resource; string; times of the thread dumps that are all that is known, in nanoseconds since 1970
	attrRecordingUnused     = "weft.recording.unused"     // resource; string; events that are not read and may explain waits
	attrRecordingThresholds = "weft.recording.thresholds" // resource; string; minimum durations of recorded events

	attrCarrierThread = "weft.thread.carrier" // bool; the thread carries virtual threads
)

// Attributes of state spans.
const (
	attrState           = "weft.state"           // string; the state's name
	attrIntervalTime    = "weft.interval.time"   // int; exact nanoseconds of this span; the span itself ends 1 us early
	attrIntervalStart   = "weft.interval.start"  // int; start of the state, if in an earlier window
	attrIntervalOpen    = "weft.interval.open"   // bool; the state did not end in this span
	attrHistoryMissing  = "weft.history.missing" // bool; the history before the state is unknown
	attrWaitKind        = "weft.wait.kind"       // string; see jvmthread.Wait
	attrWaitStart       = "weft.wait.start"      // int; start of the wait, if in an earlier state: a deadlocked thread was blocked before
	attrWaitTimeout     = "weft.wait.timeout"    // int; ns
	attrWaitTimedOut    = "weft.wait.timed_out"  // bool
	attrWaitCause       = "weft.wait.cause"      // string; what ended the wait: the kind of an interaction, timeout or unknown
	attrPinned          = "weft.virtual.pinned"  // bool; the virtual thread kept its carrier
	attrIdle            = "weft.wait.idle"       // bool; no blocked thread depended on this one
	attrLockClass       = "weft.lock.class"      // string
	attrLockID          = "weft.lock.id"         // int; identity hash
	attrOwnerID         = "weft.lock.owner.thread.id"
	attrOwnerName       = "weft.lock.owner.thread.name"
	attrContextTraceID  = "weft.context.trace.id" // string of 32 hexadecimal digits; the application's span that was current when the wait began
	attrContextSpanID   = "weft.context.span.id"  // string of 16 hexadecimal digits
	attrOwnerTraceID    = "weft.lock.owner.trace.id"
	attrOwnerSpanID     = "weft.lock.owner.span.id"
	attrLockName        = "weft.lock.name"               // string; what the source calls the lock
	attrEntry           = "weft.wait.entry"              // string; the library's method through which the application waits
	attrHolderName      = "weft.lock.holder.thread.name" // of the thread that held the lock for the longest part of the wait
	attrHolderShare     = "weft.lock.holder.share"       // double; the part of the wait in which it did, from 0 to 1
	attrHolderFunction  = "weft.lock.holder.function"    // string; where it was meanwhile
	attrHolders         = "weft.lock.holders"            // string; all threads that held the lock during the wait, and their shares
	attrOwnerFunction   = "weft.lock.owner.function"     // string; location of the owner
	attrOwnerStacktrace = "weft.lock.owner.stacktrace"
	attrCPUTime         = "weft.cpu.time"      // int; CPU time of a runnable interval in ns
	attrRunQueueTime    = "weft.runqueue.time" // int; time in ns that it waited for a processor, at least
	attrJoinedID        = "weft.joined.thread.id"
	attrJoinedName      = "weft.joined.thread.name"
	attrDeadlockID      = "weft.deadlock.id" // string; the same on all spans of a deadlock
	attrExplanation     = "weft.explanation" // string; explains the links, because Jaeger's UI drops link attributes
)

// Attributes of the spans of waits and holds in the traces of the application, in addition to those of state spans and of lock events.
const (
	attrHolderTraceID  = "weft.lock.holder.trace.id" // string of 32 hexadecimal digits; request of the thread that held the lock longest
	attrHolderSpanID   = "weft.lock.holder.span.id"  // string of 16 hexadecimal digits
	attrRequestWaiters = "weft.request.waiters"      // int; requests that waited for a hold
	attrRequestName    = "weft.request.name"         // string; the application's name of a request
	attrRequestTime    = "weft.request.time"         // int; from when its outermost span became current on the thread until it no longer was
	attrRequestRunning = "weft.request.running.time" // int; the part of it in which the thread did not wait
)

// Attributes of the critical path: on its lane, on the spans along it, and on the root's lock events.
const (
	attrPathTime = "weft.critical_path.time"  // int; time on it
	attrPathKind = "weft.critical_path.kind"  // string; why a segment is on it
	attrSlack    = "weft.critical_path.slack" // int; how much longer the wait could have lasted without effect

	attrSiteEvent = "weft.critical_path.site"  // name of the lane's span events, one for each of the most expensive call sites
	attrShare     = "weft.critical_path.share" // double; fraction of the path, from 0 to 1

	// On the lane: the thread of the path; on a segment: the acting thread. Not thread.*, so that sums by thread do not count time twice.
	attrPathThreadName = "weft.critical_path.thread.name"

	attrSaved = "weft.what_if.saved" // int; how much earlier the path's thread would have finished without contention on the class
	attrBound = "weft.what_if.bound" // int; upper bound of the above
)

// Attributes of links.
const (
	attrLinkKind       = "weft.link.kind"
	attrLinkLatency    = "weft.link.latency"    // int; ns from the cause to its effect
	attrLinkConfidence = "weft.link.confidence" // string
)

// Attributes of a window's root span, of its thread spans (folded), and of the root's lock events.
const (
	attrWindowCut      = "weft.window.cut"      // string; why it ended: time, size, end, lost, shutdown
	attrClockShift     = "weft.clock.shift"     // int; by how much the wall clock is ahead of the one that the session began with
	attrWindowStart    = "weft.window.start"    // int; the root itself starts some microseconds earlier, see laneGap
	attrContendedCount = "weft.contended.count" // int; waits for locks, permits and pools
	attrContendedTime  = "weft.contended.time"
	attrThreads        = "weft.window.threads"
	attrEvents         = "weft.events.count"
	attrEventsLost     = "weft.events.lost"   // int; events that the agent dropped
	attrEventsMissed   = "weft.events.missed" // int; events from before this collector joined, or lost in transit, or shed
	attrEventsShed     = "weft.events.shed"   // int; those of them that the collector dropped to save memory
	attrSpansRefused   = "weft.spans.refused" // int; spans of earlier windows that the next consumer rejected
	attrFoldedCount    = "weft.folded.count"
	attrFoldedTime     = "weft.folded.time"
	attrFoldedWaits    = "weft.folded.contended.count"
	attrFoldedWaitTime = "weft.folded.contended.time"
	attrFoldedThreads  = "weft.folded.threads"
	attrFoldedNames    = "weft.folded.thread.names" // string; of threads without a span
	attrSilentThreads  = "weft.silent.threads"      // without an event in the window
	attrSilentTime     = "weft.silent.time"
	attrFoldedCalls    = "weft.folded.calls"

	// Of a call.
	attrCallThreadID   = "weft.call.thread.id"
	attrCallThreadName = "weft.call.thread.name"
	attrWaitEvent      = "weft.wait" // name of the root's span events, one for each kind of waits
	attrWaitCount      = "weft.wait.count"
	attrWaitTime       = "weft.wait.time"
	attrLockEvent      = "weft.lock" // name of the root's span events, one for each of the most contended lock classes
	attrLockContended  = "weft.lock.contentions"
	attrLockBlocked    = "weft.lock.blocked.time"
	attrLockBlockedMax = "weft.lock.blocked.max"
	attrLockWaits      = "weft.lock.waits"
	attrLockWaited     = "weft.lock.waited.time"
	attrLockHandoffs   = "weft.lock.handoffs"
	attrLockWaiters    = "weft.lock.waiters" // int; maximum number of threads blocked concurrently on one lock of the class
	attrLockHolds      = "weft.lock.holds"
	attrLockHeld       = "weft.lock.held.time"
	attrLockHeldMax    = "weft.lock.held.max"
	attrChainLength    = "weft.lock.chain.length"  // int; handoffs in a row, each by the thread that received the lock in the previous one
	attrChainTime      = "weft.lock.chain.time"    // int; ns from the first handoff to the last
	attrChainThreads   = "weft.lock.chain.threads" // string; the first threads of the run: a -> b -> c
)

// Attributes of the root's event for a deadlock.
const (
	attrDeadlockEvent   = "weft.deadlock"
	attrDeadlockThreads = "weft.deadlock.threads" // string; threads and the locks they wait for: a -> OrderBook -> b -> Account -> a
	attrDeadlockSince   = "weft.deadlock.since"   // int; when the cycle closed

	// On its log record, and on the log record for its end.
	attrDeadlockMembers = "weft.deadlock.members"  // slice of maps; each thread, the lock it waits for, its owner and the stack
	attrDeadlockEnd     = "weft.deadlock.end"      // name of the event
	attrDeadlockEndedBy = "weft.deadlock.ended_by" // string: went_on, exit, detached, lost
)

// Attributes of the root's event for two locks that are acquired in both orders.
const (
	attrOrderEvent  = "weft.lock_order"
	attrOrderFirst  = "weft.lock_order.first"
	attrOrderSecond = "weft.lock_order.second"
)

// Attributes of metrics and log records that no span has.
const (
	attrHolderState     = "weft.lock.holder.state"     // string; state of the thread that holds the lock
	attrPool            = "weft.thread.pool"           // string; pattern of the thread's name: http-exec-*
	attrCarrierState    = "weft.virtual.carrier.state" // string: idle, running, pinned
	attrLostNotifyEvent = "weft.lost_notify"           // name of the event
	attrOverflow        = "otel.metric.overflow"       // bool; OpenTelemetry's: the series collects everything beyond a limit
)

// Attributes of incidents. The root of a window has the sums.
const (
	attrIncidentKind     = "weft.incident.kind" // string: contention, deadlock, pool_exhausted
	attrIncidentRole     = "weft.incident.role" // string, on the spans below the root: holder, waiter
	attrIncidentOpen     = "weft.incident.open" // bool; it was not over at the end of its trace
	attrIncidentBlocked  = "weft.incident.blocked.time"
	attrIncidentWaits    = "weft.incident.waits"
	attrIncidentThreads  = "weft.incident.threads"
	attrIncidentLongest  = "weft.incident.wait.max" // int; the longest wait
	attrIncidentTimedOut = "weft.incident.timed_out"
	attrIncidentLocks    = "weft.incident.locks"              // string; blocked time by lock, if threads waited for several
	attrIncidentBefore   = "weft.incident.continues.trace.id" // string; trace id of the incident that was cut where this one starts

	attrIncidentEvent   = "weft.incident" // name of the window's events, one for each incident that has a trace
	attrIncidentName    = "weft.incident.name"
	attrIncidentTraceID = "weft.incident.trace.id"

	attrIncidentCount       = "weft.incident.count" // int; incidents that have a trace
	attrIncidentTime        = "weft.incident.time"  // int; their blocked time, also in earlier windows
	attrIncidentFoldedCount = "weft.incident.folded.count"
	attrIncidentFoldedTime  = "weft.incident.folded.time"
	attrIncidentOpenCount   = "weft.incident.open.count"
	attrIncidentOpenTime    = "weft.incident.open.time"
	attrStarvedTime         = "weft.starved.time"
)

// Exact totals of a thread span and of the root, by state. Counts cover the intervals that began in the window, so that they add up over
// windows; times cover all parts within the window, in nanoseconds.
var (
	attrCount = [...]string{ // by jvmthread.State
		"weft.count.unknown", "weft.count.runnable", "weft.count.blocked", "weft.count.waiting", "weft.count.reentering",
		"weft.count.joining", "weft.count.sleeping", "weft.count.parked", "weft.count.deadlocked", "weft.count.suspended",
		"", "weft.count.queued", // a dead thread is in no interval
	}
	attrTime = [...]string{ // by jvmthread.State
		"weft.time.unknown", "weft.time.runnable", "weft.time.blocked", "weft.time.waiting", "weft.time.reentering",
		"weft.time.joining", "weft.time.sleeping", "weft.time.parked", "weft.time.deadlocked", "weft.time.suspended",
		"", "weft.time.queued",
	}

	// Parts of weft.lock.held.time, by the state of the holder.
	attrRequestWait = [...]string{ // by jvmthread.Wait: time that a request waited
		"",
		"weft.request.wait.lock", "weft.request.wait.permit", "weft.request.wait.pool", "weft.request.wait.reenter",
		"weft.request.wait.condition", "weft.request.wait.latch", "weft.request.wait.barrier", "weft.request.wait.exchange",
		"weft.request.wait.future", "weft.request.wait.queue", "weft.request.wait.object", "weft.request.wait.join",
		"weft.request.wait.io", "weft.request.wait.sleep", "weft.request.wait.timer", "weft.request.wait.idle",
		"weft.request.wait.suspend", "weft.request.wait.park", "weft.request.wait.carrier",
	}
	attrHolder = [...]string{ // by jvmthread.State
		"weft.lock.holder.unknown", "weft.lock.holder.runnable", "weft.lock.holder.blocked", "weft.lock.holder.waiting",
		"weft.lock.holder.reentering", "weft.lock.holder.joining", "weft.lock.holder.sleeping", "weft.lock.holder.parked",
		"weft.lock.holder.deadlocked", "weft.lock.holder.suspended", "", "weft.lock.holder.queued",
	}
)
