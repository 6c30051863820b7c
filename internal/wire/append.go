// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// The functions below append a complete frame. They truncate strings to MaxString bytes and lists to 65 535 elements. The caller must keep
// the payload within MaxFrame.

// AppendPreamble appends the preamble, which precedes the first frame of an agent.
func AppendPreamble(dst []byte) []byte {
	dst = append(dst, Magic...)
	return append(dst, Version, 0, 0, 0)
}

// AppendHello appends a hello frame.
func AppendHello(dst []byte, h *Hello) []byte {
	dst, start := begin(dst, FrameHello)
	dst = append(dst, h.Session[:]...)
	dst = appendI64(dst, h.Wall)
	dst = appendI64(dst, h.Monotonic)
	dst = binary.LittleEndian.AppendUint32(dst, h.PID)
	dst = binary.LittleEndian.AppendUint64(dst, h.Acked)
	dst = appendAttributes(dst, h.Attributes)
	if !h.Secret.IsZero() || len(h.Headers) > 0 {
		dst = append(dst, h.Secret[:]...)
	}
	if len(h.Headers) > 0 {
		dst = appendAttributes(dst, h.Headers)
	}
	return end(dst, start)
}

// AppendThread appends the definition of a thread.
func AppendThread(dst []byte, th jvmthread.Thread) []byte {
	var flags ThreadFlags
	if th.Daemon {
		flags |= ThreadDaemon
	}
	if th.Virtual {
		flags |= ThreadVirtual
	}
	if th.Carrier {
		flags |= ThreadCarrier
	}
	dst, start := begin(dst, FrameThread)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(th.ID))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(flags))
	dst = appendString(dst, th.Name)
	dst = appendString(dst, th.Group)
	if th.Foreign != "" {
		dst = appendString(dst, th.Foreign)
	}
	return end(dst, start)
}

// AppendClass appends the definition of a class.
func AppendClass(dst []byte, c Class) []byte {
	dst, start := begin(dst, FrameClass)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(c.ID))
	dst = appendString(dst, c.Name)
	return end(dst, start)
}

// AppendMethod appends the definition of a method.
func AppendMethod(dst []byte, m *Method) []byte {
	dst, start := begin(dst, FrameMethod)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(m.ID))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(m.Class))
	dst = appendString(dst, m.Name)
	dst = appendString(dst, m.Signature)
	dst = appendString(dst, m.File)
	lines := cut(m.Lines)
	dst = appendCount(dst, len(lines))
	for _, l := range lines {
		dst = binary.LittleEndian.AppendUint32(dst, l.Start)
		dst = binary.LittleEndian.AppendUint32(dst, l.Number)
	}
	return end(dst, start)
}

// AppendStack appends the definition of a stack.
func AppendStack(dst []byte, s *Stack) []byte {
	var flags uint16
	if s.Truncated {
		flags = StackTruncated
	}
	dst, start := begin(dst, FrameStack)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.ID))
	dst = binary.LittleEndian.AppendUint16(dst, flags)
	frames := cut(s.Frames)
	dst = appendCount(dst, len(frames))
	for _, f := range frames {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(f.Method))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(f.BCI))
	}
	if s.Lock != "" {
		dst = binary.LittleEndian.AppendUint16(dst, s.LockFrame)
		dst = appendString(dst, s.Lock)
	}
	return end(dst, start)
}

// AppendStackText appends the definition of a stack by its text, of any length.
func AppendStackText(dst []byte, id jvmthread.StackID, text string) []byte {
	dst, start := begin(dst, FrameStackText)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(id))
	return end(append(dst, text...), start)
}

// AppendClock appends a reading of the clocks.
func AppendClock(dst []byte, c Clock) []byte {
	dst, start := begin(dst, FrameClock)
	return end(appendI64(appendI64(dst, c.Wall), c.Monotonic), start)
}

// AppendBatch appends a batch.
func AppendBatch(dst []byte, h BatchHeader, sections ...Section) []byte {
	dst, start := begin(dst, FrameBatch)
	dst = appendBatchHeader(dst, h)
	for _, s := range sections {
		dst = appendSectionHeader(dst, s.Thread, len(s.Events))
		first, size := len(dst), len(s.Events)*RecordSize
		dst = slices.Grow(dst, size)[:first+size]
		records := dst[first:]
		for i := range s.Events {
			rec, ev := (*[RecordSize]byte)(records), &s.Events[i]
			records = records[RecordSize:]
			putRecord(rec, ev)
			if ev.Kind.CarriesSpan() { // not in putRecord, which is inlined
				putSpan(rec, ev)
			}
		}
	}
	return end(dst, start)
}

