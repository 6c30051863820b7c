// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import "github.com/weft-otel/weft/internal/jvmthread"

// Sink takes what a Decoder finds. Its methods are called by the goroutine that writes to the decoder, one at a time. An error makes the
// decoder stop: the Write, Flush or Close at hand returns it, and so do all later ones.
type Sink interface {
	// Session says whose events follow. It comes before the first batch; again if the recording goes on with another session, which
	// ends the one before.
	Session(*Session) error
	// Batch hands over events. The batch is good until Batch returns.
	Batch(*Batch) error
	// Problem tells of something that is wrong in the recording. What it cost is in Problem.Lost.
	Problem(Problem) error
	// End says that the session is over in the recording: nothing of it follows. A recording that breaks off has no End.
	End(End) error
}

// Session is what a recording says of a JVM.
type Session struct {
	ID         jvmthread.SessionID // zero: the format has none; whoever reads chooses one, the same for the same recording
	PID        uint32              // 0: not known
	Attributes []Attribute         // of the resource, with OpenTelemetry's names
	Old        bool                // as engine.Config.OldRecording: a wait has one end only
	Thresholds []string            // shorter than this is not in the recording: "jdk.ThreadPark: 20ms"; people are shown them
}

// Attribute is an attribute of the resource.
type Attribute struct{ Key, Value string }

// Batch is some events of a session.
type Batch struct {
	// Threads are defined here, or defined anew: the definition holds from the first event of this batch on.
	Threads []jvmthread.Thread
	// Events are in the order of time over all threads, and none is earlier than Watermark of the batch before. The ids of classes and
	// stacks are those of Options.Symbols. Times are wall-clock times.
	Events []jvmthread.Event
	// Aggregate, if not nil, has the sums of an agent in aggregated mode; then there are no Events. Ids and times are as in those. Only
	// encoders of formats that carry aggregates (Capabilities) are given them.
	Aggregate *jvmthread.Aggregate
	// Watermark says that no later batch has an earlier event. It never falls.
	Watermark jvmthread.Time
	// Lost counts the events that are known to be missing between the batch before and the end of this one, other than those that gaps
	// among Events tell of.
	Lost uint64
}

// End is the end of a session.
type End struct {
	Time   jvmthread.Time
	Reason string // one of those of threadpdata: exit, detached, lost
}
