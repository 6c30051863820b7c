// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wire"
)

// Encoder writes a session as a native recording, with wall-clock times and the ids of its symbols.
type Encoder struct {
	options  recording.EncoderOptions
	stats    recording.EncoderStats
	sequence uint64
	before   uint64

	// Of the current file.
	size    int64 // after the previous call
	origin  int64 // offset of the first byte of dst in the current call
	index   []wire.IndexEntry
	indexed int64 // offset of the previous index
	defined int64 // offset of the definitions before the next batch
	classes set[jvmthread.ClassID]
	names   map[string]jvmthread.ClassID // ids of classes in frames, above those of the symbols
	methods map[methodKey]wire.MethodID
	stacks  set[jvmthread.StackID]
	threads set[jvmthread.ThreadID]

	sections []wire.Section
	places   map[jvmthread.ThreadID]int
}

const (
	eventsPerFrame = 16384
	frameClasses   = 1 << 19 // first id of the classes in frames
	maxDefined     = 1 << 17 // threads whose definitions are remembered
)

// NewEncoder returns an encoder for one session.
func NewEncoder(options recording.EncoderOptions) *Encoder {
	if options.Symbols == nil {
		options.Symbols = symbols.New(symbols.DefaultLimits())
	}
	return &Encoder{options: options, places: make(map[jvmthread.ThreadID]int)}
}

// Begin appends preamble and hello.
func (e *Encoder) Begin(dst []byte, session *recording.Session) []byte {
	e.index, e.indexed = e.index[:0], 0
	e.classes, e.stacks, e.threads = make(set[jvmthread.ClassID]), make(set[jvmthread.StackID]), make(set[jvmthread.ThreadID])
	e.names, e.methods = make(map[string]jvmthread.ClassID), make(map[methodKey]wire.MethodID)
	hello := wire.Hello{Session: session.ID, PID: session.PID, Attributes: session.Attributes}
	if hello.Session[0] == 0 {
		hello.Session[0] = 1 // the protocol requires a non-zero id
	}
	e.origin = -int64(len(dst))
	dst = wire.AppendHello(wire.AppendPreamble(dst), &hello)
	e.size = e.offset(dst)
	e.defined = e.size
	return dst
}

// offset returns the offset of the end of dst in the file.
func (e *Encoder) offset(dst []byte) int64 { return e.origin + int64(len(dst)) }

// Batch appends definitions and events.
func (e *Encoder) Batch(dst []byte, b *recording.Batch) []byte {
	e.origin = e.size - int64(len(dst))
	dst = e.batch(dst, b)
	e.size = e.offset(dst)
	return dst
}

func (e *Encoder) batch(dst []byte, b *recording.Batch) []byte {
	for _, th := range b.Threads {
		if len(e.threads) < maxDefined {
			e.threads.add(th.ID)
		}
		dst = wire.AppendThread(dst, th)
	}
	e.before += b.Lost
	if b.Aggregate != nil {
		return e.aggregate(dst, b)
	}
	for events := b.Events; ; {
		n := min(len(events), eventsPerFrame)
		for i := range events[:n] {
			dst = e.define(dst, &events[i])
		}
		watermark := b.Watermark
		if n < len(events) {
			watermark = events[n].Time
		}
		dst = e.frame(dst, events[:n], watermark)
		if events = events[n:]; len(events) == 0 {
			return dst
		}
	}
}

func (e *Encoder) frame(dst []byte, events []jvmthread.Event, watermark jvmthread.Time) []byte {
	clear(e.places)
	for i := range e.sections {
		e.sections[i].Events = e.sections[i].Events[:0]
	}
	sections := e.sections[:0]
	before := e.before
	for i := range events {
		ev := &events[i]
		place, ok := e.places[ev.Thread]
		if !ok {
			place = len(sections)
			e.places[ev.Thread] = place
			sections = slices.Grow(sections, 1)[:place+1] // with the memory of an earlier section
			sections[place].Thread = ev.Thread
		}
		sections[place].Events = append(sections[place].Events, *ev)
		if !e.options.Stacks {
			list := sections[place].Events
			list[len(list)-1].Stack = jvmthread.NoStack
		}
		e.stats.Written++
		if ev.Kind != jvmthread.KindGap {
			e.before++
		}
	}
	e.sections = sections
	e.sequence++
	at := e.offset(dst)
	dst = wire.AppendBatch(dst, wire.BatchHeader{Sequence: e.sequence, Watermark: watermark, Before: before}, sections...)
	from, until := watermark, watermark
	if n := len(events); n > 0 {
		from, until = events[0].Time, max(events[n-1].Time, watermark)
	}
	return e.enter(dst, at, from, until)
}

// enter adds the batch that was just appended, at a byte of the file, to the index.
func (e *Encoder) enter(dst []byte, at int64, from, until jvmthread.Time) []byte {
	e.index = append(e.index, wire.IndexEntry{Definitions: uint64(e.defined), Batch: uint64(at), Time: from, Until: until})
	if len(e.index) == wire.MaxIndexEntries {
		dst = e.appendIndex(dst, e.offset(dst))
	}
	e.defined = e.offset(dst)
	return dst
}

// appendIndex appends the index of the batches since the previous index.
func (e *Encoder) appendIndex(dst []byte, at int64) []byte {
	dst = wire.AppendIndex(dst, &wire.Index{Entries: e.index, Before: uint64(e.indexed), At: uint64(at)})
	e.index, e.indexed = e.index[:0], at
	return dst
}

// aggregate appends sums and the definitions that they need, in as many frames as necessary.
func (e *Encoder) aggregate(dst []byte, b *recording.Batch) []byte {
	sums := wire.Aggregate{Aggregate: *b.Aggregate}
	sums.Series = nil
	size := wire.AggregateHeaderSize
	for _, s := range b.Aggregate.Series {
		dst = e.stack(e.class(dst, s.Class), s.Stack)
		if !e.options.Stacks {
			s.Stack = jvmthread.NoStack
		}
		n := wire.SeriesSize + 8*len(s.Buckets)
		if size+n > wire.MaxFrame {
			dst = e.appendSums(dst, &sums, b.Watermark)
			size = wire.AggregateHeaderSize
		}
		sums.Series = append(sums.Series, s)
		size += n
	}
	return e.appendSums(dst, &sums, b.Watermark)
}

func (e *Encoder) appendSums(dst []byte, sums *wire.Aggregate, watermark jvmthread.Time) []byte {
	e.sequence++
	sums.BatchHeader = wire.BatchHeader{Sequence: e.sequence, Watermark: watermark, Before: e.before}
	at := e.offset(dst)
	dst = wire.AppendAggregate(dst, sums)
	sums.Series = sums.Series[:0]
	return e.enter(dst, at, sums.From, max(sums.To, watermark))
}

// End appends the index and, unless the session continues in another file, its end.
func (e *Encoder) End(dst []byte, end *recording.End) []byte {
	dst = e.appendIndex(dst, e.size)
	if end == nil {
		return dst
	}
	reason := wire.EndExit
	if end.Reason == "detached" {
		reason = wire.EndDetached
	}
	return wire.AppendEnd(dst, wire.End{Time: end.Time, Reason: reason})
}

// Sidecars implements recording.Encoder.
func (*Encoder) Sidecars(bool) []recording.Sidecar { return nil }

// Stats implements recording.Encoder.
func (e *Encoder) Stats() recording.EncoderStats { return e.stats }
