// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"io"
	"io/fs"
	"math"
	"sort"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
)

// Span is a part of a recording, from From (inclusive) to To (exclusive). A zero time does not bound it.
type Span struct{ From, To time.Time }

// Valid reports whether the span is not empty.
func (s Span) Valid() bool { return s.From.IsZero() || s.To.IsZero() || s.From.Before(s.To) }

func (s Span) bounds() (from, to jvmthread.Time) {
	from, to = math.MinInt64, math.MaxInt64
	if !s.From.IsZero() {
		from = nanoseconds(s.From)
	}
	if !s.To.IsZero() {
		to = nanoseconds(s.To)
	}
	return from, to
}

// nanoseconds returns the time since 1970, clamped to the range of an int64: 1677 to 2262.
func nanoseconds(t time.Time) jvmthread.Time {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return jvmthread.Time(t.UnixNano())
}

// Part returns a reader of the batches of a native recording that the span needs; whole if the source has no random access.
func (s Span) Part(source, whole io.Reader) io.Reader {
	file, ok := source.(interface {
		io.ReaderAt
		Stat() (fs.FileInfo, error)
	})
	if s == (Span{}) || !ok {
		return whole
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return whole
	}
	from, to := s.bounds()
	part, err := native.Part(file, info.Size(), from, to)
	if err != nil {
		return whole
	}
	return part
}

// cut removes the events of a batch that lie outside of the span, and reports whether anything is left.
func (s Span) cut(b *recording.Batch) bool {
	if s == (Span{}) {
		return true
	}
	from, to := s.bounds()
	if b.Aggregate != nil {
		return b.Aggregate.To > from && b.Aggregate.From < to
	}
	first := sort.Search(len(b.Events), func(i int) bool { return b.Events[i].Time >= from })
	after := sort.Search(len(b.Events), func(i int) bool { return b.Events[i].Time >= to })
	b.Events = b.Events[first:after]
	if len(b.Events) == 0 && (b.Watermark < from || b.Watermark > to) {
		return false
	}
	b.Watermark = min(b.Watermark, to)
	return true
}
