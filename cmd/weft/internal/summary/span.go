// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

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

// Span is a part of the time of a recording, From included, To not. A zero time is no bound.
type Span struct{ From, To time.Time }

// Valid reports whether there is any time in it.
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

// nanoseconds is the time since 1970, as far as an integer reaches: from 1677 to 2262.
func nanoseconds(t time.Time) jvmthread.Time {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return jvmthread.Time(t.UnixNano())
}

// part leaves out of a native recording what need not be read.
func (s Span) part(r io.Reader) io.Reader {
	file, ok := r.(interface {
		io.ReaderAt
		Stat() (fs.FileInfo, error)
	})
	if s == (Span{}) || !ok {
		return r
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return r
	}
	from, to := s.bounds()
	part, err := native.Part(file, info.Size(), from, to)
	if err != nil {
		return r // all of it is read, then
	}
	return part
}

// cut leaves out of a batch what is outside, and reports whether anything is left.
func (s Span) cut(b *recording.Batch) bool {
	if s == (Span{}) {
		return true
	}
	from, to := s.bounds()
	if b.Aggregate != nil {
		return b.Aggregate.To > from && b.Aggregate.From < to
	}
	first := sort.Search(len(b.Events), func(i int) bool { return b.Events[i].Time >= from })
	behind := sort.Search(len(b.Events), func(i int) bool { return b.Events[i].Time >= to })
	b.Events = b.Events[first:behind]
	if len(b.Events) == 0 && (b.Watermark < from || b.Watermark > to) {
		return false
	}
	b.Watermark = min(b.Watermark, to)
	return true
}
