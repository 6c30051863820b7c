// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wiretext

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// AppendText appends a stream in text form, with one line for each frame, section and record. If the stream is broken, it appends the data
// before the fault and returns the error.
func AppendText(dst, stream []byte) ([]byte, error) {
	r := wire.NewReader(bytes.NewReader(stream), wire.MaxFrame)
	if bytes.HasPrefix(stream, []byte(wire.Magic)) {
		version, err := r.Preamble()
		if err != nil {
			return dst, err
		}
		dst = fmt.Appendf(dst, "preamble version=%d\n", version)
	}
	for {
		frame, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
		if dst, err = appendFrameText(dst, frame); err != nil {
			return dst, err
		}
	}
}

func appendFrameText(dst []byte, f wire.Frame) ([]byte, error) {
	switch f.Kind { //exhaustive:enforce
	case wire.FrameHello:
		var h wire.Hello
		if err := f.Hello(&h); err != nil {
			return dst, err
		}
		return appendHelloText(dst, &h), nil
	case wire.FrameThread:
		th, err := f.Thread()
		if err != nil {
			return dst, err
		}
		return appendThreadText(dst, th), nil
	case wire.FrameClass:
		c, err := f.Class()
		if err != nil {
			return dst, err
		}
		return fmt.Appendf(dst, "class id=%d name=%s\n", c.ID, quote(c.Name)), nil
	case wire.FrameMethod:
		var m wire.Method
		if err := f.Method(&m); err != nil {
			return dst, err
		}
		return appendMethodText(dst, &m), nil
	case wire.FrameStack:
		var s wire.Stack
		if err := f.Stack(&s); err != nil {
			return dst, err
		}
		return appendStackText(dst, &s), nil
	case wire.FrameStackText:
		id, text, err := f.StackText()
		if err != nil {
			return dst, err
		}
		return fmt.Appendf(dst, "stackText id=%d text=%s\n", id, quote(string(text))), nil
	case wire.FrameClock:
		c, err := f.Clock()
		if err != nil {
			return dst, err
		}
		return fmt.Appendf(dst, "clock wall=%d monotonic=%d\n", c.Wall, c.Monotonic), nil
	case wire.FrameBatch:
		return appendBatchText(dst, f)
	case wire.FrameEnd:
		e, err := f.End()
		if err != nil {
			return dst, err
		}
		return fmt.Appendf(dst, "end time=%d reason=%d\n", e.Time, e.Reason), nil
	case wire.FrameStatus:
		var s wire.Status
		if err := f.Status(&s); err != nil {
			return dst, err
		}
		dst = fmt.Appendf(dst, "status id=%d error=%s", s.ID, quote(s.Error))
		return appendAttributesText(dst, s.Options), nil
	case wire.FrameAggregate:
		return appendAggregateText(dst, f)
	case wire.FrameIndex:
		return appendIndexText(dst, f)
	case wire.FrameWelcome, wire.FrameAck, wire.FrameRefuse, wire.FrameControl:
	}
	return appendControlText(dst, f)
}

func appendControlText(dst []byte, f wire.Frame) ([]byte, error) {
	switch f.Kind {
	case wire.FrameWelcome:
		acked, err := f.Welcome()
		if err != nil {
			return dst, err
		}
		return fmt.Appendf(dst, "welcome acked=%d\n", acked), nil
	case wire.FrameAck:
		sequence, err := f.Ack()
		if err != nil {
			return dst, err
		}
		return fmt.Appendf(dst, "ack sequence=%d\n", sequence), nil
	case wire.FrameControl:
		var c wire.Control
		if err := f.Control(&c); err != nil {
			return dst, err
		}
		return appendAttributesText(fmt.Appendf(dst, "control id=%d", c.ID), c.Options), nil
	default:
		r, err := f.Refuse()
		if err != nil {
			return dst, err
		}
		return fmt.Appendf(dst, "refuse code=%d message=%s\n", r.Code, quote(r.Message)), nil
	}
}

func appendHelloText(dst []byte, h *wire.Hello) []byte {
	dst = fmt.Appendf(dst, "hello session=%s wall=%d monotonic=%d pid=%d acked=%d", h.Session, h.Wall, h.Monotonic, h.PID, h.Acked)
	if !h.Secret.IsZero() {
		dst = fmt.Appendf(dst, " secret=%s", hex.EncodeToString(h.Secret[:]))
	}
	dst = appendPairsText(dst, h.Attributes)
	if len(h.Headers) > 0 {
		dst = appendPairsText(append(dst, " headers"...), h.Headers)
	}
	return append(dst, '\n')
}

// appendAttributesText appends attributes and ends the line.
func appendAttributesText(dst []byte, attributes []wire.Attribute) []byte {
	return append(appendPairsText(dst, attributes), '\n')
}

func appendPairsText(dst []byte, pairs []wire.Attribute) []byte {
	for _, a := range pairs {
		dst = fmt.Appendf(dst, " %s=%s", quote(a.Key), quote(a.Value))
	}
	return dst
}

