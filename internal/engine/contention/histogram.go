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
	Buckets   []uint64    // with explicit bounds: one more than there are bounds; bucket i is of what is at most bound i
	Scaled    Exponential // without
	Exemplars []Exemplar  // of the last interval between two flushes that had any
	told      bool        // the exemplars were told already
}

// Exemplar is one of the durations of a histogram, and where its span is.
type Exemplar struct {
	Duration time.Duration
	At       jvmthread.Time        // when it ended
	Window   jvmthread.Time        // start of the window whose trace has the span
	Ref      jvmthread.IntervalRef // Seq is NoSeq: the thread's span, since the interval has none of its own
}

// add takes a duration; what is less than nothing counts as nothing.
func (h *Histogram) add(d time.Duration, cfg *Config) {
	d = max(d, 0)
	if h.Count == 0 || d < h.Min {
		h.Min = d
	}
	h.Max = max(h.Max, d)
	plus(&h.Sum, d)
	h.count(d, 1, cfg)
}

// count counts n durations of about the given length.
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

// wants reports whether a duration would become an exemplar: the longest do, each of another order of magnitude, so that an explicit
// bucket has at most a few.
func (h *Histogram) wants(d time.Duration, limit int) bool {
	if h.told {
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

// keep makes an exemplar of a duration that the histogram wants.
func (h *Histogram) keep(e Exemplar, limit int) {
	if h.told {
		h.Exemplars, h.told = h.Exemplars[:0], false
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

// reset forgets everything but the room for it.
func (h *Histogram) reset() {
	clear(h.Buckets)
	h.Scaled.reset()
	*h = Histogram{Buckets: h.Buckets, Scaled: h.Scaled, Exemplars: h.Exemplars[:0]}
}
