// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wire"
)

// Collector is a sink that stores its input, and checks that decoders fulfill the contract of recording.Batch.
type Collector struct {
	Sessions []recording.Session
	Events   []jvmthread.Event
	Threads  map[jvmthread.ThreadID]jvmthread.Thread
	Problems []recording.Problem
	Ends     []recording.End
	Lost     uint64  // according to the batches
	Faults   []error // violations of the contract
	Failure  error   // returned by all methods

	watermark jvmthread.Time
	marked    bool
}

// Session stores a session.
func (c *Collector) Session(s *recording.Session) error {
	c.Sessions = append(c.Sessions, *s)
	c.marked = false
	return c.Failure
}

// Batch stores a batch.
func (c *Collector) Batch(b *recording.Batch) error {
	if len(c.Sessions) == 0 {
		c.fault("batch before the session")
	}
	if c.marked && b.Watermark < c.watermark {
		c.fault("watermark decreases from %d to %d", c.watermark, b.Watermark)
	}
	last, known := c.watermark, c.marked
	for i := range b.Events {
		if known && b.Events[i].Time < last {
			c.fault("event %d at %d follows an event or watermark at %d", len(c.Events)+i, b.Events[i].Time, last)
		}
		last, known = b.Events[i].Time, true
	}
	c.watermark, c.marked = b.Watermark, c.marked || len(b.Events) > 0
	if c.Threads == nil {
		c.Threads = make(map[jvmthread.ThreadID]jvmthread.Thread)
	}
	for _, th := range b.Threads {
		c.Threads[th.ID] = th
	}
	c.Events = append(c.Events, b.Events...)
	c.Lost += b.Lost
	return c.Failure
}

// Problem stores a problem.
func (c *Collector) Problem(p recording.Problem) error {
	if p.What == "" || strings.ContainsRune(p.Error(), '\n') {
		c.fault("problem %q: want one line", p.Error())
	}
	c.Problems = append(c.Problems, p)
	return c.Failure
}

// End stores the end of a session.
func (c *Collector) End(e recording.End) error {
	c.Ends = append(c.Ends, e)
	return c.Failure
}

// Discard is a recording.Sink for benchmarks: it counts events and fails at the first problem.
type Discard struct{ Events int }

// Session implements recording.Sink.
func (*Discard) Session(*recording.Session) error { return nil }

// Batch counts the events of a batch.
func (d *Discard) Batch(b *recording.Batch) error {
	d.Events += len(b.Events)
	return nil
}

// Problem returns the problem.
func (*Discard) Problem(p recording.Problem) error { return p }

// End implements recording.Sink.
func (*Discard) End(recording.End) error { return nil }

func (c *Collector) fault(format string, args ...any) {
	if len(c.Faults) < 10 {
		c.Faults = append(c.Faults, fmt.Errorf(format, args...))
	}
}

// Decode writes data to a decoder of the format, in pieces of the given size in bytes (0: all at once), and closes it.
func Decode(f *recording.Format, opts recording.Options, data []byte, piece int) (*Collector, recording.Stats, error) {
	c := &Collector{}
	d := f.New(opts, c)
	if piece <= 0 {
		piece = max(len(data), 1)
	}
	for len(data) > 0 {
		n := min(piece, len(data))
		if _, err := d.Write(data[:n]); err != nil {
			return c, d.Stats(), err
		}
		data = data[n:]
	}
	err := d.Close()
	return c, d.Stats(), err
}

