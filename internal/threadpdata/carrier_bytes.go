// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"errors"
	"fmt"
	"io"
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/wire"
)

// A carrier in the form of bytes has the frames of one batch: thread, class and stackText for all that the events refer to, then batch. They
// differ from those of an agent's stream in two ways: times are nanoseconds since the Unix epoch, and the frames need no others.

// rawVersion is the version of this form. It changes only if older programs could misread a carrier: frames of unknown kinds are skipped.
const rawVersion = 1

// maxRawID bounds the IDs of classes and stacks, so that tables can be indexed by ID. Symbol tables have smaller ones.
const maxRawID = 1 << 20

// maxKeptBytes bounds the buffer that a carrier keeps, more than a frame of the default size needs.
const maxKeptBytes = 1 << 21

// bytesEncoder is the memory of AppendBytesTo.
type bytesEncoder struct {
	frames   []byte
	sections []wire.Section
	classes  marks
	stacks   marks
}

// marks are IDs that were seen in the current round.
type marks struct {
	rounds []uint32 // by ID: the round in which it was last seen
	round  uint32
}

func (m *marks) next() {
	if m.round++; m.round == 0 {
		clear(m.rounds)
		m.round = 1
	}
}

// first reports whether an ID is seen for the first time in this round.
func (m *marks) first(id uint32) bool {
	if int(id) >= len(m.rounds) {
		m.rounds = append(m.rounds, make([]uint32, int(id)+1-len(m.rounds))...)
	}
	if m.rounds[id] == m.round {
		return false
	}
	m.rounds[id] = m.round
	return true
}

// AppendBytesTo appends the carrier to the spans of a scope, in the form of bytes if it has events.
func (c *Carrier) AppendBytesTo(dst ptrace.SpanSlice, sym *symbols.Table) {
	if len(c.Events) == 0 {
		c.AppendTo(dst, sym)
		return
	}
	e := &c.encoder
	e.encode(c, sym)
	attributes := c.appendSpan(dst).Attributes()
	attributes.EnsureCapacity(5)
	putText(attributes, attrRawEnd, c.End)
	c.putFirst(attributes)
	attributes.PutInt(attrRawVersion, rawVersion)
	attributes.PutInt(attrRawEvents, int64(len(c.Events)))
	attributes.PutEmptyBytes(attrRawBytes).FromRaw(e.frames)
	if cap(e.frames) > maxKeptBytes {
		e.frames = nil
	}
}

func (e *bytesEncoder) encode(c *Carrier, sym *symbols.Table) {
	e.classes.next()
	e.stacks.next()
	e.frames, e.sections = e.frames[:0], e.sections[:0]
	for _, th := range c.Threads {
		e.frames = wire.AppendThread(e.frames, th)
	}
	start := 0
	for i := range c.Events {
		ev := &c.Events[i]
		if class := ev.Lock.Class; class != jvmthread.NoClass && e.classes.first(uint32(class)) {
			e.frames = wire.AppendClass(e.frames, wire.Class{ID: class, Name: sym.Class(class)})
		}
		if stack := ev.Stack; stack != jvmthread.NoStack && e.stacks.first(uint32(stack)) {
			e.frames = wire.AppendStackText(e.frames, stack, sym.Whole(stack))
		}
		if i+1 == len(c.Events) || c.Events[i+1].Thread != ev.Thread {
			e.sections = append(e.sections, wire.Section{Thread: ev.Thread, Events: c.Events[start : i+1]})
			start = i + 1
		}
	}
	e.frames = wire.AppendBatch(e.frames, wire.BatchHeader{Sequence: c.Batch, Watermark: c.Watermark, Before: c.Before}, e.sections...)
	clear(e.sections)
}

// bytesIDs are the IDs that a carrier defines.
type bytesIDs struct {
	classes idMap[jvmthread.ClassID]
	stacks  idMap[jvmthread.StackID]
}

