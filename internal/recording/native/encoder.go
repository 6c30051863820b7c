// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wire"
)

// Encoder writes a session as a native recording. Times in the file are wall-clock times; ids are those of the symbols.
type Encoder struct {
	options  recording.EncoderOptions
	stats    recording.EncoderStats
	sequence uint64
	before   uint64

	// Of the file at hand.
	size    int64
	index   []wire.IndexEntry
	indexed int64 // where the index before begins
	defined int64 // where the definitions begin that stand before the next batch
	classes map[jvmthread.ClassID]struct{}
	names   map[string]jvmthread.ClassID // classes that only frames speak of have ids above those of the symbols
	methods map[string]wire.MethodID
	stacks  map[jvmthread.StackID]struct{}
	threads map[jvmthread.ThreadID]jvmthread.Thread

	sections []wire.Section
	places   map[jvmthread.ThreadID]int
}

const (
	eventsPerFrame = 16384
	frameClasses   = 1 << 19 // ids from here on are of classes that are in frames
	maxTold        = 1 << 17 // threads of which it is remembered what was said
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
	e.size, e.index, e.indexed = 0, e.index[:0], 0
	e.classes, e.names = make(map[jvmthread.ClassID]struct{}), make(map[string]jvmthread.ClassID)
	e.methods, e.stacks = make(map[string]wire.MethodID), make(map[jvmthread.StackID]struct{})
	e.threads = make(map[jvmthread.ThreadID]jvmthread.Thread)
	hello := wire.Hello{Session: session.ID, PID: session.PID}
	if hello.Session[0] == 0 {
		hello.Session[0] = 1 // as each session has it in the protocol
	}
	for _, a := range session.Attributes {
		hello.Attributes = append(hello.Attributes, wire.Attribute{Key: a.Key, Value: a.Value})
	}
	start := len(dst)
	dst = wire.AppendHello(wire.AppendPreamble(dst), &hello)
	e.size += int64(len(dst) - start)
	e.defined = e.size
	return dst
}

// Batch appends definitions and events.
func (e *Encoder) Batch(dst []byte, b *recording.Batch) []byte {
	start := len(dst)
	for _, th := range b.Threads {
		if len(e.threads) < maxTold {
			e.threads[th.ID] = th
		}
		dst = wire.AppendThread(dst, th)
	}
	e.before += b.Lost
	if b.Aggregate != nil {
		dst = e.aggregate(dst, start, b)
		e.size += int64(len(dst) - start)
		return dst
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
		dst = e.frame(dst, start, events[:n], watermark)
		if events = events[n:]; len(events) == 0 {
			break
		}
	}
	e.size += int64(len(dst) - start)
	return dst
}

func (e *Encoder) frame(dst []byte, start int, events []jvmthread.Event, watermark jvmthread.Time) []byte {
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
			if len(sections) < cap(sections) {
				sections = sections[:place+1]
			} else {
				sections = append(sections, wire.Section{})
			}
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
	at := e.size + int64(len(dst)-start)
	dst = wire.AppendBatch(dst, wire.BatchHeader{Sequence: e.sequence, Watermark: watermark, Before: before}, sections...)
	from, until := watermark, watermark
	if n := len(events); n > 0 {
		from, until = events[0].Time, max(events[n-1].Time, watermark)
	}
	return e.enter(dst, start, at, from, until)
}

// enter puts a batch that begins at a byte of the file, and was just appended, into the index.
func (e *Encoder) enter(dst []byte, start int, at int64, from, until jvmthread.Time) []byte {
	e.index = append(e.index, wire.IndexEntry{Definitions: uint64(e.defined), Batch: uint64(at), Time: from, Until: until})
	if len(e.index) == wire.MaxIndexEntries {
		dst = e.appendIndex(dst, e.size+int64(len(dst)-start))
	}
	e.defined = e.size + int64(len(dst)-start)
	return dst
}

// appendIndex appends the index of the batches since the one before.
func (e *Encoder) appendIndex(dst []byte, at int64) []byte {
	dst = wire.AppendIndex(dst, &wire.Index{Entries: e.index, Before: uint64(e.indexed), At: uint64(at)})
	e.index, e.indexed = e.index[:0], at
	return dst
}

// End appends the index, and the end of the session.
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

// Beside returns nothing.
func (*Encoder) Beside() (extension string, text []byte) { return "", nil }

// Stats says what was written so far.
func (e *Encoder) Stats() recording.EncoderStats { return e.stats }
