// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sort"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// rawLog is the events of a window, packed: from them anything can be made again that an engine makes, and a recording be written. Numbers of
// threads, classes and stacks are those of the session.
type rawLog struct {
	data   []byte
	events int
	packed bool // data is compressed
}

func (r *rawLog) size() int64 { return int64(len(r.data)) }

// rawBuffer gathers the events of the windows to come, in the order of time.
type rawBuffer struct {
	events []rawEvent
	writer *flate.Writer
	plain  []byte
	packed bytes.Buffer
}

// rawEvent is an event with the numbers of the session in place of ids.
type rawEvent struct {
	time         jvmthread.Time
	thread, peer uint32 // numbers of threads
	peerID       jvmthread.ThreadID
	class        uint32
	hash         uint32
	stack        uint32
	arg          int64
	kind         jvmthread.Kind
	flags        jvmthread.Flags
}

// maxPending is more than a window of an engine with default limits applies: what is beyond, at one and the same moment, it has refused and counted.
const maxPending = 6 << 20

func (r *rawBuffer) reset() { r.events = r.events[:0] }

// Events takes events that the session's engine is about to apply, in the order of time. They belong to the windows that come after.
func (s *Session) Events(events []jvmthread.Event, sym *symbols.Table) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range events[:min(len(events), max(0, s.store.pending-len(s.pending.events)))] {
		ev := &events[i]
		raw := rawEvent{
			time: ev.Time, thread: s.thread(sym, ev.Thread), hash: ev.Lock.Hash, stack: s.stack(sym, ev.Stack), arg: ev.Arg, kind: ev.Kind, flags: ev.Flags,
		}
		if plainNumbers(ev.Kind) {
			raw.peerID, raw.class = ev.Peer, uint32(ev.Lock.Class)
		} else {
			raw.peer, raw.class = s.thread(sym, ev.Peer), s.class(sym, ev.Lock.Class)
		}
		s.pending.events = append(s.pending.events, raw)
	}
}

// plainNumbers reports whether peer and class of an event are no peer and no class, but the ids of a span.
func plainNumbers(k jvmthread.Kind) bool { return k == jvmthread.KindContext }

// leastPacked is how many bytes are worth being compressed.
const leastPacked = 512

// take packs the events before a time.
func (r *rawBuffer) take(until jvmthread.Time) rawLog {
	n := sort.Search(len(r.events), func(i int) bool { return r.events[i].time >= until })
	if n == 0 {
		return rawLog{}
	}
	r.plain = r.plain[:0]
	last := r.events[0].time
	r.plain = binary.AppendVarint(r.plain, int64(last))
	for i := range r.events[:n] {
		ev := &r.events[i]
		r.plain = append(r.plain, byte(ev.kind))
		r.plain = binary.AppendUvarint(r.plain, uint64(ev.flags))
		r.plain = binary.AppendVarint(r.plain, int64(ev.time-last))
		r.plain = binary.AppendUvarint(r.plain, uint64(ev.thread))
		r.plain = binary.AppendUvarint(r.plain, uint64(ev.peer)|uint64(ev.peerID)) // one of them is zero
		r.plain = binary.AppendUvarint(r.plain, uint64(ev.class))
		r.plain = binary.AppendUvarint(r.plain, uint64(ev.hash))
		r.plain = binary.AppendUvarint(r.plain, uint64(ev.stack))
		r.plain = binary.AppendVarint(r.plain, ev.arg)
		last = ev.time
	}
	r.events = append(r.events[:0], r.events[n:]...)
	if len(r.plain) < leastPacked {
		return rawLog{data: slices.Clone(r.plain), events: n}
	}
	r.packed.Reset()
	if r.writer == nil {
		r.writer, _ = flate.NewWriter(nil, flate.BestSpeed) // the level is a valid one
	}
	r.writer.Reset(&r.packed)
	if _, err := r.writer.Write(r.plain); err != nil || r.writer.Close() != nil {
		return rawLog{data: slices.Clone(r.plain), events: n} // a buffer takes everything: this does not happen
	}
	return rawLog{data: slices.Clone(r.packed.Bytes()), events: n, packed: true}
}

var errLog = errors.New("the log of events is broken")

// Replay yields the events of the windows that overlap [from, to), in the order of time, a slice for each window, with where the engine of that window
// began. Ids of classes and stacks are those of the snapshot. The slice is good until yield returns.
func (sn *Snapshot) Replay(from, to jvmthread.Time, yield func(b *Block, events []jvmthread.Event) bool) error {
	var events []jvmthread.Event
	for _, b := range sn.blocksFrom(from) {
		if b.Start >= to {
			break
		}
		var err error
		if events, err = sn.unpack(&b.raw, events[:0]); err != nil {
			return err
		}
		if !yield(b, events) {
			break
		}
	}
	return nil
}

func (sn *Snapshot) unpack(r *rawLog, out []jvmthread.Event) ([]jvmthread.Event, error) {
	if r.events == 0 {
		return out, nil
	}
	data := r.data
	if r.packed {
		var err error
		if data, err = io.ReadAll(flate.NewReader(bytes.NewReader(r.data))); err != nil {
			return out, err
		}
	}
	d := unpacker{rest: data}
	at := jvmthread.Time(d.signed())
	for range r.events {
		if len(d.rest) == 0 {
			return out, errLog
		}
		ev := jvmthread.Event{Kind: jvmthread.Kind(d.rest[0])}
		d.rest = d.rest[1:]
		ev.Flags = jvmthread.Flags(d.unsigned())
		at += jvmthread.Time(d.signed())
		ev.Time = at
		thread, peer := d.unsigned(), d.unsigned()
		ev.Lock = jvmthread.LockID{Class: jvmthread.ClassID(d.unsigned()), Hash: uint32(d.unsigned())}
		ev.Stack = jvmthread.StackID(d.unsigned())
		ev.Arg = d.signed()
		if thread >= uint64(len(sn.Threads)) || !plainNumbers(ev.Kind) && peer >= uint64(len(sn.Threads)) || d.bad {
			return out, errLog
		}
		ev.Thread = sn.Threads[thread].ID
		if ev.Peer = jvmthread.ThreadID(peer); !plainNumbers(ev.Kind) {
			ev.Peer = sn.Threads[peer].ID
		}
		out = append(out, ev)
	}
	return out, nil
}

type unpacker struct {
	rest []byte
	bad  bool
}

func (d *unpacker) unsigned() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *unpacker) signed() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// Symbols are the texts behind the ids of a snapshot, as a table that others can use, which keeps the ids.
func (sn *Snapshot) Symbols() *symbols.Table {
	limits := symbols.DefaultLimits()
	limits.Classes, limits.Stacks, limits.Threads = len(sn.classes), len(sn.stacks), len(sn.Threads)
	limits.Bytes = 1 << 40
	t := symbols.New(limits)
	for _, text := range sn.classes[1:] {
		t.InternClass(text)
	}
	for _, text := range sn.stacks[1:] {
		t.InternStack(text)
	}
	for i := range sn.Threads {
		if sn.Threads[i].Known {
			t.SetThread(sn.Threads[i].Thread)
		}
	}
	return t
}
