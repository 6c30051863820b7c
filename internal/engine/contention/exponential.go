// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"math"
	"time"
)

// maxScale is the initial scale of an exponential histogram. It is too fine for even one order of magnitude, and decreases until the
// buckets fit.
const maxScale = 20

// Exponential contains the buckets of a base-2 exponential histogram in OpenTelemetry's data model, in seconds: bucket i counts the values
// in (base^i, base^(i+1)], where base is 2^(2^-Scale).
type Exponential struct {
	Scale  int32
	Offset int32    // index of the first bucket
	Counts []uint64 // at most MaxSize; the first and the last are not zero
	Zero   uint64
}

// add counts n durations of length d.
func (x *Exponential) add(d time.Duration, n uint64, maxSize int) {
	if d == 0 {
		x.Zero += n
		return
	}
	v := float64(d) / 1e9
	if len(x.Counts) == 0 {
		x.Scale = maxScale
		x.Offset = bucket(v, x.Scale)
		x.Counts = append(x.Counts[:0], n)
		return
	}
	i := bucket(v, x.Scale)
	low, high := min(i, x.Offset), max(i, x.Offset+int32(len(x.Counts))-1)
	shift := int32(0)
	for high-low >= int32(maxSize) {
		low, high = low>>1, high>>1
		shift++
	}
	x.coarsen(shift)
	i >>= shift
	x.stretch(low, high)
	x.Counts[i-x.Offset] += n
}

// coarsen merges every 2^shift buckets into one.
func (x *Exponential) coarsen(shift int32) {
	if shift == 0 {
		return
	}
	first := x.Offset >> shift
	n := 0
	for i, c := range x.Counts {
		at := int((x.Offset+int32(i))>>shift - first)
		if at == n {
			x.Counts[at] = c
			n++
		} else {
			x.Counts[at] += c
		}
	}
	x.Counts, x.Offset, x.Scale = x.Counts[:n], first, x.Scale-shift
}

// stretch adds empty buckets to cover low to high.
func (x *Exponential) stretch(low, high int32) {
	for x.Offset+int32(len(x.Counts))-1 < high {
		x.Counts = append(x.Counts, 0)
	}
	if n := int(x.Offset - low); n > 0 {
		old := len(x.Counts)
		x.Counts = append(x.Counts, make([]uint64, n)...)
		copy(x.Counts[n:], x.Counts[:old])
		clear(x.Counts[:n])
		x.Offset = low
	}
}

func (x *Exponential) reset() { *x = Exponential{Counts: x.Counts[:0]} }

// bucket returns the index of the bucket of a positive value. It handles powers of two by their bits, because rounding of the logarithm
// could be off by one.
func bucket(v float64, scale int32) int32 {
	fraction, exponent := math.Frexp(v) // 0.5 <= fraction < 1
	if scale <= 0 {
		exponent--
		if fraction == 0.5 {
			exponent-- // buckets include their upper bound
		}
		return int32(exponent) >> -scale
	}
	if fraction == 0.5 {
		return int32(exponent-1)<<scale - 1
	}
	return int32(math.Ceil(math.Ldexp(math.Log2(fraction)+float64(exponent), int(scale)))) - 1
}
