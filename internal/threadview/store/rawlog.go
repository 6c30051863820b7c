// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"unsafe"

	"github.com/klauspost/compress/zstd"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/wire"
)

// rawLog is the events of a window: a batch of the wire protocol, compressed. Downloads and spans are made from it. Ids of classes and stacks
// are those of the session.
type rawLog struct {
	data        []byte
	events      int
	ownerStacks bool // there are events of this kind
	calls       bool // there are events for Snapshot.Calls
	contexts    bool // there are events for Snapshot.Contexts
}

// newCodec returns what compresses and decompresses batches. Both may be used concurrently.
func newCodec() (*zstd.Encoder, *zstd.Decoder) {
	enc, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false)) // valid options
	dec, _ := zstd.NewReader(nil)
	return enc, dec
}

// rawBuffer gathers the events of the next windows.
type rawBuffer struct {
	sections []wire.Section // by number of the thread, each in the order of time
	events   int
	room     int64 // bytes of the lists of events
}

const eventBytes = int64(unsafe.Sizeof(jvmthread.Event{}))

func (r *rawBuffer) size() int64 {
	return r.room + int64(cap(r.sections))*int64(unsafe.Sizeof(wire.Section{}))
}

// maxPending is more than an engine with default limits applies in one window. It refuses and counts the rest itself.
const maxPending = 6 << 20

// allThreads stands for NoThread in a batch, where each section has a thread: in a gap of all threads.
const allThreads jvmthread.ThreadID = math.MaxUint64

