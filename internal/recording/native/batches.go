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
	switch {
	case err != nil:
		d.bad(f, err)
		return
	case d.ended || d.last > 0 && b.Sequence <= d.last:
		return // a second time, after the agent came back
	}
	events := d.merger.begin()
	counted := uint64(0)
	for b.More() {
		start := len(events)
		if _, events, err = b.Section(events); err != nil {
			d.bad(f, err)
			return
		}
		counted += d.translate(events[start:])
	}
	d.stats.Unknown += b.Skipped()
	missed := d.count(b.BatchHeader, b.Skipped()+counted)
	until := max(d.watermark, b.Watermark+d.offset)
	sorted, late := d.merger.merge(events, d.watermark, until)
	if late > 0 {
		d.problem(recording.Problem{
			Byte: f.Byte, What: fmt.Sprintf("batch: %d events are earlier than the watermark before it", late), Remedy: "they are left out", Lost: uint64(late),
		})
	}
	if n := len(sorted); n > 0 {
		until = max(until, sorted[n-1].Time)
	}
	d.hand(&recording.Batch{Events: sorted, Watermark: until, Lost: missed})
}

// count notes a batch of n events, and returns how many are missing before it.
func (d *Decoder) count(h wire.BatchHeader, n uint64) (missed uint64) {
	if d.last > 0 && h.Before > d.before {
		missed = h.Before - d.before
		d.stats.Lost += missed
	}
	d.last, d.before = h.Sequence, h.Before+n
	return missed
}

// translate makes times and ids those that others know, and counts the events that are not gaps.
func (d *Decoder) translate(events []jvmthread.Event) (n uint64) {
	for i := range events {
		ev := &events[i]
		ev.Time += d.offset
		if ev.Lock.Class != jvmthread.NoClass {
			ev.Lock.Class = d.definitions.Class(ev.Lock.Class)
		}
		if ev.Stack != jvmthread.NoStack {
			ev.Stack = d.definitions.Stack(ev.Stack)
		}
		if ev.Kind != jvmthread.KindGap {
			n++
		}
	}
	return n
}

func (d *Decoder) hand(batch *recording.Batch) {
	if d.err != nil {
		return
	}
	batch.Threads = d.threads
	d.watermark = batch.Watermark
	d.stats.Events += uint64(len(batch.Events))
	d.err = d.sink.Batch(batch)
	d.threads = d.threads[:0]
}
