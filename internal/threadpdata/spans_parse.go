// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"encoding/hex"
	"math"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// ShownKind is what a span of a window's trace shows.
type ShownKind uint8

// The kinds. Spans of the critical path, of incidents and of requests repeat what the spans of states say.
const (
	ShownOther ShownKind = iota
	ShownWindow
	ShownThread
	ShownState
)

// Shown is what a span of the trace of a window says, as Emitter wrote it. Which fields are set depends on the kind.
type Shown struct {
	Kind       ShownKind
	TraceID    pcommon.TraceID
	SpanID     pcommon.SpanID
	Start, End jvmthread.Time // of a state: exact; of others: of the span
	Thread     jvmthread.Thread
	Links      []ShownLink

	Cut           window.Cut     // of a window
	WindowStart   jvmthread.Time // exact
	FoldedThreads window.Folded
	Lost          uint64 // events that the agent dropped, or that did not arrive

	Folded    window.Folded // intervals of a thread without a span
	Contended window.Folded // contended waits without a span, of a thread or of a window
	Unknown   bool          // the state of the thread was unknown in a part of the window
	Calls     []jvmthread.Event
	Classes   []string // of the locks of Calls

	// Of a state.
	State       jvmthread.State
	Began       jvmthread.Time // of the state
	WaitBegan   jvmthread.Time // of the wait, which may be in an earlier state
	Continues   bool           // the wait began in an earlier state
	Open        bool
	Partial     bool
	TimedOut    bool
	Interrupted bool
	Pinned      bool
	Lock        bool // the thread waits for a lock that one thread owns
	Timeout     int64
	CPU         int64
	RunQueue    int64
	HasCPU      bool
	Class       string
	Hash        uint32
	LockName    string
	Owner       jvmthread.ThreadID
	Holder      string // name of the thread that held the lock longest
	Joined      jvmthread.ThreadID
	Function    string
	Entry       string
	Stack       string
	OwnerStack  string
	Context     jvmthread.SpanContext
	OwnerSpan   jvmthread.SpanContext
}

// ShownLink is a link to a span of the same session.
type ShownLink struct {
	Kind    string
	SpanID  pcommon.SpanID
	Latency int64 // from the cause to its effect
	Exact   bool
}

// ReadSpan replaces sh with what a span says. It is the inverse of Emitter.Append, as far as there is one. Values of a wrong type or range
// are taken as absent.
func ReadSpan(s ptrace.Span, sh *Shown) {
	*sh = Shown{
		TraceID: s.TraceID(), SpanID: s.SpanID(), Start: jvmthread.Time(s.StartTimestamp()), End: jvmthread.Time(s.EndTimestamp()),
		Links: sh.Links[:0], Calls: sh.Calls[:0], Classes: sh.Classes[:0],
	}
	r := spanReader{Shown: sh}
	for key, value := range s.Attributes().All() {
		r.attribute(key, value)
	}
	switch {
	case r.isWindow:
		sh.Kind = ShownWindow
	case r.hasState && r.hasTime && r.hasThread:
		sh.Kind = ShownState
		sh.End = sh.Start + r.exact
		if sh.Began <= 0 || sh.Began > sh.Start {
			sh.Began = sh.Start
		}
		if sh.WaitBegan <= 0 || sh.WaitBegan > sh.Began {
			sh.WaitBegan = sh.Began
		}
		r.links(s)
	case r.hasDaemon && r.hasThread && !r.hasState:
		sh.Kind = ShownThread
		r.links(s)
		r.calls(s)
	}
}

// spanReader collects the attributes of a span.
type spanReader struct {
	*Shown

	isWindow, hasState, hasTime, hasThread, hasDaemon bool
	exact                                             jvmthread.Time
}

func (r *spanReader) attribute(key string, value pcommon.Value) {
	switch value.Type() {
	case pcommon.ValueTypeStr:
		r.text(key, value.Str())
	case pcommon.ValueTypeInt:
		r.number(key, value.Int())
	case pcommon.ValueTypeBool:
		r.flag(key, value.Bool())
	}
}

func (r *spanReader) text(key, text string) {
	switch key {
	case attrState:
		r.State, r.hasState = jvmthread.ParseState(text)
	case attrThreadName:
		r.Thread.Name = text
	case attrThreadGroup:
		r.Thread.Group = text
	case attrWindowCut:
		r.Cut = window.Cut(text)
	case attrWaitKind:
		r.Lock = text == jvmthread.WaitLock.String()
	case attrWaitCause:
		r.Interrupted = text == window.CauseInterrupt.String()
	case attrLockClass:
		r.Class = text
	case attrLockName:
		r.LockName = text
	case attrHolderName:
		r.Holder = text
	case attrFunction:
		r.Function = text
	case attrEntry:
		r.Entry = text
	case attrStacktrace:
		r.Stack = text
	case attrOwnerStacktrace:
		r.OwnerStack = text
	case attrContextTraceID:
		readID(r.Context.TraceID[:], text)
	case attrContextSpanID:
		readID(r.Context.SpanID[:], text)
	case attrOwnerTraceID:
		readID(r.OwnerSpan.TraceID[:], text)
	case attrOwnerSpanID:
		readID(r.OwnerSpan.SpanID[:], text)
	}
}

