// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A snapshot keeps its locks although the session frees their numbers and reuses them for other locks.
func TestReusedLockNumbersDoNotReachSnapshots(t *testing.T) {
	s := &Session{locks: newLocks(), next: 1}
	lock := func(hash uint32) Lock { return Lock{Class: 1, Hash: hash} }
	for hash := range uint32(4) {
		s.locks.index(lock(hash+1), 1)
	}
	before := s.locks.share()
	want := slices.Clone(before)
	s.next = 9 // no block refers to any of them
	s.forget()
	between := s.locks.share()
	assert.Equal(t, make([]Lock, 5), between)
	id, _ := s.locks.index(lock(7), 9)
	assert.Equal(t, lock(7), s.locks.list[id])
	assert.Equal(t, want, before)
	assert.Equal(t, make([]Lock, 5), between)
}
