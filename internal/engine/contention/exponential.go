// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"math"
	"time"
)

// maxScale is where an exponential histogram begins: the buckets of a single order of magnitude are then too many for any size, so it
// comes down to what fits.
const maxScale = 20

// Exponential is the buckets of a base-2 exponential histogram of OpenTelemetry's data model, over seconds: bucket i is of the values in
// (base^i, base^(i+1)], where base is 2^(2^-Scale).
type Exponential struct {
	Scale  int32
	Offset int32    // index of the first bucket
	Counts []uint64 // without empty ones at either end; at most as many as MaxSize
	Zero   uint64
}

// add counts n durations.
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

// coarsen joins each 2^shift buckets to one.
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

// stretch makes room for the buckets from low to high.
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

// bucket is the index of a positive value's bucket. Powers of two, where the logarithm must not be off by one, are told by their bits.
func bucket(v float64, scale int32) int32 {
	fraction, exponent := math.Frexp(v) // the fraction is from 0.5 up to 1
	if scale <= 0 {
		exponent--
		if fraction == 0.5 {
			exponent-- // the upper bound is part of a bucket, the lower one is not
		}
		return int32(exponent) >> -scale
	}
	if fraction == 0.5 {
		return int32(exponent-1)<<scale - 1
	}
	return int32(math.Ceil(math.Ldexp(math.Log2(fraction)+float64(exponent), int(scale)))) - 1
}
