// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// MaxPiece is the number of spans of an OTLP request: few megabytes, so that it does not exceed what servers accept.
const MaxPiece = 2048

// Pieces takes the spans of a window one by one, in slices of limited size. The caller gets each slice as soon as it is full, so that a large
// window need not be in memory as a whole.
type Pieces struct {
	size int
	next func() ptrace.SpanSlice
	now  ptrace.SpanSlice
	left int // room of it
	rest int // spans that are expected; more may come
}

// NewPieces returns Pieces of at most size spans each. Next is called before the first span and whenever a slice is full; it returns an
// empty slice. What it returned before is complete then.
func NewPieces(size int, next func() ptrace.SpanSlice) *Pieces {
	return &Pieces{size: size, next: next}
}

// expect announces spans, for which room is made at once.
func (p *Pieces) expect(spans int) {
	p.rest = spans
	if p.left > 0 {
		p.now.EnsureCapacity(p.now.Len() + min(p.left, p.rest))
	}
}

func (p *Pieces) append() ptrace.Span {
	if p.left == 0 {
		p.now, p.left = p.next(), p.size
		p.now.EnsureCapacity(min(p.size, max(p.rest, 1)))
	}
	p.left--
	p.rest--
	return p.now.AppendEmpty()
}

// whole puts all spans into one slice.
func whole(dst ptrace.SpanSlice) *Pieces {
	return &Pieces{now: dst, left: int(^uint(0) >> 1)}
}
