// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Magic is at the start of each chunk.
const Magic = "FLR\x00"

const headerSize = 68

// flagCompressed is the flag in the last byte of the header for packed integers.
const flagCompressed = 1 << 0

// header is the head of a chunk, which is big-endian regardless of the flags.
type header struct {
	major, minor   uint16
	size           int64 // including the header; 0 while JDK 13 and older write the chunk
	constants      int64 // offset of the last checkpoint
	metadata       int64 // offset
	startNanos     int64 // since the Unix epoch, at startTicks
	durationNanos  int64
	startTicks     int64
	ticksPerSecond int64
	state          byte // 0: complete; otherwise being written
	flags          byte
}

func parseHeader(b []byte) (header, error) {
	if len(b) < headerSize {
		return header{}, fmt.Errorf("truncated chunk header: want %d bytes, have %d", headerSize, len(b))
	}
	if string(b[:4]) != Magic {
		return header{}, fmt.Errorf("invalid chunk signature %q: want %q", b[:4], Magic)
	}
	i64 := func(at int) int64 { return int64(binary.BigEndian.Uint64(b[at:])) }
	h := header{
		major: binary.BigEndian.Uint16(b[4:]), minor: binary.BigEndian.Uint16(b[6:]),
		size: i64(8), constants: i64(16), metadata: i64(24), startNanos: i64(32), durationNanos: i64(40), startTicks: i64(48),
		ticksPerSecond: i64(56), state: b[64], flags: b[67],
	}
	switch {
	case h.major != 2:
		return h, fmt.Errorf("unknown format version %d.%d: want 2.x (JDK 11 and later)", h.major, h.minor)
	case h.ticksPerSecond <= 0:
		return h, fmt.Errorf("invalid clock rate of %d ticks per second", h.ticksPerSecond)
	case h.size != 0 && h.size < headerSize:
		return h, fmt.Errorf("invalid chunk size of %d bytes", h.size)
	}
	return h, nil
}

// complete reports whether the chunk has been completed.
func (h *header) complete() bool { return h.size >= headerSize && h.state == 0 }

// clock converts ticks to nanoseconds exactly as the JDK's tools do, by dividing by a double, so that results agree to the nanosecond.
type clock struct {
	startTicks int64
	startNanos int64
	divisor    float64 // ticks per nanosecond
}

func newClock(h *header) clock {
	return clock{startTicks: h.startTicks, startNanos: h.startNanos, divisor: float64(h.ticksPerSecond) / 1e9}
}

// at converts a time.
func (c *clock) at(ticks int64) int64 { return c.startNanos + c.span(ticks-c.startTicks) }

// span converts a duration, rounding towards zero.
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
