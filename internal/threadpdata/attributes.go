// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

// Attributes of OpenTelemetry's semantic conventions that Weft uses as they are.
const (
	attrServiceName       = "service.name"
	attrServiceInstanceID = "service.instance.id"
	attrProcessPID        = "process.pid"
	attrThreadID          = "thread.id"
	attrThreadName        = "thread.name"
	attrThreadDaemon      = "jvm.thread.daemon"
	attrThreadState       = "jvm.thread.state"
	attrFunction          = "code.function.name"
	attrFile              = "code.file.path"
	attrLine              = "code.line.number"
	attrStacktrace        = "code.stacktrace"
)

// Attributes of carriers, which hold raw events between components. Times are nanoseconds since the Unix epoch.
const (
	attrSessionID    = "weft.session.id"     // resource; string of 32 hexadecimal digits
	attrSingleEnded  = "weft.recording.old"  // resource; bool; a wait has one end only, see recording.CompleteWaits
	attrRawBatch     = "weft.raw.batch"      // int; number of the batch, from 1
	attrRawPart      = "weft.raw.part"       // int; which of the batch's carriers this is, from 0
	attrRawParts     = "weft.raw.parts"      // int; how many carriers the batch has
	attrRawWatermark = "weft.raw.watermark"  // int; every earlier event is in this batch or in an earlier one
	attrRawBefore    = "weft.raw.before"     // int; events in all earlier batches
	attrRawEnd       = "weft.raw.end"        // string; the session is over: exit, detached or lost
	attrRawStacks    = "weft.raw.stacks"     // slice of strings; the stacks that the events point at
	attrEventPeer    = "weft.event.peer"     // int; thread id
	attrEventArg     = "weft.event.arg"      // int; timeout in ns, or number of lost events
	attrEventFlags   = "weft.event.flags"    // int
	attrEventStack   = "weft.event.stack"    // int; index into weft.raw.stacks
	attrEventTraceID = "weft.event.trace.id" // string of 32 hexadecimal digits; of the application's span that is current
	attrEventSpanID  = "weft.event.span.id"  // string of 16 hexadecimal digits
	attrThreadGroup  = "weft.thread.group"   // string
	attrVirtual      = "weft.thread.virtual" // bool

	attrRecordingFormat     = "weft.recording.format"     // resource; string; what the session was read from, if it was not an agent
	attrRecordingThresholds = "weft.recording.thresholds" // resource; string; what is shorter is not in the recording

	attrCarrierThread = "weft.thread.carrier" // bool; virtual threads run on it
)

// Attributes of carriers that hold an aggregate, and of their span events, each of which is a series.
const (
	attrAggregateFrom     = "weft.aggregate.from"     // int; behind this time ...
	attrAggregateTo       = "weft.aggregate.to"       // int; ... and not behind this one the waits ended
	attrAggregateScale    = "weft.aggregate.scale"    // int; of all histograms
	attrAggregateKind     = "weft.aggregate.kind"     // string; the event that begins such a wait
	attrAggregateSum      = "weft.aggregate.sum"      // int; ns
	attrAggregateMax      = "weft.aggregate.max"      // int; ns
	attrAggregateZero     = "weft.aggregate.zero"     // int; waits of 0 ns
	attrAggregateOffset   = "weft.aggregate.offset"   // int; index of the first bucket
	attrAggregateBuckets  = "weft.aggregate.buckets"  // slice of ints; waits by duration
	attrAggregateOverflow = "weft.aggregate.overflow" // bool; all waits of the kind for which there was no series
)

// Attributes of state spans.
const (
	attrState           = "weft.state"           // string; the state's name
	attrIntervalTime    = "weft.interval.time"   // int; exact nanoseconds of this span; the span itself ends 1 us early
	attrIntervalStart   = "weft.interval.start"  // int; when the state began, if that was in an earlier window
	attrIntervalOpen    = "weft.interval.open"   // bool; the state goes on behind this span
	attrHistoryMissing  = "weft.history.missing" // bool; the state began before history does
	attrWaitKind        = "weft.wait.kind"       // string: lock, object, join, sleep, park, reenter
	attrWaitTimeout     = "weft.wait.timeout"    // int; ns
	attrWaitTimedOut    = "weft.wait.timed_out"  // bool
	attrWaitCause       = "weft.wait.cause"      // string; what ended it: an interaction's kind, timeout or unknown
	attrIdle            = "weft.wait.idle"       // bool; nobody who was blocked waited for what this thread would do next
	attrLockClass       = "weft.lock.class"      // string
	attrLockID          = "weft.lock.id"         // int; identity hash
	attrOwnerID         = "weft.lock.owner.thread.id"
	attrOwnerName       = "weft.lock.owner.thread.name"
	attrContextTraceID  = "weft.context.trace.id" // string of 32 hexadecimal digits; the application's span that was current when the wait began
	attrContextSpanID   = "weft.context.span.id"  // string of 16 hexadecimal digits
	attrOwnerTraceID    = "weft.lock.owner.trace.id"
	attrOwnerSpanID     = "weft.lock.owner.span.id"
	attrOwnerFunction   = "weft.lock.owner.function" // string; where the owner was
	attrOwnerStacktrace = "weft.lock.owner.stacktrace"
	attrCPUTime         = "weft.cpu.time" // int; ns of a runnable interval on a processor
	attrJoinedID        = "weft.joined.thread.id"
	attrJoinedName      = "weft.joined.thread.name"
	attrDeadlockID      = "weft.deadlock.id" // string; the same on all spans of a deadlock
	attrExplanation     = "weft.explanation" // string; in words what the link says, since Jaeger's page drops link attributes
)

