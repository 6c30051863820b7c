// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// AppendStream appends the bytes of a stream that is given in text form. It ignores empty lines and lines that begin with #. In addition to
// the output of AppendText, it accepts lines of literal bytes, for newer or broken streams:
//
//	raw 00ff 17
func AppendStream(dst []byte, text string) ([]byte, error) {
	p := parser{dst: dst}
	number := 0
	for row := range strings.Lines(text) {
		number++
		row = strings.TrimSpace(row)
		if row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		if err := p.line(row); err != nil {
			return p.dst, fmt.Errorf("line %d: %w", number, err)
		}
	}
	p.endBatch()
	return p.dst, nil
}

// parser appends sections and events to the open batch. At most one batch or aggregate is open.
type parser struct {
	dst     []byte
	start   int  // offset of the payload of the open batch or aggregate; 0 if none is open, since a header precedes each payload
	section int  // offset of the open section's header; 0 if none is open
	sums    bool // an aggregate is open
}

func (p *parser) line(row string) error {
	l := splitLine(row)
	if l.err != nil {
		return l.err
	}
	kind := l.words[0]
	var err error
	switch kind {
	case "section":
		err = p.openSection(l)
	case "event":
		err = p.event(l)
	case "series":
		err = p.series(l)
	default:
		p.endBatch()
		err = p.frame(kind, l)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}

func (p *parser) frame(kind string, l *line) error {
	words := 1
	switch kind {
	case "preamble":
		p.dst = AppendPreamble(p.dst)
		binary.LittleEndian.PutUint16(p.dst[len(p.dst)-4:], uint16(l.unsigned("version", 16)))
	case "hello":
		p.dst = AppendHello(p.dst, l.hello())
	case "thread":
		flags := ThreadFlags(l.unsigned("flags", 16))
		p.dst = AppendThread(p.dst, jvmthread.Thread{
			ID: jvmthread.ThreadID(l.unsigned("id", 64)), Name: l.string("name"), Group: l.string("group"),
			Daemon: flags&ThreadDaemon != 0, Virtual: flags&ThreadVirtual != 0, Carrier: flags&ThreadCarrier != 0,
		})
	case "class":
		p.dst = AppendClass(p.dst, Class{ID: jvmthread.ClassID(l.unsigned("id", 32)), Name: l.string("name")})
	case "method":
		p.dst = AppendMethod(p.dst, l.method())
	case "stack":
		p.dst = AppendStack(p.dst, l.stack())
	case "batch":
		p.dst, p.start = begin(p.dst, FrameBatch)
		p.dst = appendBatchHeader(p.dst, BatchHeader{
			Sequence: l.unsigned("sequence", 64), Watermark: jvmthread.Time(l.signed("watermark")), Before: l.unsigned("before", 64),
		})
	case "aggregate":
		p.openAggregate(l)
	case "end":
		p.dst = AppendEnd(p.dst, End{Time: jvmthread.Time(l.signed("time")), Reason: EndReason(l.unsigned("reason", 16))})
	case "welcome":
		p.dst = AppendWelcome(p.dst, l.unsigned("acked", 64))
	case "ack":
		p.dst = AppendAck(p.dst, l.unsigned("sequence", 64))
	case "refuse":
		p.dst = AppendRefuse(p.dst, Refuse{Code: RefuseCode(l.unsigned("code", 16)), Message: l.string("message")})
	case "control":
		p.dst = AppendControl(p.dst, &Control{ID: uint32(l.unsigned("id", 32)), Options: l.attributes()})
	case "status":
		p.dst = AppendStatus(p.dst, &Status{ID: uint32(l.unsigned("id", 32)), Error: l.string("error"), Options: l.attributes()})
	case "index":
		p.dst = AppendIndex(p.dst, l.index())
	case "raw":
		words = len(l.words)
		p.dst = append(p.dst, l.hex("bytes", strings.Join(l.words[1:], ""))...)
	default:
		return errors.New("unknown line kind")
	}
	return l.done(words)
}

func (l *line) hello() *Hello {
	h := &Hello{
		Wall: l.signed("wall"), Monotonic: l.signed("monotonic"),
		PID: uint32(l.unsigned("pid", 32)), Acked: l.unsigned("acked", 64),
	}
	if n := copy(h.Session[:], l.hex("session", l.string("session"))); n != len(h.Session) {
		l.fail("session has %d bytes, want %d", n, len(h.Session))
	}
	h.Attributes = l.attributes()
	return h
}

func (l *line) method() *Method {
	m := &Method{
		ID: MethodID(l.unsigned("id", 32)), Class: jvmthread.ClassID(l.unsigned("class", 32)),
		Name: l.string("name"), Signature: l.string("signature"), File: l.string("file"),
	}
	for _, pair := range l.pairs("lines") {
		m.Lines = append(m.Lines, Line{Start: uint32(l.number("lines", pair[0], 32)), Number: uint32(l.number("lines", pair[1], 32))})
	}
	return m
}

func (l *line) stack() *Stack {
	s := &Stack{ID: jvmthread.StackID(l.unsigned("id", 32)), Truncated: uint16(l.unsigned("flags", 16))&StackTruncated != 0}
	for _, pair := range l.pairs("frames") {
		s.Frames = append(s.Frames, StackFrame{
			Method: MethodID(l.number("frames", pair[0], 32)), BCI: int32(l.signedNumber("frames", pair[1], 32)),
		})
	}
	return s
}

func (p *parser) openSection(l *line) error {
	if p.start == 0 || p.sums {
		return errors.New("outside a batch")
	}
	p.section = len(p.dst)
	p.dst = appendSectionHeader(p.dst, jvmthread.ThreadID(l.unsigned("thread", 64)), 0)
	return l.done(1)
}

func (p *parser) event(l *line) error {
	if p.section == 0 {
		return errors.New("outside a section")
	}
	if len(l.words) < 2 {
		return errors.New("missing kind")
	}
	kind, ok := jvmthread.ParseKind(l.words[1])
	if !ok {
		return fmt.Errorf("unknown kind %q", l.words[1])
	}
	ev := jvmthread.Event{
		Kind: kind, Time: jvmthread.Time(l.signed("time")), Peer: jvmthread.ThreadID(l.unsigned("peer", 64)), Arg: l.signed("arg"),
		Lock: l.lock(), Stack: jvmthread.StackID(l.unsigned("stack", 32)), Flags: jvmthread.Flags(l.unsigned("flags", 16)),
	}
	for _, word := range l.words[2:] {
		i := slices.Index(jvmthread.FlagNames[:], word)
		if i < 0 {
			return fmt.Errorf("unknown flag %q", word)
		}
		ev.Flags |= 1 << i
	}
	p.dst = appendRecord(p.dst, &ev)
	count := p.dst[p.section+8:]
	binary.LittleEndian.PutUint32(count, binary.LittleEndian.Uint32(count)+1)
	return l.done(len(l.words))
}

// lock parses class/hash, the hash in hexadecimal.
func (l *line) lock() jvmthread.LockID {
	text := l.string("lock")
	if text == "" {
		return jvmthread.NoLock
	}
	class, hash, ok := strings.Cut(text, "/")
	v, err := strconv.ParseUint(hash, 16, 32)
	if !ok || err != nil {
		l.fail("lock: invalid lock %q (want class/hash)", text)
	}
	return jvmthread.LockID{Class: jvmthread.ClassID(l.number("lock", class, 32)), Hash: uint32(v)}
}

func (p *parser) endBatch() {
	if p.start != 0 {
		p.dst = end(p.dst, p.start)
		p.start, p.section, p.sums = 0, 0, false
	}
}
