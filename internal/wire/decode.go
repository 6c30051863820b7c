// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Hello decodes the frame into h, reusing its attributes and headers.
func (f Frame) Hello(h *Hello) error {
	c := cursor{b: f.Payload}
	copy(h.Session[:], c.take("session", len(h.Session)))
	h.Wall = c.i64("wall")
	h.Monotonic = c.i64("monotonic")
	h.PID = c.u32("pid")
	h.Acked = c.u64("acked")
	h.Attributes = c.attributes(h.Attributes[:0], "attribute")
	h.Secret, h.Headers = Secret{}, h.Headers[:0]
	if len(c.b) > 0 { // agents before this field end here
		copy(h.Secret[:], c.take("secret", len(h.Secret)))
	}
	if len(c.b) > 0 {
		h.Headers = c.attributes(h.Headers, "header")
	}
	if c.what == "" && h.Session[0] == 0 {
		c.what = "session begins with a zero byte"
	}
	return c.err(f)
}

// Thread decodes the definition of a thread.
func (f Frame) Thread() (jvmthread.Thread, error) {
	c := cursor{b: f.Payload}
	th := jvmthread.Thread{ID: jvmthread.ThreadID(c.id64("id"))}
	flags := ThreadFlags(c.u16("flags"))
	th.Daemon = flags&ThreadDaemon != 0
	th.Virtual = flags&ThreadVirtual != 0
	th.Carrier = flags&ThreadCarrier != 0
	th.Name = c.string("name")
	th.Group = c.string("group")
	if len(c.b) > 0 { // of threads that a recording defines
		th.Foreign = c.string("foreign")
	}
	return th, c.err(f)
}

// Class decodes the definition of a class.
func (f Frame) Class() (Class, error) {
	c := cursor{b: f.Payload}
	class := Class{ID: jvmthread.ClassID(c.id32()), Name: c.string("name")}
	return class, c.err(f)
}

// ClassText decodes the definition of a class like Class. The name is a part of the payload, and may be invalid UTF-8.
func (f Frame) ClassText() (id jvmthread.ClassID, name []byte, err error) {
	c := cursor{b: f.Payload}
	id = jvmthread.ClassID(c.id32())
	name = c.take("name", int(c.u16("name")))
	return id, name, c.err(f)
}

// StackText decodes the definition of a stack by its text. The text is a part of the payload, and may be invalid UTF-8.
func (f Frame) StackText() (id jvmthread.StackID, text []byte, err error) {
	c := cursor{b: f.Payload}
	id = jvmthread.StackID(c.id32())
	return id, c.b, c.err(f)
}

// Clock decodes a reading of the clocks.
func (f Frame) Clock() (Clock, error) {
	c := cursor{b: f.Payload}
	clock := Clock{Wall: c.i64("wall"), Monotonic: c.i64("monotonic")}
	return clock, c.err(f)
}

// Method decodes the frame into m, reusing its lines.
func (f Frame) Method(m *Method) error {
	c := cursor{b: f.Payload}
	m.ID = MethodID(c.id32())
	m.Class = jvmthread.ClassID(c.u32("class"))
	m.Name = c.string("name")
	m.Signature = c.string("signature")
	m.File = c.string("file")
	m.Lines = m.Lines[:0]
	for range c.count("lines", 8) {
		m.Lines = append(m.Lines, Line{Start: c.u32("line"), Number: c.u32("line")})
	}
	return c.err(f)
}

// Stack decodes the frame into s, reusing its frames.
func (f Frame) Stack(s *Stack) error {
	c := cursor{b: f.Payload}
	s.ID = jvmthread.StackID(c.id32())
	s.Truncated = c.u16("flags")&StackTruncated != 0
	s.Frames = s.Frames[:0]
	for range c.count("frames", 8) {
		s.Frames = append(s.Frames, StackFrame{Method: MethodID(c.u32("frame")), BCI: c.i32("frame")})
	}
	s.LockFrame, s.Lock = 0, ""
	if len(c.b) > 0 { // agents before this field end here
		s.LockFrame = c.u16("lock frame")
		s.Lock = c.string("lock")
	}
	return c.err(f)
}

// End decodes the end of the session.
func (f Frame) End() (End, error) {
	c := cursor{b: f.Payload}
	end := End{Time: jvmthread.Time(c.i64("time")), Reason: EndReason(c.u16("reason"))}
	return end, c.err(f)
}

// Welcome returns the highest batch that the receiver has.
func (f Frame) Welcome() (acked uint64, err error) {
	c := cursor{b: f.Payload}
	acked = c.u64("acked")
	return acked, c.err(f)
}

// Ack returns the sequence number up to which all batches are acknowledged.
func (f Frame) Ack() (sequence uint64, err error) {
	c := cursor{b: f.Payload}
	sequence = c.u64("sequence")
	return sequence, c.err(f)
}

// Refuse decodes a refusal.
func (f Frame) Refuse() (Refuse, error) {
	c := cursor{b: f.Payload}
	refuse := Refuse{Code: RefuseCode(c.u16("code")), Message: c.string("message")}
	return refuse, c.err(f)
}

// Control decodes the frame into control, reusing its options.
func (f Frame) Control(control *Control) error {
	c := cursor{b: f.Payload}
	control.ID = c.u32("id")
	control.Options = c.attributes(control.Options[:0], "option")
	return c.err(f)
}

// Status decodes the frame into s, reusing its options.
func (f Frame) Status(s *Status) error {
	c := cursor{b: f.Payload}
	s.ID = c.u32("id")
	s.Error = c.string("error")
	s.Options = c.attributes(s.Options[:0], "option")
	return c.err(f)
}

// cursor consumes the fields of a payload. It keeps the first failure and returns zero for all later fields.
type cursor struct {
	b    []byte
	what string
}

func (c *cursor) err(f Frame) error {
	if c.what == "" {
		return nil
	}
	return f.errorf("%s", c.what)
}

func (c *cursor) take(field string, n int) []byte {
	if c.what != "" {
		return nil
	}
	if len(c.b) < n {
		c.what = fmt.Sprintf("%s needs %d bytes, have %d", field, n, len(c.b))
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) u16(field string) uint16 {
	if b := c.take(field, 2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) u32(field string) uint32 {
	if b := c.take(field, 4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64(field string) uint64 {
	if b := c.take(field, 8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) i32(field string) int32 { return int32(c.u32(field)) }
func (c *cursor) i64(field string) int64 { return int64(c.u64(field)) }

func (c *cursor) id32() uint32 {
	id := c.u32("id")
	if id == 0 && c.what == "" {
		c.what = "id is 0"
	}
	return id
}

func (c *cursor) id64(field string) uint64 {
	id := c.u64(field)
	if id == 0 && c.what == "" {
		c.what = field + " is 0"
	}
	return id
}

// string replaces invalid UTF-8.
func (c *cursor) string(field string) string {
	n := c.u16(field)
	return strings.ToValidUTF8(string(c.take(field, int(n))), "\uFFFD")
}

// count returns a number of elements, and fails unless there are at least size bytes for each.
func (c *cursor) count(field string, size int) int {
	n := int(c.u16(field))
	if c.what == "" && n*size > len(c.b) {
		c.what = fmt.Sprintf("%s: count %d needs %d bytes, have %d", field, n, n*size, len(c.b))
	}
	if c.what != "" {
		return 0
	}
	return n
}

func (c *cursor) attributes(dst []Attribute, field string) []Attribute {
	for range c.count(field+"s", 4) {
		dst = append(dst, Attribute{Key: c.string(field), Value: c.string(field)})
	}
	return dst
}