// parseBytes parses a carrier in the form of bytes.
func (c *Carrier) parseBytes(attributes pcommon.Map, value pcommon.Value, sym *symbols.Table) error {
	version, ok := attributes.Get(attrRawVersion)
	if !ok {
		return fmt.Errorf("%s is missing", attrRawVersion)
	}
	var v int
	if err := integer(version, 1, rawVersion, &v); err != nil {
		return fmt.Errorf("%s %w; update this collector if it is older than the sender", attrRawVersion, err)
	}
	if value.Type() != pcommon.ValueTypeBytes {
		return fmt.Errorf("%s is of type %s, want Bytes", attrRawBytes, value.Type())
	}
	if end, ok := attributes.Get(attrRawEnd); ok {
		var err error
		if c.End, err = text(end); err != nil {
			return fmt.Errorf("%s %w", attrRawEnd, err)
		}
	}
	if first, ok := attributes.Get(attrRawFirst); ok {
		if err := integer(first, math.MinInt64, math.MaxInt64, &c.First); err != nil {
			return fmt.Errorf("%s %w", attrRawFirst, err)
		}
	}
	if err := c.parseFrames(value.Bytes().AsRaw(), sym); err != nil {
		return fmt.Errorf("%s: %w", attrRawBytes, err)
	}
	return nil
}

func (c *Carrier) parseFrames(data []byte, sym *symbols.Table) error {
	c.ids.classes.clear()
	c.ids.stacks.clear()
	c.Parts = 1
	frames := wire.NewScanner(data)
	for {
		frame, err := frames.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = c.parseFrame(frame, sym)
		}
		if err != nil {
			return err
		}
	}
	if c.Batch == 0 {
		return errors.New("the batch is missing")
	}
	return nil
}

func (c *Carrier) parseFrame(frame wire.Frame, sym *symbols.Table) error {
	switch frame.Kind {
	case wire.FrameThread:
		th, err := frame.Thread()
		c.Threads = append(c.Threads, th)
		return err
	case wire.FrameClass:
		id, name, err := frame.ClassText()
		if err == nil {
			err = c.ids.classes.define(id, sym.InternClassText(name, c.ids.classes.last(id)))
		}
		return err
	case wire.FrameStackText:
		id, text, err := frame.StackText()
		if err == nil {
			err = c.ids.stacks.define(id, sym.InternStackText(text, c.ids.stacks.last(id)))
		}
		return err
	case wire.FrameBatch:
		if c.Batch != 0 {
			return errors.New("there are two batches")
		}
		return c.parseBatch(frame)
	default:
		return fmt.Errorf("unexpected frame %s", frame.Kind)
	}
}

func (c *Carrier) parseBatch(frame wire.Frame) error {
	batch, err := frame.Batch()
	if err != nil {
		return err
	}
	if batch.Before > jvmthread.MaxEvents {
		return fmt.Errorf("%d events before the batch, want at most %d", batch.Before, uint64(jvmthread.MaxEvents))
	}
	c.Batch, c.Watermark, c.Before = batch.Sequence, batch.Watermark, batch.Before
	for batch.More() {
		if _, c.Events, err = batch.Section(c.Events); err != nil {
			return err
		}
	}
	for i := range c.Events {
		ev := &c.Events[i]
		if ev.Time < 0 { // so that differences of times do not overflow
			return fmt.Errorf("event %d: time is %d, want 0 or more", i, ev.Time)
		}
		if !c.ids.classes.resolve(&ev.Lock.Class) || !c.ids.stacks.resolve(&ev.Stack) {
			return fmt.Errorf("event %d: refers to a class or stack that the carrier does not define", i)
		}
	}
	return nil
}

// idMap maps the IDs of a carrier to those of the reader.
type idMap[ID ~uint32] struct {
	list  []mapped[ID] // by the carrier's ID
	round uint32
}

type mapped[ID ~uint32] struct {
	round uint32 // in which it was defined; others are of earlier carriers
	id    ID
}

// clear removes all IDs.
func (m *idMap[ID]) clear() {
	if m.round++; m.round == 0 {
		clear(m.list)
		m.round = 1
	}
}

func (m *idMap[ID]) define(id, to ID) error {
	if id > maxRawID {
		return fmt.Errorf("ID %d exceeds %d", id, maxRawID)
	}
	if n := int(id) + 1 - len(m.list); n > 0 {
		m.list = append(m.list, make([]mapped[ID], n)...)
	}
	m.list[id] = mapped[ID]{m.round, to}
	return nil
}

// last returns the reader's ID that an ID had in the last carrier that defined it, maybe of another session, or 0.
func (m *idMap[ID]) last(id ID) ID {
	if int(id) < len(m.list) {
		return m.list[id].id
	}
	return 0
}

// resolve replaces an ID of the carrier, and reports whether the carrier defines it.
func (m *idMap[ID]) resolve(id *ID) bool {
	if *id == 0 {
		return true
	}
	if int(*id) >= len(m.list) || m.list[*id].round != m.round {
		return false
	}
	*id = m.list[*id].id
	return true
}