// readID reads an ID of exactly the length of dst; others are taken as absent.
func readID(dst []byte, text string) {
	if len(text) != hex.EncodedLen(len(dst)) {
		return
	}
	if _, err := hex.Decode(dst, []byte(text)); err != nil {
		clear(dst)
	}
}

func (r *spanReader) number(key string, n int64) {
	switch key {
	case attrThreadID:
		r.Thread.ID, r.hasThread = jvmthread.ThreadID(n), n > 0
	case attrIntervalTime:
		r.exact, r.hasTime = jvmthread.Time(n), n >= 0 && n <= math.MaxInt64/4
	case attrIntervalStart:
		r.Began = jvmthread.Time(n)
	case attrWaitStart:
		r.WaitBegan, r.Continues = jvmthread.Time(n), true
	case attrWaitTimeout:
		r.Timeout = max(0, n)
	case attrLockID:
		if n >= 0 && n <= math.MaxUint32 {
			r.Hash = uint32(n)
		}
	case attrOwnerID:
		r.Owner = jvmthread.ThreadID(max(0, n))
	case attrJoinedID:
		r.Joined = jvmthread.ThreadID(max(0, n))
	case attrCPUTime:
		r.CPU, r.HasCPU = n, n >= 0
	case attrRunQueueTime:
		r.RunQueue = max(0, n)
	case attrWindowStart:
		r.WindowStart, r.isWindow = jvmthread.Time(n), true
	case attrEventsLost, attrEventsMissed:
		r.Lost += min(count(n), jvmthread.MaxLost)
	case attrFoldedThreads:
		r.FoldedThreads.Count = count(n)
	case attrFoldedCount:
		r.Folded.Count = count(n)
	case attrFoldedTime:
		r.Folded.Time = duration(n)
	case attrFoldedWaits:
		r.Contended.Count = count(n)
	case attrFoldedWaitTime:
		r.Contended.Time = duration(n)
	case attrCount[jvmthread.StateUnknown], attrTime[jvmthread.StateUnknown]:
		r.Unknown = true
	}
}

func (r *spanReader) flag(key string, flag bool) {
	switch key {
	case attrThreadDaemon:
		r.Thread.Daemon, r.hasDaemon = flag, true
	case attrVirtual:
		r.Thread.Virtual = flag
	case attrCarrierThread:
		r.Thread.Carrier = flag
	case attrIntervalOpen:
		r.Open = flag
	case attrHistoryMissing:
		r.Partial = flag
	case attrWaitTimedOut:
		r.TimedOut = flag
	case attrPinned:
		r.Pinned = flag
	}
}

// links reads the links to spans of the session.
func (r *spanReader) links(s ptrace.Span) {
	links := s.Links()
	for i := range links.Len() {
		l := ShownLink{SpanID: links.At(i).SpanID(), Exact: true, Latency: -1}
		for key, value := range links.At(i).Attributes().All() {
			switch {
			case key == attrLinkKind && value.Type() == pcommon.ValueTypeStr:
				l.Kind = value.Str()
			case key == attrLinkLatency && value.Type() == pcommon.ValueTypeInt:
				l.Latency = value.Int()
			case key == attrLinkConfidence:
				l.Exact = false
			}
		}
		r.Links = append(r.Links, l)
	}
}

// calls reads what the option calls shows on the span of a thread.
func (r *spanReader) calls(s ptrace.Span) {
	for i := range s.Events().Len() {
		at := s.Events().At(i)
		kind := callNamed(at.Name())
		if kind == jvmthread.KindNone {
			continue
		}
		ev := jvmthread.Event{Kind: kind, Time: jvmthread.Time(at.Timestamp()), Thread: r.Thread.ID}
		class := ""
		for key, value := range at.Attributes().All() {
			switch {
			case key == attrLockClass && value.Type() == pcommon.ValueTypeStr:
				class = value.Str()
			case value.Type() != pcommon.ValueTypeInt || value.Int() < 0:
			case key == attrCallThreadID:
				ev.Peer = jvmthread.ThreadID(value.Int())
			case key == attrLockID && value.Int() <= math.MaxUint32:
				ev.Lock.Hash = uint32(value.Int())
			}
		}
		r.Calls, r.Classes = append(r.Calls, ev), append(r.Classes, class)
	}
}

func callNamed(name string) jvmthread.Kind {
	for kind := range nameOfCall {
		if of := nameOfCall[kind]; of == name && of != "" {
			return jvmthread.Kind(kind)
		}
	}
	return jvmthread.KindNone
}

func count(n int64) uint64 { return uint64(max(0, n)) }

func duration(n int64) time.Duration { return time.Duration(max(0, n)) }
