// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Histogram is the distribution of durations. Sum, Min and Max are exact.
type Histogram struct {
	Count     uint64
	Sum       time.Duration
	Min, Max  time.Duration
	Buckets   []uint64    // if bounds are explicit: bucket i counts durations up to bound i, the last one the rest
	Scaled    Exponential // otherwise
	Exemplars []Exemplar  // of the last flush interval that had any
	reported  bool        // the exemplars were reported already
}

// Exemplar is one duration of a histogram with a reference to its span.
type Exemplar struct {
	Request  jvmthread.SpanContext // the application's span, which the exemplar leads to instead; zero: none
	Duration time.Duration
	At       jvmthread.Time        // when it ended
	Window   jvmthread.Time        // start of the window whose trace contains the span
	Ref      jvmthread.IntervalRef // if Seq is NoSeq, the interval has no span: use the thread's
}

// add adds a duration; a negative one is added as zero.
func (h *Histogram) add(d time.Duration, cfg *Config) {
	d = max(d, 0)
	if h.Count == 0 || d < h.Min {
		h.Min = d
	}
	h.Max = max(h.Max, d)
	plus(&h.Sum, d)
	h.count(d, 1, cfg)
}

// count adds n durations of about d to the buckets.
func (h *Histogram) count(d time.Duration, n uint64, cfg *Config) {
	n = min(n, math.MaxInt64-h.Count)
	h.Count += n
	if cfg.Buckets == nil {
		h.Scaled.add(d, n, cfg.MaxSize)
		return
	}
	if h.Buckets == nil {
		h.Buckets = make([]uint64, len(cfg.Buckets)+1)
	}
	i, _ := slices.BinarySearch(cfg.Buckets, d)
	h.Buckets[i] += n
}

// wants reports whether a duration would become an exemplar. A histogram keeps the longest durations, one for each power of two, so that an
// explicit bucket has few.
func (h *Histogram) wants(d time.Duration, limit int) bool {
	if h.reported {
		return true
	}
	wants := len(h.Exemplars) < limit
	for i := range h.Exemplars {
		x := h.Exemplars[i].Duration
		if magnitude(x) == magnitude(d) {
			return d > x
		}
		wants = wants || d > x
	}
	return wants
}

// keep adds an exemplar that the histogram wants.
func (h *Histogram) keep(e Exemplar, limit int) {
	if h.reported {
		h.Exemplars, h.reported = h.Exemplars[:0], false
	}
	place := -1
	for i := range h.Exemplars {
		switch x := &h.Exemplars[i]; {
		case magnitude(x.Duration) == magnitude(e.Duration):
			if e.Duration > x.Duration {
				*x = e
			}
			return
		case place < 0 || x.Duration < h.Exemplars[place].Duration:
			place = i
		}
	}
	switch {
	case len(h.Exemplars) < limit:
		h.Exemplars = append(h.Exemplars, e)
	case place >= 0 && e.Duration > h.Exemplars[place].Duration:
		h.Exemplars[place] = e
	}
}

func magnitude(d time.Duration) int { return bits.Len64(uint64(max(d, 0))) }

// reset clears the histogram and keeps its memory.
func (h *Histogram) reset() {
	clear(h.Buckets)
	h.Scaled.reset()
	*h = Histogram{Buckets: h.Buckets, Scaled: h.Scaled, Exemplars: h.Exemplars[:0]}
}
