// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Magic begins each chunk.
const Magic = "FLR\x00"

const headerSize = 68

// Flags in the last byte of the header.
const (
	flagCompressed = 1 << 0
	flagFinal      = 1 << 1 // no chunk of this JVM follows; JDK 15 and later
)

// header is the beginning of a chunk, all of it big-endian whatever the flags say.
type header struct {
	major, minor   uint16
	size           int64 // with the header; 0 while JDK 13 and older write it
	constants      int64 // where the last checkpoint is
	metadata       int64
	startNanos     int64 // since the Unix epoch, at startTicks
	durationNanos  int64
	startTicks     int64
	ticksPerSecond int64
	state          byte // 0: complete; else it is being written
	flags          byte
}

func parseHeader(b []byte) (header, error) {
	if len(b) < headerSize {
		return header{}, fmt.Errorf("the header of a chunk needs %d bytes, there are %d", headerSize, len(b))
	}
	if string(b[:4]) != Magic {
		return header{}, fmt.Errorf("a chunk begins with %q, not with %q", b[:4], Magic)
	}
	i64 := func(at int) int64 { return int64(binary.BigEndian.Uint64(b[at:])) }
	h := header{
		major: binary.BigEndian.Uint16(b[4:]), minor: binary.BigEndian.Uint16(b[6:]),
		size: i64(8), constants: i64(16), metadata: i64(24), startNanos: i64(32), durationNanos: i64(40), startTicks: i64(48),
		ticksPerSecond: i64(56), state: b[64], flags: b[67],
	}
	switch {
	case h.major != 2:
		return h, fmt.Errorf("version %d.%d of the format is not known here; versions 2.x (JDK 9 and later) are", h.major, h.minor)
	case h.ticksPerSecond <= 0:
		return h, fmt.Errorf("%d ticks a second", h.ticksPerSecond)
	case h.size != 0 && h.size < headerSize:
		return h, fmt.Errorf("a chunk of %d bytes", h.size)
	}
	return h, nil
}

// complete reports whether the header tells the size of all of the chunk.
func (h *header) complete() bool { return h.size >= headerSize && h.state == 0 }

// clock converts ticks to nanoseconds just as the JDK's own tools do, by division by a double: so results agree to the nanosecond.
type clock struct {
	startTicks int64
	startNanos int64
	divisor    float64 // ticks a nanosecond
}

func newClock(h *header) clock {
	return clock{startTicks: h.startTicks, startNanos: h.startNanos, divisor: float64(h.ticksPerSecond) / 1e9}
}

// at converts a point in time.
func (c *clock) at(ticks int64) int64 { return c.startNanos + c.span(ticks-c.startTicks) }

// span converts a duration, towards zero.
func (c *clock) span(ticks int64) int64 {
	if c.divisor == 1 {
		return ticks
	}
	switch n := float64(ticks) / c.divisor; {
	case n >= math.MaxInt64:
		return math.MaxInt64
	case n <= math.MinInt64:
		return math.MinInt64
	default:
		return int64(n)
	}
}
