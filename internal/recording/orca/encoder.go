// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
)

// NewEncoder returns an encoder of logs. The hash code of a thread is its id, or a number above 2^31 if the id has more than 32 bits. The
// end of a wait repeats the stack of its begin. The location of a frame is its bytecode index, or its line if that is unknown.
func NewEncoder(options recording.EncoderOptions) recording.Encoder {
	e := &encoder{
		options: options, meta: newMetadata(), stacks: make(map[jvmthread.StackID][]byte), begins: make(map[jvmthread.ThreadID]begin),
	}
	e.Append = e.appendEvent
	return e
}

type encoder struct {
	recording.EventEncoder

	options recording.EncoderOptions
	meta    metadata
	stacks  map[jvmthread.StackID][]byte // as written in lines
	hashes  hashes
	begins  map[jvmthread.ThreadID]begin
}

// begin has the stacks of what a thread has begun and not ended. A wait can include a contended enter, when the monitor is taken again.
type begin struct{ wait, enter jvmthread.StackID }

func (e *encoder) appendEvent(dst []byte, ev *jvmthread.Event) []byte {
	line := &events[ev.Kind]
	if line.name == "" || ev.Thread == jvmthread.NoThread {
		return dst
	}
	dst = recording.AppendTime(dst, ev.Time-e.options.Times.Origin, time.Second)
	dst = append(append(append(dst, ','), line.name...), ',')
	dst = appendHash(dst, e.hashes.of(ev.Thread))
	switch line.object {
	case aMonitor:
		dst = appendHash(append(dst, ','), ev.Lock.Hash)
	case aThread:
		dst = appendHash(append(dst, ','), e.hashes.of(ev.Peer))
	case noObject:
	}
	if line.owner {
		dst = appendHash(append(dst, ','), e.hashes.of(ev.Peer))
	}
	if line.named {
		dst = append(append(dst, ','), oneLine(e.options.Symbols.Thread(ev.Thread).Name)...)
	}
	if line.stack {
		dst = append(dst, e.stack(e.stackOf(ev))...)
	}
	return append(dst, '\n')
}

// stackOf returns the stack of an event, or that of its begin for the end of a wait without one: the thread has not moved since.
func (e *encoder) stackOf(ev *jvmthread.Event) jvmthread.StackID {
	begun := e.begins[ev.Thread]
	switch ev.Kind {
	case jvmthread.KindWait, jvmthread.KindJoinStart, jvmthread.KindSleepStart:
		e.setBegin(ev.Thread, begin{wait: ev.Stack})
	case jvmthread.KindContendedEnter:
		e.setBegin(ev.Thread, begin{wait: begun.wait, enter: ev.Stack})
	case jvmthread.KindContendedEntered:
		e.setBegin(ev.Thread, begin{wait: begun.wait})
		return cmp.Or(ev.Stack, begun.enter)
	case jvmthread.KindWaitReturned, jvmthread.KindJoinEnd, jvmthread.KindSleepEnd:
		delete(e.begins, ev.Thread)
		return cmp.Or(ev.Stack, begun.wait)
	}
	return ev.Stack
}

func (e *encoder) setBegin(th jvmthread.ThreadID, b begin) {
	if len(e.begins) >= recording.MaxThreads {
		clear(e.begins)
	}
	e.begins[th] = b
}

func appendHash(dst []byte, hash uint32) []byte { return recording.AppendHex(dst, uint64(hash), 8) }

// oneLine replaces line breaks, which a log cannot represent.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, text)
}

// stack returns a stack as written in a line, starting with the comma before its depth.
func (e *encoder) stack(id jvmthread.StackID) []byte {
	if id == jvmthread.NoStack || !e.options.Stacks {
		return noFrames
	}
	if text, ok := e.stacks[id]; ok {
		return text
	}
	if len(e.stacks) >= maxKnown {
		clear(e.stacks)
	}
	frames := make([]byte, 0, 256)
	depth, code := 0, e.options.Symbols.Code(id)
	for frame := range strings.SplitSeq(e.options.Symbols.Stack(id), "\n") {
		if _, isLock := symbols.ParseLock(frame); isLock || frame == symbols.Truncated || frame == "" {
			continue
		}
		signature, index, ok := code.Next()
		if !ok {
			index = unknownIndex
		}
		method, location := e.meta.define(frame, signature, index)
		frames = recording.AppendHex(append(frames, ','), uint64(method), 16)
		frames = recording.AppendHex(append(frames, ','), uint64(location), 8)
		depth++
	}
	text := append(strconv.AppendInt([]byte{','}, int64(depth), 10), frames...)
	e.stacks[id] = text
	return text
}

var noFrames = []byte(",0")
