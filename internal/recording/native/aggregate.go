// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wire"
)

// aggregate hands on a batch that has sums in place of events, behind the events that are due.
func (d *Decoder) aggregate(f wire.Frame) {
	a := &d.sums
	skipped, err := f.Aggregate(a)
	switch {
	case err != nil:
		d.bad(f, err)
		return
	case d.ended || d.last > 0 && a.Sequence <= d.last:
		return // a second time, after the agent came back
	}
	d.stats.Unknown += skipped
	a.From += d.offset
	a.To += d.offset
	for i := range a.Series {
		s := &a.Series[i]
		s.Class, s.Stack = d.definitions.Class(s.Class), d.definitions.Stack(s.Stack)
	}
	missed := d.count(a.BatchHeader, 0)
	until := max(d.watermark, a.Watermark+d.offset)
	d.merger.begin()
	if sorted, _ := d.merger.merge(nil, d.watermark, until); len(sorted) > 0 {
		d.hand(&recording.Batch{Events: sorted, Watermark: until, Lost: missed})
		missed = 0
	}
	d.hand(&recording.Batch{Aggregate: &a.Aggregate, Watermark: until, Lost: missed})
}

// aggregate appends sums, in as many frames as they need, with what they name.
func (e *Encoder) aggregate(dst []byte, start int, b *recording.Batch) []byte {
	sums := wire.Aggregate{Aggregate: *b.Aggregate}
	sums.Series = nil
	size := wire.AggregateHeaderSize
	for _, s := range b.Aggregate.Series {
		dst = e.stackOf(e.class(dst, s.Class), s.Stack)
		if !e.options.Stacks {
			s.Stack = jvmthread.NoStack
		}
		n := wire.SeriesSize + 8*len(s.Buckets)
		if size+n > wire.MaxFrame {
			dst = e.appendSums(dst, start, &sums, b.Watermark)
			size = wire.AggregateHeaderSize
		}
		sums.Series = append(sums.Series, s)
		size += n
	}
	return e.appendSums(dst, start, &sums, b.Watermark)
}

func (e *Encoder) appendSums(dst []byte, start int, sums *wire.Aggregate, watermark jvmthread.Time) []byte {
	e.sequence++
	sums.BatchHeader = wire.BatchHeader{Sequence: e.sequence, Watermark: watermark, Before: e.before}
	at := e.size + int64(len(dst)-start)
	dst = wire.AppendAggregate(dst, sums)
	sums.Series = sums.Series[:0]
	return e.enter(dst, start, at, sums.From, max(sums.To, watermark))
}
