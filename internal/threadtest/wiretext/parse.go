// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wiretext

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
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

// parser collects the sections and events of the open batch, or the series of the open aggregate. At most one of them is open.
type parser struct {
	dst       []byte
	batch     *wire.BatchHeader
	sections  []wire.Section
	aggregate *wire.Aggregate
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
		p.dst = wire.AppendPreamble(p.dst)
		binary.LittleEndian.PutUint16(p.dst[len(p.dst)-4:], uint16(l.unsigned("version", 16)))
	case "hello":
		p.dst = wire.AppendHello(p.dst, l.hello())
		if len(l.words) > 1 && l.words[1] == "headers" {
			words++
		}
	case "thread":
		flags := wire.ThreadFlags(l.unsigned("flags", 16))
		p.dst = wire.AppendThread(p.dst, jvmthread.Thread{
			ID: jvmthread.ThreadID(l.unsigned("id", 64)), Name: l.string("name"), Group: l.string("group"), Foreign: l.string("foreign"),
			Daemon: flags&wire.ThreadDaemon != 0, Virtual: flags&wire.ThreadVirtual != 0, Carrier: flags&wire.ThreadCarrier != 0,
		})
	case "class":
		p.dst = wire.AppendClass(p.dst, wire.Class{ID: jvmthread.ClassID(l.unsigned("id", 32)), Name: l.string("name")})
	case "method":
		p.dst = wire.AppendMethod(p.dst, l.method())
	case "stack":
		p.dst = wire.AppendStack(p.dst, l.stack())
	case "stackText":
		p.dst = wire.AppendStackText(p.dst, jvmthread.StackID(l.unsigned("id", 32)), l.string("text"))
	case "clock":
		p.dst = wire.AppendClock(p.dst, wire.Clock{Wall: l.signed("wall"), Monotonic: l.signed("monotonic")})
	case "batch":
		header := l.batchHeader()
		p.batch = &header
	case "aggregate":
		p.openAggregate(l)
	case "end":
		p.dst = wire.AppendEnd(p.dst, wire.End{Time: jvmthread.Time(l.signed("time")), Reason: wire.EndReason(l.unsigned("reason", 16))})
	case "welcome":
		p.dst = wire.AppendWelcome(p.dst, l.unsigned("acked", 64))
	case "ack":
		p.dst = wire.AppendAck(p.dst, l.unsigned("sequence", 64))
	case "refuse":
		p.dst = wire.AppendRefuse(p.dst, wire.Refuse{Code: wire.RefuseCode(l.unsigned("code", 16)), Message: l.string("message")})
	case "control":
		p.dst = wire.AppendControl(p.dst, &wire.Control{ID: uint32(l.unsigned("id", 32)), Options: l.attributes()})
	case "status":
		p.dst = wire.AppendStatus(p.dst, &wire.Status{ID: uint32(l.unsigned("id", 32)), Error: l.string("error"), Options: l.attributes()})
	case "index":
		p.dst = wire.AppendIndex(p.dst, l.index())
	case "raw":
		words = len(l.words)
		p.dst = append(p.dst, l.hex("bytes", strings.Join(l.words[1:], ""))...)
	default:
		return errors.New("unknown line kind")
	}
	return l.done(words)
}

func (l *line) hello() *wire.Hello {
	h := &wire.Hello{
		Wall: l.signed("wall"), Monotonic: l.signed("monotonic"),
		PID: uint32(l.unsigned("pid", 32)), Acked: l.unsigned("acked", 64),
	}
	if n := copy(h.Session[:], l.hex("session", l.string("session"))); n != len(h.Session) {
		l.fail("session has %d bytes, want %d", n, len(h.Session))
	}
	if secret := l.string("secret"); secret != "" {
		if n := copy(h.Secret[:], l.hex("secret", secret)); n != len(h.Secret) {
			l.fail("secret has %d bytes, want %d", n, len(h.Secret))
		}
	}
	h.Attributes = l.attributes()
	h.Headers = l.attributesAfter(2) // after the word headers
	return h
}

func (l *line) method() *wire.Method {
	m := &wire.Method{
		ID: wire.MethodID(l.unsigned("id", 32)), Class: jvmthread.ClassID(l.unsigned("class", 32)),
		Name: l.string("name"), Signature: l.string("signature"), File: l.string("file"),
	}
	for _, pair := range l.pairs("lines") {
		m.Lines = append(m.Lines, wire.Line{Start: uint32(l.number("lines", pair[0], 32)), Number: uint32(l.number("lines", pair[1], 32))})
	}
	return m
}

func (l *line) stack() *wire.Stack {
	s := &wire.Stack{ID: jvmthread.StackID(l.unsigned("id", 32)), Truncated: uint16(l.unsigned("flags", 16))&wire.StackTruncated != 0}
	s.LockFrame, s.Lock = uint16(l.unsigned("lockFrame", 16)), l.string("lock")
	for _, pair := range l.pairs("frames") {
		s.Frames = append(s.Frames, wire.StackFrame{
			Method: wire.MethodID(l.number("frames", pair[0], 32)), BCI: int32(l.signedNumber("frames", pair[1], 32)),
		})
	}
	return s
}

func (l *line) batchHeader() wire.BatchHeader {
	return wire.BatchHeader{
		Sequence: l.unsigned("sequence", 64), Watermark: jvmthread.Time(l.signed("watermark")), Before: l.unsigned("before", 64),
	}
}

func (p *parser) openSection(l *line) error {
	if p.batch == nil {
		return errors.New("outside a batch")
	}
	p.sections = append(p.sections, wire.Section{Thread: jvmthread.ThreadID(l.unsigned("thread", 64))})
	return l.done(1)
}

func (p *parser) event(l *line) error {
	if len(p.sections) == 0 {
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
	if kind.CarriesSpan() {
		unpackSpan(&ev)
	}
	section := &p.sections[len(p.sections)-1]
	section.Events = append(section.Events, ev)
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
	if p.batch != nil {
		p.dst = wire.AppendBatch(p.dst, *p.batch, p.sections...)
	}
	if p.aggregate != nil {
		p.dst = wire.AppendAggregate(p.dst, p.aggregate)
	}
	p.batch, p.sections, p.aggregate = nil, nil, nil
}
