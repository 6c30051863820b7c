// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"fmt"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wire"
)

func (d *Decoder) batch(f wire.Frame) {
	b, err := f.Batch()
	if err != nil || d.repeated(b.BatchHeader) {
		d.malformed(f, err)
		return
	}
	events := d.merger.begin()
	counted := uint64(0)
	for b.More() {
		start := len(events)
		if _, events, err = b.Section(events); err != nil {
			d.malformed(f, err)
			return
		}
		counted += d.translate(events[start:])
	}
	d.Counts.Unknown += b.Skipped()
	missed := d.count(f, b.BatchHeader, b.Skipped()+counted)
	until := max(d.watermark, b.Watermark+d.offset)
	sorted, late := d.merger.merge(events, d.watermark, until)
	if late > 0 {
		d.Problem(recording.Problem{
			Byte: f.Byte, What: fmt.Sprintf("batch: %d events are earlier than the previous watermark", late), Remedy: "skipping them", Lost: uint64(late),
		})
	}
	if n := len(sorted); n > 0 {
		until = max(until, sorted[n-1].Time)
	}
	d.pass(&recording.Batch{Events: sorted, Watermark: until, Lost: missed + uint64(late)})
}

// repeated reports whether a batch has been read before, as an agent that reconnects repeats some, or follows the end of the session.
func (d *Decoder) repeated(h wire.BatchHeader) bool {
	return d.ended || d.last > 0 && h.Sequence <= d.last
}

// count registers a batch of n events, and returns how many are missing before it.
func (d *Decoder) count(f wire.Frame, h wire.BatchHeader, n uint64) (missed uint64) {
	switch {
	case h.Before > jvmthread.MaxEvents:
		d.ReportAt(f.Byte, fmt.Sprintf("%v: %d events before it, want at most %d", f.Kind, h.Before, uint64(jvmthread.MaxEvents)), "ignoring the number")
	case d.last == 0:
		d.before = h.Before
	case h.Before > d.before:
		missed = h.Before - d.before
		d.Counts.Lost += missed
		d.before = h.Before
	}
	d.last = h.Sequence
	d.before += n
	return missed
}

// translate converts times to the wall clock and ids to those of Options.Symbols. It returns the number of events that are not gaps.
func (d *Decoder) translate(events []jvmthread.Event) (n uint64) {
	for i := range events {
		ev := &events[i]
		ev.Time += d.offset
		if !d.definitions.Resolve(&ev.Lock.Class, &ev.Stack) {
			d.undefined++
		}
		if ev.Kind != jvmthread.KindGap {
			n++
		}
	}
	return n
}

// aggregate passes on a batch with sums in place of events, after the events that precede its watermark.
func (d *Decoder) aggregate(f wire.Frame) {
	a := &d.sums
	skipped, err := f.Aggregate(a)
	if err != nil || d.repeated(a.BatchHeader) {
		d.malformed(f, err)
		return
	}
	d.Counts.Unknown += skipped
	a.From += d.offset
	a.To += d.offset
	for i := range a.Series {
		s := &a.Series[i]
		if !d.definitions.Resolve(&s.Class, &s.Stack) {
			d.undefined++
		}
	}
	missed := d.count(f, a.BatchHeader, 0)
	until := max(d.watermark, a.Watermark+d.offset)
	if sorted, _ := d.merger.merge(d.merger.begin(), d.watermark, until); len(sorted) > 0 {
		d.pass(&recording.Batch{Events: sorted, Watermark: until, Lost: missed})
		missed = 0
	}
	d.pass(&recording.Batch{Aggregate: &a.Aggregate, Watermark: until, Lost: missed})
}

func (d *Decoder) pass(batch *recording.Batch) {
	batch.Threads = d.threads
	d.watermark = batch.Watermark
	d.Batch(batch)
	d.threads = d.threads[:0]
}