func appendThreadText(dst []byte, th jvmthread.Thread) []byte {
	var flags wire.ThreadFlags
	if th.Daemon {
		flags |= wire.ThreadDaemon
	}
	if th.Virtual {
		flags |= wire.ThreadVirtual
	}
	if th.Carrier {
		flags |= wire.ThreadCarrier
	}
	dst = fmt.Appendf(dst, "thread id=%d flags=%d name=%s group=%s", th.ID, flags, quote(th.Name), quote(th.Group))
	if th.Foreign != "" {
		dst = fmt.Appendf(dst, " foreign=%s", quote(th.Foreign))
	}
	return append(dst, '\n')
}

func appendMethodText(dst []byte, m *wire.Method) []byte {
	dst = fmt.Appendf(dst, "method id=%d class=%d name=%s signature=%s file=%s",
		m.ID, m.Class, quote(m.Name), quote(m.Signature), quote(m.File))
	separator := " lines="
	for _, l := range m.Lines {
		dst = fmt.Appendf(dst, "%s%d:%d", separator, l.Start, l.Number)
		separator = ","
	}
	return append(dst, '\n')
}

func appendStackText(dst []byte, s *wire.Stack) []byte {
	flags := 0
	if s.Truncated {
		flags = int(wire.StackTruncated)
	}
	dst = fmt.Appendf(dst, "stack id=%d flags=%d", s.ID, flags)
	separator := " frames="
	for _, f := range s.Frames {
		dst = fmt.Appendf(dst, "%s%d:%d", separator, f.Method, f.BCI)
		separator = ","
	}
	if s.Lock != "" {
		dst = fmt.Appendf(dst, " lockFrame=%d lock=%s", s.LockFrame, quote(s.Lock))
	}
	return append(dst, '\n')
}

func appendBatchText(dst []byte, f wire.Frame) ([]byte, error) {
	b, err := f.Batch()
	if err != nil {
		return dst, err
	}
	dst = fmt.Appendf(dst, "batch sequence=%d watermark=%d before=%d\n", b.Sequence, b.Watermark, b.Before)
	var events []jvmthread.Event
	for b.More() {
		var thread jvmthread.ThreadID
		if thread, events, err = b.Section(events[:0]); err != nil {
			return dst, err
		}
		dst = fmt.Appendf(dst, " section thread=%d\n", thread)
		for i := range events {
			dst = appendEventText(dst, events[i])
		}
	}
	return dst, nil
}

func appendAggregateText(dst []byte, f wire.Frame) ([]byte, error) {
	var a wire.Aggregate
	if _, err := f.Aggregate(&a); err != nil {
		return dst, err
	}
	dst = fmt.Appendf(dst, "aggregate sequence=%d watermark=%d before=%d from=%d to=%d scale=%d\n",
		a.Sequence, a.Watermark, a.Before, a.From, a.To, a.Scale)
	for i := range a.Series {
		s := &a.Series[i]
		dst = fmt.Appendf(dst, " series %s class=%d stack=%d sum=%d max=%d zero=%d", s.Kind, s.Class, s.Stack, s.Sum, s.Max, s.Zero)
		separator := fmt.Sprintf(" offset=%d buckets=", s.Offset)
		for _, n := range s.Buckets {
			dst = fmt.Appendf(dst, "%s%d", separator, n)
			separator = ","
		}
		if s.Overflow {
			dst = append(dst, " overflow"...)
		}
		dst = append(dst, '\n')
	}
	return dst, nil
}

func appendEventText(dst []byte, ev jvmthread.Event) []byte {
	if ev.Kind.CarriesSpan() {
		ev = packSpan(ev)
	}
	dst = fmt.Appendf(dst, "  event %s time=%d", ev.Kind, ev.Time)
	if ev.Peer != jvmthread.NoThread {
		dst = fmt.Appendf(dst, " peer=%d", ev.Peer)
	}
	if !ev.Lock.IsZero() {
		dst = fmt.Appendf(dst, " lock=%s", ev.Lock)
	}
	if ev.Arg != 0 {
		dst = fmt.Appendf(dst, " arg=%d", ev.Arg)
	}
	if ev.Stack != jvmthread.NoStack {
		dst = fmt.Appendf(dst, " stack=%d", ev.Stack)
	}
	flags := ev.Flags
	for i, name := range jvmthread.FlagNames {
		if bit := jvmthread.Flags(1) << i; flags&bit != 0 {
			dst = append(append(dst, ' '), name...)
			flags &^= bit
		}
	}
	if flags != 0 {
		dst = fmt.Appendf(dst, " flags=%d", flags)
	}
	return append(dst, '\n')
}

// quote escapes a string to fit on one line.
func quote(s string) string {
	dst := []byte{'"'}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case s[i] == '"' || s[i] == '\\':
			dst = append(dst, '\\', s[i])
		case s[i] < ' ' || s[i] == 0x7f || r == utf8.RuneError && size == 1:
			dst = append(append(dst, `\x`...), hex.EncodeToString([]byte{s[i]})...)
		default:
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return string(append(dst, '"'))
}

func unquote(s string) (string, error) {
	var dst []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			dst = append(dst, s[i])
			continue
		}
		switch {
		case i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			dst = append(dst, s[i+1])
			i++
		case i+3 < len(s) && s[i+1] == 'x':
			v, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
			if err != nil {
				return "", fmt.Errorf("escape %q: want two hexadecimal digits", s[i:i+4])
			}
			dst = append(dst, byte(v))
			i += 3
		default:
			return "", fmt.Errorf(`escape %q: want \", \\ or \xHH`, s[i:])
		}
	}
	return string(dst), nil
}