func appendBatchHeader(dst []byte, h BatchHeader) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, h.Sequence)
	dst = appendI64(dst, int64(h.Watermark))
	return binary.LittleEndian.AppendUint64(dst, h.Before)
}

func appendSectionHeader(dst []byte, thread jvmthread.ThreadID, count int) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(thread))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(count))
	return binary.LittleEndian.AppendUint32(dst, RecordSize) // and the two reserved bytes
}

func putRecord(rec *[RecordSize]byte, ev *jvmthread.Event) {
	binary.LittleEndian.PutUint64(rec[0:], uint64(ev.Time))
	binary.LittleEndian.PutUint64(rec[8:], uint64(ev.Peer))
	binary.LittleEndian.PutUint64(rec[16:], uint64(ev.Arg))
	binary.LittleEndian.PutUint32(rec[24:], ev.Lock.Hash)
	binary.LittleEndian.PutUint32(rec[28:], uint32(ev.Lock.Class))
	binary.LittleEndian.PutUint32(rec[32:], uint32(ev.Stack))
	binary.LittleEndian.PutUint16(rec[36:], uint16(ev.Kind))
	binary.LittleEndian.PutUint16(rec[38:], uint16(ev.Flags))
}

// AppendEnd appends the end of a session.
func AppendEnd(dst []byte, e End) []byte {
	dst, start := begin(dst, FrameEnd)
	dst = appendI64(dst, int64(e.Time))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(e.Reason))
	return end(dst, start)
}

// AppendWelcome appends a receiver's answer to a hello.
func AppendWelcome(dst []byte, acked uint64) []byte {
	dst, start := begin(dst, FrameWelcome)
	return end(binary.LittleEndian.AppendUint64(dst, acked), start)
}

// AppendAck appends an acknowledgement.
func AppendAck(dst []byte, sequence uint64) []byte {
	dst, start := begin(dst, FrameAck)
	return end(binary.LittleEndian.AppendUint64(dst, sequence), start)
}

// AppendRefuse appends a refusal.
func AppendRefuse(dst []byte, r Refuse) []byte {
	dst, start := begin(dst, FrameRefuse)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(r.Code))
	const spare = 2 + 2 // code and length: the limit on frames to the agent is tighter than that on strings
	return end(appendString(dst, shorten(r.Message, MaxControl-spare)), start)
}

// AppendControl appends a control. The caller must keep it within MaxControl bytes.
func AppendControl(dst []byte, c *Control) []byte {
	dst, start := begin(dst, FrameControl)
	dst = binary.LittleEndian.AppendUint32(dst, c.ID)
	return end(appendAttributes(dst, c.Options), start)
}

// AppendStatus appends the answer to a control.
func AppendStatus(dst []byte, s *Status) []byte {
	dst, start := begin(dst, FrameStatus)
	dst = binary.LittleEndian.AppendUint32(dst, s.ID)
	dst = appendString(dst, s.Error)
	return end(appendAttributes(dst, s.Options), start)
}

func begin(dst []byte, kind FrameKind) (_ []byte, start int) {
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(kind))
	dst = append(dst, 0, 0)
	return dst, len(dst)
}

func end(dst []byte, start int) []byte {
	binary.LittleEndian.PutUint32(dst[start-FrameHeaderSize:], uint32(len(dst)-start))
	return dst
}

func appendI64(dst []byte, v int64) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(v))
}

func appendCount(dst []byte, n int) []byte {
	return binary.LittleEndian.AppendUint16(dst, uint16(n))
}

func appendAttributes(dst []byte, attributes []Attribute) []byte {
	attributes = cut(attributes)
	dst = appendCount(dst, len(attributes))
	for _, a := range attributes {
		dst = appendString(dst, a.Key)
		dst = appendString(dst, a.Value)
	}
	return dst
}

func cut[T any](list []T) []T { return list[:min(len(list), math.MaxUint16)] }

func appendString(dst []byte, s string) []byte {
	s = shorten(s, MaxString)
	return append(appendCount(dst, len(s)), s...)
}

// shorten truncates between two characters.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
