// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"strings"
	"unicode/utf16"
)

var errShort = errors.New("it ends inside a value")

// cursor reads values from bytes. After the first failure all values are zero and failed is set.
type cursor struct {
	b      []byte
	raw    bool // integers have their full size; otherwise they are packed into 1 to 9 bytes
	failed bool
}

func (c *cursor) fail() {
	c.b, c.failed = nil, true
}

func (c *cursor) skip(n int) {
	if n < 0 || n > len(c.b) {
		c.fail()
		return
	}
	c.b = c.b[n:]
}

func (c *cursor) byte() byte {
	if len(c.b) == 0 {
		c.fail()
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
}

// packed reads seven bits per byte, the lowest first; the ninth byte holds eight.
func (c *cursor) packed() int64 {
	if len(c.b) > 0 && c.b[0] < 0x80 {
		v := int64(c.b[0])
		c.b = c.b[1:]
		return v
	}
	v, n := unpack(c.b)
	if n == 0 {
		c.fail()
		return 0
	}
	c.b = c.b[n:]
	return v
}

const (
	packedBits = 0x7f7f7f7f7f7f7f7f // that carry the value
	packedMore = 0x8080808080808080 // set if another byte follows
)

// unpack decodes a packed integer and returns its length, 0 if b ends inside it. It loads eight bytes at once, also from beyond the end of b
// if its memory goes on, as it does for all events but the last ones of a window.
func unpack(b []byte) (v int64, n int) {
	if cap(b) < 9 {
		return unpackShort(b)
	}
	x := binary.LittleEndian.Uint64(b[:8])
	ends := ^x & packedMore
	if n = bits.TrailingZeros64(ends)/8 + 1; n > len(b) {
		return 0, 0
	}
	if ends == 0 {
		return int64(squeeze(x) | uint64(b[8])<<56), n
	}
	return int64(squeeze(x & (^uint64(0) >> (64 - 8*n)))), n
}

// packedLength returns the length of a packed integer, 0 if b ends inside it.
func packedLength(b []byte) int {
	if cap(b) < 9 {
		_, n := unpackShort(b)
		return n
	}
	n := bits.TrailingZeros64(^binary.LittleEndian.Uint64(b[:8])&packedMore)/8 + 1
	if n > len(b) {
		return 0
	}
	return n
}

// squeeze joins the lower seven bits of each byte.
func squeeze(x uint64) uint64 {
	x &= packedBits
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	return x&0x000000000fffffff | x&0x0fffffff00000000>>4
}

func unpackShort(b []byte) (v int64, n int) {
	var x uint64
	for i := range min(9, len(b)) {
		if i == 8 {
			return int64(x | uint64(b[i])<<56), 9
		}
		x |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return int64(x), i + 1
		}
	}
	return 0, 0
}

// integer reads an integer with the given full size in bytes.
func (c *cursor) integer(size int) int64 {
	if !c.raw {
		if size == 4 {
			return int64(int32(c.packed()))
		}
		return c.packed()
	}
	if len(c.b) < size {
		c.fail()
		return 0
	}
	var v int64
	switch size {
	case 2:
		v = int64(binary.BigEndian.Uint16(c.b))
	case 4:
		v = int64(int32(binary.BigEndian.Uint32(c.b)))
	default:
		v = int64(binary.BigEndian.Uint64(c.b))
	}
	c.b = c.b[size:]
	return v
}

func (c *cursor) int() int64  { return c.integer(4) }
func (c *cursor) long() int64 { return c.integer(8) }

// count reads the number of elements that follow, which have at least one byte each.
func (c *cursor) count() int {
	n := c.int()
	if n < 0 || n > int64(len(c.b)) {
		if !c.failed {
			c.fail()
		}
		return 0
	}
	return int(n)
}

// Encodings of strings.
const (
	stringNull = iota
	stringEmpty
	stringConstant // key in the pool of strings
	stringUTF8
	stringChars // UTF-16
	stringLatin1
)

// text is a string or the key of one.
type text struct {
	value  string
	key    int64 // in a constant pool, unless 0
	symbol bool  // the pool is that of symbols, not that of strings
}

func (c *cursor) text() text {
	switch c.byte() {
	case stringNull, stringEmpty:
		return text{}
	case stringConstant:
		return text{key: c.long()}
	case stringUTF8:
		return text{value: strings.ToValidUTF8(string(c.bytes()), "\uFFFD")}
	case stringLatin1:
		b := c.bytes()
		runes := make([]rune, len(b))
		for i := range b {
			runes[i] = rune(b[i])
		}
		return text{value: string(runes)}
	case stringChars:
		chars := make([]uint16, c.count())
		for i := range chars {
			chars[i] = uint16(c.integer(2))
		}
		return text{value: string(utf16.Decode(chars))}
	default:
		c.fail()
		return text{}
	}
}

func (c *cursor) skipText() {
	switch c.byte() {
	case stringNull, stringEmpty:
	case stringConstant:
		c.long()
	case stringUTF8, stringLatin1:
		c.bytes()
	case stringChars:
		for range c.count() {
			c.integer(2)
		}
	default:
		c.fail()
	}
}

func (c *cursor) bytes() []byte {
	n := c.count()
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}
