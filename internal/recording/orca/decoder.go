// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// New returns a decoder of a runtime log and its metadata.
//
// A hash code is the id of its thread; if it is reused after the thread has ended, the new thread gets another id. Waiting on the object of a
// thread is a join, like ThreadJoin. Waits inside a ThreadJoin of the same thread are part of it and skipped.
func New(options recording.Options, sink recording.Sink) recording.Decoder {
	d := &decoder{}
	d.Text = recording.NewLines(recording.NewBatcher(options, sink, recording.Session{SingleEnded: true}), d.line, nil)
	d.stacks.init(d)
	return d
}

// decoder reads a log and, before each write, what was added to its metadata.
type decoder struct {
	*recording.Text

	threads recording.Threads
	stacks  stacks
}

func (d *decoder) Write(p []byte) (int, error) {
	d.stacks.load()
	return d.Text.Write(p)
}

// ReadFrom reads in large pieces, so that the metadata files are not checked too often.
func (d *decoder) ReadFrom(log io.Reader) (int64, error) { return recording.ReadPieces(d, log) }

func (d *decoder) line(line []byte) {
	at, n := parseStamp(line)
	if n == 0 {
		d.Report(1, "the line does not start with a time and a comma", "want <seconds>,<event>,<hash>,…")
		return
	}
	rest := line[n:]
	end := bytes.IndexByte(rest, ',')
	if end < 0 {
		end = len(rest)
	}
	kind := find(rest[:end])
	if kind == jvmthread.KindNone {
		d.Unknown("event", rest[:end])
		return
	}
	d.event(kind, at, rest[end:])
}

// event reads the fields of a line after its name.
func (d *decoder) event(kind jvmthread.Kind, at jvmthread.Time, rest []byte) {
	hash, rest, ok := d.hash(rest, "thread")
	if !ok {
		return
	}
	if hash == 0 {
		d.Report(1, "the thread is 0", "want a non-zero hash code")
		return
	}
	line := &events[kind]
	ev := jvmthread.Event{Kind: kind, Time: at}
	var object, owner uint32
	if line.object != noObject {
		if object, rest, ok = d.hash(rest, "object"); !ok {
			return
		}
	}
	if line.owner {
		if owner, rest, ok = d.hash(rest, "owner"); !ok {
			return
		}
	}
	if line.stack {
		ev.Stack = d.stacks.find(rest)
	}
	if !d.resolve(&ev, hash, object) {
		return
	}
	if owner != 0 {
		ev.Peer = d.threads.Find(uint64(owner)).ID
	}
	if line.named {
		d.Thread(jvmthread.Thread{ID: ev.Thread, Name: recording.Valid(bytes.TrimPrefix(rest, []byte{','}))})
	}
	d.Event(&ev)
}

// resolve determines the thread and the object of a line, and reports whether the line is an event of its own.
func (d *decoder) resolve(ev *jvmthread.Event, hash, object uint32) bool {
	var th *recording.Thread
	if ev.Kind == jvmthread.KindThreadStart {
		th = d.threads.Begin(uint64(hash))
	} else {
		th = d.threads.Find(uint64(hash))
	}
	ev.Thread, th.Started = th.ID, true
	if ev.Kind != jvmthread.KindStartCalled {
		ev.Lock.Hash = object
	}
	switch ev.Kind {
	case jvmthread.KindThreadEnd:
		th.Ended = true
	case jvmthread.KindStartCalled:
		if object != 0 {
			ev.Peer = d.threads.Begin(uint64(object)).ID
		}
	case jvmthread.KindJoinStart, jvmthread.KindJoinEnd:
		th.Joins = jvmthread.NoThread
		if object != 0 {
			ev.Peer = d.threads.Find(uint64(object)).ID
		}
		if ev.Kind == jvmthread.KindJoinStart {
			th.Joins = ev.Peer
		}
	case jvmthread.KindWait, jvmthread.KindWaitReturned:
		peer := d.threads.Known(uint64(object))
		if peer == nil || !peer.Started {
			return true
		}
		if th.Joins == peer.ID {
			return false
		}
		ev.Peer = peer.ID
		if ev.Kind == jvmthread.KindWait {
			ev.Kind = jvmthread.KindJoinStart
		} else {
			ev.Kind = jvmthread.KindJoinEnd
		}
	}
	return true
}

// hash reads a comma and a hash code of 32 bits, which may have more than eight digits, and returns the rest of the line.
func (d *decoder) hash(text []byte, field string) (hash uint32, rest []byte, ok bool) {
	v, n := afterComma(text)
	if n == 0 {
		value, comma := bytes.CutPrefix(text, []byte{','})
		if !comma || len(value) == 0 {
			d.Report(1, "missing "+field, "the line may be truncated")
			return 0, nil, false
		}
		value, _, _ = bytes.Cut(value, []byte{','})
		d.Report(1, fmt.Sprintf("invalid %s %.40q", field, value), "want 8 hexadecimal digits")
		return 0, nil, false
	}
	if v > 1<<32-1 && v>>31 != 1<<33-1 { // more than 32 bits, and not a sign-extended negative number
		d.Report(1, fmt.Sprintf("the %s has more than 32 bits", field), "want the 32 bits returned by GetObjectHashCode")
		return 0, nil, false
	}
	return uint32(v), text[n:], true
}

// parseStamp parses the time at the start of a line, which may be in brackets, and the comma after it.
func parseStamp(line []byte) (t jvmthread.Time, n int) {
	open := 0
	if len(line) > 0 && line[0] == '[' {
		open = 1
	}
	t, n = recording.ParseTime(line[open:], time.Second)
	if n == 0 {
		return 0, 0
	}
	n += open
	if open > 0 && n < len(line) && line[n] == ']' {
		n++
	}
	if n >= len(line) || line[n] != ',' {
		return 0, 0
	}
	return t, n + 1
}