// Recorded returns the events of a simulated random program, with names, classes and stacks as an agent would define them. Lock hashes are
// above one million, so they are never mistaken for the hash of a thread.
func Recorded(seed uint64, threads, locks, actions int) ([]jvmthread.Event, *symbols.Table) {
	rng := rand.New(rand.NewPCG(seed, 7))
	sym := symbols.New(symbols.DefaultLimits())
	names := []string{"main", "", "http-exec-1, busy", "a\"<&>'b", "Zürich ☂", "-1", "worker [3]"}
	for i := range threads {
		id := jvmthread.ThreadID(i + 1)
		sym.SetThread(jvmthread.Thread{
			ID: id, Name: names[rng.IntN(len(names))], Group: names[rng.IntN(len(names))], Daemon: rng.IntN(2) == 0, Virtual: rng.IntN(4) == 0,
			Foreign: []string{"", "parentName=system\ncollationValue=7", "traceIdRef=<t&1>"}[i%3],
		})
	}
	classes := []jvmthread.ClassID{0}
	for i := range 4 {
		classes = append(classes, sym.InternClass(fmt.Sprintf("com.acme.Lock$%d<T>", i)))
	}
	stacks := []jvmthread.StackID{jvmthread.NoStack}
	for i := range 12 {
		var text symbols.StackBuilder
		for range 1 + rng.IntN(6) {
			f := &frames[rng.IntN(len(frames))]
			text.Add(f.function, f.file, f.line)
			if i%2 == 0 {
				text.AddCode(f.descriptor, f.index)
			}
		}
		stacks = append(stacks, sym.InternStack(text.End(false)))
	}
	events := Simulate(seed, threads, locks, actions).Events
	for i := range events {
		ev := &events[i]
		if !ev.Lock.IsZero() {
			ev.Lock.Class = classes[1+int(ev.Lock.Class)%4]
			ev.Lock.Hash += 1 << 20
		}
		if wire.Events[ev.Kind-1].Stack {
			ev.Stack = stacks[rng.IntN(len(stacks))]
		}
		if ev.Kind == jvmthread.KindWait && ev.Arg != 0 {
			ev.Arg = 1 + rng.Int64N(1e12)
		}
	}
	return events, sym
}

var frames = []struct {
	function, file string
	line           int
	descriptor     string
	index          int32
}{
	{"com.acme.OrderBook.add", "OrderBook.java", 42, "(JI)V", 17},
	{"com.acme.OrderBook.add", "OrderBook.java", 43, "(JI)V", 25},
	{"com.acme.OrderBook.add", "OrderBook.java", 43, "(Lcom/acme/Order;)[J", 25},
	{"com.acme.OrderBook.drain", "OrderBook.java", 7, "()V", 0},
	{"java.lang.Object.wait0", "", -1, "(J)V", -1},
	{"a.B$$Lambda/0x00007f12a.run", "", 0, "()V", 3},
	{"C.main", "C.java", 0, "", 0},
	{"C.<init>", "C.java", 1, "()V", 1},
}

// Carry returns an event reduced to the fields that a format can represent, and whether it can represent the event at all.
func Carry(c *recording.Capabilities, ev jvmthread.Event) (kept jvmthread.Event, ok bool) {
	carried := c.Events[ev.Kind]
	if carried.Fields&recording.FieldKind == 0 {
		return jvmthread.Event{}, false
	}
	kept = ev
	kept.Flags &= carried.Flags
	for field, remove := range map[recording.Fields]func(){
		recording.FieldTime: func() { kept.Time = 0 }, recording.FieldPeer: func() { kept.Peer = 0 }, recording.FieldLock: func() { kept.Lock.Hash = 0 },
		recording.FieldClass: func() { kept.Lock.Class = 0 }, recording.FieldArg: func() { kept.Arg = 0 }, recording.FieldStack: func() { kept.Stack = 0 },
	} {
		if carried.Fields&field == 0 {
			remove()
		}
	}
	return kept, true
}

// CarryThread returns a thread definition reduced to the fields that a format can represent.
func CarryThread(c *recording.Capabilities, th jvmthread.Thread) jvmthread.Thread {
	if c.Threads&recording.ThreadName == 0 {
		th.Name = ""
	}
	if c.Threads&recording.ThreadGroup == 0 {
		th.Group = ""
	}
	th.Daemon = th.Daemon && c.Threads&recording.ThreadDaemon != 0
	if c.Threads&recording.ThreadForeign == 0 {
		th.Foreign = ""
	}
	th.Virtual = th.Virtual && c.Threads&recording.ThreadVirtual != 0
	return th
}

// EventText prints an event with ids resolved to texts, to compare events of different symbol tables.
func EventText(ev jvmthread.Event, sym *symbols.Table) string {
	return fmt.Sprintf("%d %s thread=%d peer=%d arg=%d lock=%s/%x flags=%d stack=%q",
		ev.Time, ev.Kind, ev.Thread, ev.Peer, ev.Arg, sym.Class(ev.Lock.Class), ev.Lock.Hash, ev.Flags, sym.Whole(ev.Stack))
}
