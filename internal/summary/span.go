// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"io"
	"io/fs"
	"sort"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/native"
	"github.com/weft-otel/weft/internal/recording"
)

// Span is a part of the time of a recording, From included, To not. A zero time is no bound.
type Span struct{ From, To time.Time }

func (s Span) bounds() (from, to jvmthread.Time) {
	from, to = -1<<63, 1<<63-1
	if !s.From.IsZero() {
		from = jvmthread.Time(s.From.UnixNano())
	}
	if !s.To.IsZero() {
		to = jvmthread.Time(s.To.UnixNano())
	}
	return from, to
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
