// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca

import (
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// firstFree is above all ids of threads and hash codes of HotSpot, which have 31 bits.
const firstFree = 1 << 31

// hashes gives each thread a hash code of 32 bits: its id if that fits, otherwise one that no other thread has.
type hashes struct {
	known map[jvmthread.ThreadID]uint32 // ids from firstFree on
	taken map[uint32]struct{}           // the values of known
	next  uint32
}

func (h *hashes) of(th jvmthread.ThreadID) uint32 {
	if th < firstFree {
		return uint32(th)
	}
	hash, ok := h.known[th]
	if ok {
		return hash
	}
	if h.known == nil || len(h.known) >= recording.MaxThreads {
		h.known, h.taken = make(map[jvmthread.ThreadID]uint32), make(map[uint32]struct{})
	}
	hash = uint32(th)
	if _, taken := h.taken[hash]; taken || th>>32 != 0 {
		hash = h.free()
	}
	h.known[th], h.taken[hash] = hash, struct{}{}
	return hash
}

// free returns the next hash code that no thread has.
func (h *hashes) free() uint32 {
	for {
		hash := firstFree | h.next&(firstFree-1)
		h.next++
		if _, taken := h.taken[hash]; !taken {
			return hash
		}
	}
}
