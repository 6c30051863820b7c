// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Packed integers are read alike with and without memory after them.
func TestUnpack(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		b := binary.LittleEndian.AppendUint64(nil, rng.Uint64()|rng.Uint64()<<rng.IntN(64))
		b = append(b, byte(rng.Uint32()), 0xff, 0xff)
		n := 1 + rng.IntN(9)
		want, wantLength := unpackShort(b[:n:n])
		got, length := unpack(b[:n])
		assert.Equal(t, want, got)
		assert.Equal(t, wantLength, length)
		assert.Equal(t, wantLength, packedLength(b[:n]))
	}
	for bits := range 65 {
		want := int64(uint64(1)<<bits - 1)
		b := (&builder{packed: true}).long(want).out
		got, length := unpack(append(b, 1, 2, 3, 4, 5, 6, 7, 8, 9))
		assert.Equal(t, want, got)
		assert.Equal(t, len(b), length)
	}
}