// Events takes events that the session's engine is about to apply, in the order of time, which belong to later windows.
func (s *Session) Events(events []jvmthread.Event, sym *symbols.Table) {
	s.stable.Lock()
	defer s.stable.Unlock()
	defer s.settle()
	room := s.store.textRoom(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.textRoom = room
	for _, ev := range events[:min(len(events), max(0, s.store.pending-s.pending.events))] {
		thread := s.thread(sym, ev.Thread)
		ev.Stack = jvmthread.StackID(s.stack(sym, ev.Stack))
		s.thread(sym, ev.Peer)
		ev.Lock.Class = jvmthread.ClassID(s.class(sym, ev.Lock.Class))
		s.pending.add(thread, &ev)
	}
}

func (r *rawBuffer) add(thread uint32, ev *jvmthread.Event) {
	if n := int(thread) + 1; n > len(r.sections) {
		r.sections = slices.Grow(r.sections, n-len(r.sections))[:n]
	}
	to := &r.sections[thread]
	before := cap(to.Events)
	to.Events = append(to.Events, *ev)
	r.room += int64(cap(to.Events)-before) * eventBytes
	r.events++
}

// pack takes the events before a time.
func (s *Session) pack(until jvmthread.Time) rawLog {
	plain, _ := s.store.plain.Get().(*[]byte)
	if plain == nil {
		plain = new([]byte)
	}
	out := s.pending.take(until, s.store.encoder, plain)
	s.store.plain.Put(plain)
	return out
}

// take packs and removes the events before a time. It uses the memory of plain.
func (r *rawBuffer) take(until jvmthread.Time, enc *zstd.Encoder, plain *[]byte) (out rawLog) {
	var sections []wire.Section
	for i := range r.sections {
		s := &r.sections[i]
		n := sort.Search(len(s.Events), func(i int) bool { return s.Events[i].Time >= until })
		if n == 0 {
			continue
		}
		sections = append(sections, wire.Section{Thread: cmp.Or(s.Events[0].Thread, allThreads), Events: s.Events[:n]})
		out.ownerStacks = out.ownerStacks || slices.ContainsFunc(s.Events[:n], func(ev jvmthread.Event) bool { return ev.Kind == jvmthread.KindOwnerStack })
		out.calls = out.calls || slices.ContainsFunc(s.Events[:n], func(ev jvmthread.Event) bool { return isCall[ev.Kind] })
		out.contexts = out.contexts || slices.ContainsFunc(s.Events[:n], func(ev jvmthread.Event) bool { return isContext(ev.Kind) })
		out.events += n
	}
	if out.events == 0 {
		return out
	}
	*plain = wire.AppendBatch((*plain)[:0], wire.BatchHeader{Sequence: 1}, sections...)
	out.data = slices.Clone(enc.EncodeAll((*plain)[wire.FrameHeaderSize:], nil))
	r.events -= out.events
	for i := range r.sections {
		s := &r.sections[i]
		n := sort.Search(len(s.Events), func(i int) bool { return s.Events[i].Time >= until })
		r.drop(s, n)
	}
	return out
}

// drop removes the first n events of a thread, and returns memory that a peak has left.
func (r *rawBuffer) drop(s *wire.Section, n int) {
	before, rest := cap(s.Events), s.Events[n:]
	if before > 64 && len(s.Events) < before/4 {
		s.Events = slices.Clone(rest)
	} else {
		s.Events = append(s.Events[:0], rest...)
	}
	r.room += int64(cap(s.Events)-before) * eventBytes
}

// Replay yields the events of each window that overlaps [from, to), in the order of time and then of threads. Ids of classes and stacks are
// those of the snapshot. The slice is valid until yield returns.
func (sn *Snapshot) Replay(from, to jvmthread.Time, yield func(b *Block, events []jvmthread.Event) bool) error {
	return sn.replay(from, to, func(*Block) bool { return true }, yield)
}

// OwnerStack returns the stack at which the owner of the lock was seen during an interval, or 0.
func (sn *Snapshot) OwnerStack(iv *Interval) (stack StackID) {
	has := func(b *Block) bool { return b.raw.ownerStacks }
	_ = sn.replay(iv.Start, iv.Start+1, has, func(_ *Block, events []jvmthread.Event) bool { // without events there is no stack
		for i := range events {
			ev := &events[i]
			if ev.Kind == jvmthread.KindOwnerStack && ev.Thread == sn.Threads[iv.Thread].ID && ev.Time >= iv.Start && ev.Time < max(iv.End, iv.Start+1) {
				stack = StackID(ev.Stack)
				return false
			}
		}
		return true
	})
	return stack
}

// OwnerStacks yields the events that say where the owner of a lock was when a thread began to wait for it, in each window that overlaps
// [from, to). The event is valid until yield returns.
func (sn *Snapshot) OwnerStacks(from, to jvmthread.Time, yield func(ev *jvmthread.Event)) {
	_ = sn.replay(from, to, func(b *Block) bool { return b.raw.ownerStacks }, func(_ *Block, events []jvmthread.Event) bool { // without events there are no stacks
		for i := range events {
			if ev := &events[i]; ev.Kind == jvmthread.KindOwnerStack && ev.Time >= from && ev.Time < to {
				yield(ev)
			}
		}
		return true
	})
}

// isCall has the kinds of events in which a thread acts without waiting: on another thread, on those that wait for a lock, or on itself.
var isCall = [jvmthread.NumKinds]bool{
	jvmthread.KindStartCalled: true, jvmthread.KindInterruptCalled: true, jvmthread.KindNotify: true, jvmthread.KindNotifyAll: true,
	jvmthread.KindYield: true, jvmthread.KindSuspend: true, jvmthread.KindResume: true, jvmthread.KindStop: true,
}

// Logged returns the number of events in the windows that overlap [from, to).
func (sn *Snapshot) Logged(from, to jvmthread.Time) (n int) {
	for _, b := range sn.blocksFrom(from) {
		if b.Start >= to || b.open {
			break
		}
		n += b.raw.events
	}
	return n
}

// Calls yields the calls of each window that overlaps [from, to), starting at from, and returns the end of the last window. The event is valid
// until yield returns.
func (sn *Snapshot) Calls(from, to jvmthread.Time, yield func(ev *jvmthread.Event)) (until jvmthread.Time) {
	has := func(b *Block) bool {
		until = max(until, b.End)
		return b.raw.calls
	}
	until = to
	_ = sn.replay(from, to, has, func(_ *Block, events []jvmthread.Event) bool { // without events there are no calls
		for i := range events {
			if ev := &events[i]; isCall[ev.Kind] && ev.Time >= from {
				yield(ev)
			}
		}
		return true
	})
	return until
}

func isContext(k jvmthread.Kind) bool {
	return k == jvmthread.KindContext || k == jvmthread.KindRequestEnd
}

// Contexts yields the events that say which span of the application was current on a thread, in each window that overlaps [from, to). The event
// is valid until yield returns.
func (sn *Snapshot) Contexts(from, to jvmthread.Time, yield func(ev *jvmthread.Event)) error {
	return sn.replay(from, to, func(b *Block) bool { return b.raw.contexts }, func(_ *Block, events []jvmthread.Event) bool {
		for i := range events {
			if ev := &events[i]; isContext(ev.Kind) {
				yield(ev)
			}
		}
		return true
	})
}

func (sn *Snapshot) replay(from, to jvmthread.Time, wanted func(*Block) bool, yield func(b *Block, events []jvmthread.Event) bool) error {
	var u unpacker
	for _, b := range sn.blocksFrom(from) {
		if b.Start >= to || b.open {
			break
		}
		if !wanted(b) {
			continue
		}
		if err := u.unpack(&b.raw, sn.decoder); err != nil {
			return err
		}
		if !yield(b, u.sorted) {
			break
		}
	}
	return nil
}

// unpacker reads raw logs, and reuses its memory.
type unpacker struct {
	plain          []byte
	events, sorted []jvmthread.Event
	order          []int32
}

func (u *unpacker) unpack(r *rawLog, dec *zstd.Decoder) (err error) {
	u.events, u.sorted, u.order = u.events[:0], u.sorted[:0], u.order[:0]
	if r.events == 0 {
		return nil
	}
	if u.plain, err = dec.DecodeAll(r.data, u.plain[:0]); err != nil {
		return err
	}
	batch, err := wire.Frame{Kind: wire.FrameBatch, Payload: u.plain}.Batch()
	for err == nil && batch.More() {
		_, u.events, err = batch.Section(u.events)
	}
	if err != nil {
		return err
	}
	for i := range u.events {
		if u.events[i].Thread == allThreads {
			u.events[i].Thread = jvmthread.NoThread
		}
		u.order = append(u.order, int32(i))
	}
	slices.SortFunc(u.order, func(x, y int32) int {
		a, b := &u.events[x], &u.events[y]
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Thread, b.Thread), cmp.Compare(x, y))
	})
	for _, i := range u.order {
		u.sorted = append(u.sorted, u.events[i])
	}
	return nil
}

// Symbols returns a table with the texts of the snapshot under the same ids.
func (sn *Snapshot) Symbols() *symbols.Table {
	limits := symbols.DefaultLimits()
	limits.Classes, limits.Stacks, limits.Threads = len(sn.Classes), len(sn.Stacks), len(sn.Threads)
	limits.Bytes = 1 << 40
	t := symbols.New(limits)
	for _, text := range sn.Classes[1:] {
		t.InternClass(text)
	}
	for _, text := range sn.Stacks[1:] {
		t.InternStack(text)
	}
	for i := range sn.Threads {
		if sn.Threads[i].Known {
			t.SetThread(sn.Threads[i].Thread)
		}
	}
	return t
}
