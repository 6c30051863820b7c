// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp

import (
	"strconv"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// NewEncoder returns an encoder of traces. Times are in Times.Unit, by default seconds. The id of a monitor's object is its identity hash, that
// of a thread's object is the thread's id plus 2^32.
func NewEncoder(options recording.EncoderOptions) recording.Encoder {
	e := &encoder{
		options: options, unit: unitOf(options.Times), text: make(map[string][]byte), objects: make(map[jvmthread.LockID]jvmthread.ThreadID),
		waits: make(map[jvmthread.ThreadID]wait),
	}
	e.Append = e.append
	return e
}

type encoder struct {
	recording.EventEncoder

	options recording.EncoderOptions
	unit    time.Duration
	text    map[string][]byte // escaped

	// objects maps the locks that are objects of threads, as seen in joins.
	objects map[jvmthread.LockID]jvmthread.ThreadID

	waits map[jvmthread.ThreadID]wait
}

// wait is the wait, join, sleep or park of a thread that has not returned.
type wait struct {
	parked  bool  // it has no elements
	begun   bool  // its begin is in the recording
	left    bool  // the thread has left the wait set: its end is written
	timeout int64 // in nanoseconds
}

// maxText limits the texts that the encoder caches. At the limit it starts over.
const maxText = 1 << 14

// Begin appends the head of a document.
func (*encoder) Begin(dst []byte, _ *recording.Session) []byte {
	return append(dst, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<?"+instruction+"?>\n<"+root+">\n"...)
}

// End appends the end of a document.
func (*encoder) End(dst []byte, _ *recording.End) []byte { return append(dst, "</"+root+">\n"...) }

func (e *encoder) append(dst []byte, ev *jvmthread.Event) []byte {
	name := elements[ev.Kind].name
	ended := e.waits[ev.Thread]
	switch ev.Kind {
	case jvmthread.KindWait, jvmthread.KindJoinStart, jvmthread.KindSleepStart:
		e.setWait(ev.Thread, wait{begun: true, timeout: ev.Arg})
	case jvmthread.KindPark:
		e.setWait(ev.Thread, wait{parked: true})
	case jvmthread.KindWaited:
		e.setWait(ev.Thread, wait{left: true})
	case jvmthread.KindSleepEnd, jvmthread.KindThreadEnd, jvmthread.KindUnparked:
		delete(e.waits, ev.Thread)
	case jvmthread.KindWaitReturned, jvmthread.KindJoinEnd:
		delete(e.waits, ev.Thread)
		if ended.left {
			return dst
		}
		name = elements[jvmthread.KindWaited].name
	case jvmthread.KindInterruptCalled: // of a thread that waits (row T137)
		if target := e.waits[ev.Peer]; !target.begun && !target.parked {
			return dst
		}
	case jvmthread.KindInterrupted:
		if ev.Flags&jvmthread.FlagInterrupted == 0 {
			return dst
		}
	}
	if name == "" || ev.Thread == jvmthread.NoThread {
		return dst
	}
	dst = append(append(dst, '<'), name...)
	key := " threadIdRef=\""
	switch ev.Kind {
	case jvmthread.KindThreadStart, jvmthread.KindStartCalled, jvmthread.KindInterruptCalled, jvmthread.KindNotify, jvmthread.KindNotifyAll,
		jvmthread.KindInterrupted:
		key = " threadId=\""
	}
	dst = strconv.AppendUint(append(dst, key...), uint64(ev.Thread), 10)
	dst = recording.AppendTime(append(dst, "\" time=\""...), ev.Time-e.options.Times.Origin, e.unit)
	dst = append(dst, '"')
	dst = e.appendRest(dst, ev, ended)
	start := len(dst)
	dst = append(dst, '>')
	if dst = e.appendNotes(dst, ev); len(dst) == start+1 {
		return append(dst[:start], "/>\n"...)
	}
	return append(append(append(dst, "</"...), name...), ">\n"...)
}

func (e *encoder) setWait(th jvmthread.ThreadID, w wait) {
	if len(e.waits) >= recording.MaxThreads {
		clear(e.waits)
	}
	e.waits[th] = w
}

// appendRest appends the attributes after thread and time. Ended is the wait that ends.
func (e *encoder) appendRest(dst []byte, ev *jvmthread.Event, ended wait) []byte {
	switch ev.Kind {
	case jvmthread.KindThreadStart:
		th := e.options.Symbols.Thread(ev.Thread)
		dst = appendObject(dst, threadObject+uint64(ev.Thread))
		dst = e.appendText(dst, " threadName=\"", th.Name)
		return appendForeign(e.appendText(dst, " groupName=\"", th.Group), th.Foreign, "parentName", "collationValue", "traceIdRef")
	case jvmthread.KindThreadEnd:
		return appendForeign(dst, e.options.Symbols.Thread(ev.Thread).Foreign, "collationValue", "traceIdRef")
	case jvmthread.KindStartCalled, jvmthread.KindInterruptCalled:
		return appendThreadObject(dst, ev.Peer)
	case jvmthread.KindContendedEnter:
		dst = e.appendLock(dst, ev)
		if ev.Peer != jvmthread.NoThread {
			dst = strconv.AppendUint(append(dst, " threadOwner=\""...), uint64(ev.Peer), 10)
			dst = append(dst, '"')
		}
	case jvmthread.KindContendedEntered:
		return e.appendLock(dst, ev)
	case jvmthread.KindNotify:
		return append(e.appendLock(dst, ev), " isNotifyAll=\"0\""...)
	case jvmthread.KindNotifyAll:
		return append(e.appendLock(dst, ev), " isNotifyAll=\"1\""...)
	case jvmthread.KindWait:
		return appendTimeout(e.appendLock(dst, ev), ev.Arg)
	case jvmthread.KindJoinStart:
		if len(e.objects) >= maxText {
			clear(e.objects)
		}
		e.objects[ev.Lock] = ev.Peer
		return appendTimeout(appendThreadObject(dst, ev.Peer), ev.Arg)
	case jvmthread.KindSleepStart:
		return appendTimeout(append(dst, " objIdRef=\"-1\""...), ev.Arg)
	case jvmthread.KindSleepEnd:
		dst = append(dst, " objIdRef=\"-1\""...)
		if !ended.begun || ended.timeout == 0 {
			return dst
		}
		return appendTimedOut(appendTimeout(dst, ended.timeout), ev.Flags&jvmthread.FlagInterrupted == 0)
	case jvmthread.KindWaited, jvmthread.KindWaitReturned, jvmthread.KindJoinEnd:
		if dst = e.appendLock(dst, ev); ev.Lock.IsZero() {
			dst = appendThreadObject(dst, ev.Peer)
		}
		if ended.begun {
			dst = appendTimeout(dst, ended.timeout)
		}
		return appendTimedOut(dst, ev.Flags&jvmthread.FlagTimedOut != 0)
	}
	return dst
}

func appendTimedOut(dst []byte, timedOut bool) []byte {
	if timedOut {
		return append(dst, " isTimedOut=\"1\""...)
	}
	return append(dst, " isTimedOut=\"0\""...)
}

func (e *encoder) appendLock(dst []byte, ev *jvmthread.Event) []byte {
	if ev.Lock.IsZero() {
		return dst
	}
	if th, ok := e.objects[ev.Lock]; ok {
		return appendThreadObject(dst, th)
	}
	return appendObject(dst, uint64(ev.Lock.Hash))
}

func appendThreadObject(dst []byte, th jvmthread.ThreadID) []byte {
	if th == jvmthread.NoThread {
		return dst
	}
	return appendObject(dst, threadObject+uint64(th))
}

func appendObject(dst []byte, object uint64) []byte {
	return append(strconv.AppendUint(append(dst, " objIdRef=\""...), object, 10), '"')
}

// appendTimeout appends milliseconds, with decimals only if needed.
func appendTimeout(dst []byte, timeout int64) []byte {
	dst = append(dst, " timeout=\""...)
	if timeout%int64(time.Millisecond) == 0 {
		dst = strconv.AppendInt(dst, timeout/int64(time.Millisecond), 10)
	} else {
		dst = recording.AppendTime(dst, jvmthread.Time(timeout), time.Millisecond)
	}
	return append(dst, '"')
}

// appendText appends an attribute unless its text is empty.
func (e *encoder) appendText(dst []byte, key, text string) []byte {
	if text == "" {
		return dst
	}
	return append(appendEscaped(append(dst, key...), text, true), '"')
}

// appendNotes appends annotations for properties without an attribute.
func (e *encoder) appendNotes(dst []byte, ev *jvmthread.Event) []byte {
	if class := e.options.Symbols.Class(ev.Lock.Class); class != "" {
		dst = e.appendNote(dst, noteClass, class)
	}
	if ev.Stack != jvmthread.NoStack && e.options.Stacks {
		dst = e.appendNote(dst, noteStack, e.options.Symbols.Whole(ev.Stack))
	}
	switch ev.Kind {
	case jvmthread.KindThreadStart:
		th := e.options.Symbols.Thread(ev.Thread)
		if th.Daemon {
			dst = e.appendNote(dst, noteDaemon, "true")
		}
		if th.Virtual {
			dst = e.appendNote(dst, noteVirtual, "true")
		}
	case jvmthread.KindSleepEnd:
		if ev.Flags&jvmthread.FlagInterrupted != 0 {
			dst = e.appendNote(dst, noteInterrupted, "true")
		}
	}
	return dst
}

func (e *encoder) appendNote(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	dst = append(append(append(dst, `<annotation name="`...), name...), `">`...)
	escaped, ok := e.text[text]
	if !ok {
		if len(e.text) >= maxText {
			clear(e.text)
		}
		escaped = appendEscaped(nil, text, false)
		e.text[text] = escaped
	}
	return append(append(dst, escaped...), "</annotation>"...)
}
