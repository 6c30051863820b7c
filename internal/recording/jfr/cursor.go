// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"encoding/binary"
	"errors"
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
	var v uint64
	for i := range min(9, len(c.b)) {
		b := c.b[i]
		if i == 8 {
			v |= uint64(b) << 56
			c.b = c.b[9:]
			return int64(v)
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			c.b = c.b[i+1:]
			return int64(v)
		}
	}
	c.fail()
	return 0
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