// Attributes of the critical path: of its lane, of the spans that are on it, and of the root's lock events.
const (
	attrPath     = "weft.critical_path"       // bool; some of this span is on it
	attrPathTime = "weft.critical_path.time"  // int; how much
	attrPathKind = "weft.critical_path.kind"  // string; why a segment is on it
	attrSlack    = "weft.critical_path.slack" // int; how much longer the wait could have lasted for nothing

	attrSiteEvent = "weft.critical_path.site"  // name of the lane's span events, one for each of the costliest call sites
	attrShare     = "weft.critical_path.share" // double; part of the path, from 0 to 1

	// Of the lane: whose path it is; of a segment: who acts. Not thread.*, so that sums by thread count nothing twice.
	attrPathThreadID   = "weft.critical_path.thread.id"
	attrPathThreadName = "weft.critical_path.thread.name"

	attrSaved = "weft.what_if.saved" // int; how much earlier the path's thread would be done without contention on the class
	attrBound = "weft.what_if.bound" // int; it could not be more
)

// Attributes of links.
const (
	attrLinkKind       = "weft.link.kind"
	attrLinkLatency    = "weft.link.latency"    // int; ns from the cause to its effect
	attrLinkConfidence = "weft.link.confidence" // string
)

// Attributes of a window's root span, of its thread spans (folded), and of the root's lock events.
const (
	attrWindowCut      = "weft.window.cut" // string; why it ended: time, size, end, lost, shutdown
	attrThreads        = "weft.window.threads"
	attrEvents         = "weft.events.count"
	attrEventsLost     = "weft.events.lost"   // int; events that the agent could not keep
	attrEventsMissed   = "weft.events.missed" // int; events sent before this collector took part, or lost on the way
	attrFoldedCount    = "weft.folded.count"
	attrFoldedTime     = "weft.folded.time"
	attrFoldedThreads  = "weft.folded.threads"
	attrLockEvent      = "weft.lock" // name of the root's span events, one for each of the hottest lock classes
	attrLockContended  = "weft.lock.contentions"
	attrLockBlocked    = "weft.lock.blocked.time"
	attrLockBlockedMax = "weft.lock.blocked.max"
	attrLockWaits      = "weft.lock.waits"
	attrLockWaited     = "weft.lock.waited.time"
	attrLockHandoffs   = "weft.lock.handoffs"
	attrLockWaiters    = "weft.lock.waiters" // int; the most threads blocked on one lock of the class at one time
	attrLockHolds      = "weft.lock.holds"
	attrLockHeld       = "weft.lock.held.time"
	attrLockHeldMax    = "weft.lock.held.max"
	attrChainLength    = "weft.lock.chain.length"  // int; handoffs in a row, each by the thread that got the lock by the one before
	attrChainTime      = "weft.lock.chain.time"    // int; ns from the first of them to the last
	attrChainThreads   = "weft.lock.chain.threads" // string; the first of its threads: a -> b -> c
)

// Attributes of the root's event that tells of a deadlock.
const (
	attrDeadlockEvent   = "weft.deadlock"
	attrDeadlockThreads = "weft.deadlock.threads" // string; who waits for what: a -> OrderBook -> b -> Account -> a
	attrDeadlockSince   = "weft.deadlock.since"   // int; when the cycle closed

	// Of its log record, and of the one that tells that it is over.
	attrDeadlockMembers = "weft.deadlock.members"  // slice of maps; each thread, the lock it waits for, its owner and the stack
	attrDeadlockEnd     = "weft.deadlock.end"      // name of the event
	attrDeadlockEndedBy = "weft.deadlock.ended_by" // string: went_on, exit, detached, lost
)

// Attributes of the root's event that tells of two locks that are taken in both orders.
const (
	attrOrderEvent  = "weft.lock_order"
	attrOrderFirst  = "weft.lock_order.first"
	attrOrderSecond = "weft.lock_order.second"
)

// Attributes of metrics and log records that no span has.
const (
	attrHolderState     = "weft.lock.holder.state"  // string; what the thread that holds the lock is doing
	attrPool            = "weft.thread.pool"        // string; pattern of the thread's name: http-exec-*
	attrLostNotifyEvent = "weft.lost_notify"        // name of the event
	attrLostReason      = "weft.lost_notify.reason" // string: nobody_waited, other_woken
	attrOverflow        = "otel.metric.overflow"    // bool; OpenTelemetry's: the series for all that is over a limit
)

// Exact totals of a thread span and of the root, by state. A count is of intervals that began in the window, so that counts of windows
// add up; a time is of all pieces within the window, in nanoseconds.
var (
	attrCount = [...]string{ // by jvmthread.State
		"weft.count.unknown", "weft.count.runnable", "weft.count.blocked", "weft.count.waiting", "weft.count.reentering",
		"weft.count.joining", "weft.count.sleeping", "weft.count.parked", "weft.count.deadlocked", "weft.count.suspended",
	}
	attrTime = [...]string{ // by jvmthread.State
		"weft.time.unknown", "weft.time.runnable", "weft.time.blocked", "weft.time.waiting", "weft.time.reentering",
		"weft.time.joining", "weft.time.sleeping", "weft.time.parked", "weft.time.deadlocked", "weft.time.suspended",
	}

	// What the holders of a lock class were doing, of weft.lock.held.time.
	attrHolder = [...]string{ // by jvmthread.State
		"weft.lock.holder.unknown", "weft.lock.holder.runnable", "weft.lock.holder.blocked", "weft.lock.holder.waiting",
		"weft.lock.holder.reentering", "weft.lock.holder.joining", "weft.lock.holder.sleeping", "weft.lock.holder.parked",
		"weft.lock.holder.deadlocked", "weft.lock.holder.suspended",
	}
)
