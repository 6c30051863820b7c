// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// New returns a decoder of a runtime log, and of the metadata beside it.
//
// A hash code is the id of its thread; if it is used again after its thread ended, the new thread gets another id. Waiting on the object
// of a thread is a join, as it is with ThreadJoin; what is within a ThreadJoin of the same thread belongs to it and is left out.
func New(opts recording.Options, sink recording.Sink) recording.Decoder {
	d := &decoder{Batcher: recording.NewBatcher(opts, sink, recording.Session{Old: true}), strange: make(map[string]struct{})}
	d.text = recording.NewLines(d.Batcher, d.line, nil)
	d.stacks = newStacks(d)
	return &reader{d.text, d}
}

// reader is the decoder of a log that may grow, and its metadata with it: what is new in them is read before each piece of the log.
type reader struct {
	*recording.Text

	decoder *decoder
}

func (r *reader) Write(p []byte) (int, error) {
	r.decoder.stacks.load()
	return r.Text.Write(p)
}

// ReadFrom reads a log in pieces that are large, so that the metadata are not looked at too often.
func (r *reader) ReadFrom(log io.Reader) (n int64, err error) {
	piece := make([]byte, 1<<20)
	for {
		size, readErr := log.Read(piece)
		if size > 0 {
			size, err = r.Write(piece[:size])
			n += int64(size)
		}
		switch {
		case err != nil:
			return n, err
		case errors.Is(readErr, io.EOF):
			return n, nil
		case readErr != nil:
			return n, readErr
		}
	}
}

type decoder struct {
	*recording.Batcher

	text    *recording.Text
	threads recording.Threads
	stacks  stacks
	strange map[string]struct{} // names of events that this program does not know
}

const maxStrange = 16

func (d *decoder) line(line []byte) {
	at, n := parseStamp(line)
	if n == 0 {
		d.bad(1, "it does not begin with a time and a comma", "a line is <seconds>,<event>,<hash>,…")
		return
	}
	rest := line[n:]
	end := bytes.IndexByte(rest, ',')
	if end < 0 {
		end = len(rest)
	}
	kind := find(rest[:end])
	if kind == nil {
		d.unknown(rest[:end])
		return
	}
	d.event(kind, at, rest[end:])
}

// event reads the fields of a line from the comma behind its name on.
func (d *decoder) event(kind *event, at jvmthread.Time, rest []byte) {
	hash, rest, ok := d.hash(rest, "thread")
	if !ok {
		return
	}
	if hash == 0 {
		d.bad(1, "its thread is 0", "hash codes of threads are not 0")
		return
	}
	ev := jvmthread.Event{Kind: kind.kind, Time: at}
	var object, owner uint32
	if kind.object != noObject {
		if object, rest, ok = d.hash(rest, "object"); !ok {
			return
		}
	}
	if kind.owner {
		if owner, rest, ok = d.hash(rest, "owner"); !ok {
			return
		}
	}
	if kind.stack {
		ev.Stack = d.stacks.find(rest)
	}
	if !d.resolve(&ev, kind, hash, object) {
		return
	}
	if owner != 0 {
		ev.Peer = d.threads.Find(uint64(owner)).ID
	}
	if kind.named {
		name := ""
		if len(rest) > 0 {
			name = strings.ToValidUTF8(string(rest[1:]), "\uFFFD")
		}
		d.Thread(jvmthread.Thread{ID: ev.Thread, Name: name})
	}
	if !d.Add(ev) {
		d.Problem(d.Late(d.text.Position()))
	}
}

// resolve finds out which thread and which object a line speaks of, and reports whether it is an event of its own.
func (d *decoder) resolve(ev *jvmthread.Event, kind *event, hash, object uint32) bool {
	var th *recording.Thread
	if kind.kind == jvmthread.KindThreadStart {
		th = d.threads.Begin(uint64(hash))
	} else {
		th = d.threads.Find(uint64(hash))
	}
	ev.Thread, th.Started = th.ID, true
	switch kind.kind {
	case jvmthread.KindThreadEnd:
		th.Ended = true
	case jvmthread.KindStartCalled:
		if object != 0 {
			ev.Peer = d.threads.Begin(uint64(object)).ID
		}
		return true
	case jvmthread.KindJoinStart, jvmthread.KindJoinEnd:
		ev.Lock.Hash, th.Joins = object, jvmthread.NoThread
		if object != 0 {
			ev.Peer = d.threads.Find(uint64(object)).ID
		}
		if kind.kind == jvmthread.KindJoinStart {
			th.Joins = ev.Peer
		}
		return true
	case jvmthread.KindWait, jvmthread.KindWaitReturned:
		ev.Lock.Hash = object
		peer := d.threads.Known(uint64(object))
		if peer == nil || !peer.Started {
			return true
		}
		if th.Joins == peer.ID {
			return false
		}
		ev.Peer, ev.Kind = peer.ID, jvmthread.KindJoinStart
		if kind.kind == jvmthread.KindWaitReturned {
			ev.Kind = jvmthread.KindJoinEnd
		}
		return true
	}
	ev.Lock.Hash = object
	return true
}

// hash reads a comma and a hash code of 32 bits, which may be written with more digits.
func (d *decoder) hash(rest []byte, what string) (hash uint32, behind []byte, ok bool) {
	if len(rest) < 2 || rest[0] != ',' {
		d.bad(1, "it has no "+what, "it may have been cut off")
		return 0, nil, false
	}
	v, n := recording.ParseHex(rest[1:])
	if n++; n == 1 || n < len(rest) && rest[n] != ',' {
		field, _, _ := bytes.Cut(rest[1:], []byte{','})
		d.bad(1, fmt.Sprintf("its %s is %.40q", what, field), "write 8 hexadecimal digits")
		return 0, nil, false
	}
	if v > 1<<32-1 && v>>31 != 1<<33-1 { // more than 32 bits, and not a negative number that was widened
		d.bad(1, fmt.Sprintf("its %s has more than 32 bits", what), "write the 32 bits that GetObjectHashCode returns")
		return 0, nil, false
	}
	return uint32(v), rest[n:], true
}

// unknown counts an event of an unknown name, and tells of each name once.
func (d *decoder) unknown(name []byte) {
	d.Skip()
	if _, again := d.strange[string(name)]; again || len(d.strange) >= maxStrange {
		return
	}
	d.strange[string(name)] = struct{}{}
	d.bad(0, fmt.Sprintf("the event %.40q is not known; it is left out, here and later", name), "")
}

func (d *decoder) bad(lost uint64, what, remedy string) {
	p := d.text.Position()
	p.What, p.Remedy, p.Lost = what, remedy, lost
	d.Problem(p)
}
