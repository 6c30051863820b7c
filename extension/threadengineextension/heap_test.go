// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadengineextension

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// The larger the heap, the smaller the part by which it may grow; at the end GOGC is as before.
func TestHeapGrowthFollowsTheHeap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var set []int
		sizes := []uint64{1 << 20, 10 << 20, 100 << 20, 101 << 20, 200 << 20, 10 << 30, 0}
		h := newHeapGrowth(25)
		h.live = func() (size uint64) {
			size, sizes = sizes[0], sizes[1:]
			return size
		}
		idle, released := []uint64{0, freeIdle + 1, freeIdle, 0, 1 << 40, 0}, 0
		h.idle = func() (size uint64) {
			size, idle = idle[0], idle[1:]
			return size
		}
		h.release = func() { released++ }
		h.set = func(percent int) int {
			set = append(set, percent)
			return 77
		}
		h.start()
		time.Sleep(6*adjustEvery + 1)
		synctest.Wait()
		h.end()
		assert.Equal(t, []int{100, 60, 30, 25, 100, 77}, set)
		assert.Equal(t, 2, released)
	})
}

// A user's GOGC is left alone.
func TestHeapGrowthLeavesGOGCAlone(t *testing.T) {
	assert.Nil(t, newHeapGrowth(0))
	t.Setenv("GOGC", "50")
	h := newHeapGrowth(25)
	assert.Nil(t, h)
	h.start()
	h.end()
}
