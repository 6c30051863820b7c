// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// However many sessions process windows concurrently, the memory for paths stays within the limit, and all sessions get their turn.
func TestMemoryForPathsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, sessions = 2, 10
		l := newLender(limit, window.NewScratch)
		borrowed, finished := make(chan *window.Scratch, sessions), make(chan struct{}, sessions)
		for range sessions {
			go func() {
				borrowed <- l.Borrow()
				l.Return(<-borrowed) // its own or another one: each is returned once
				finished <- struct{}{}
			}()
		}
		synctest.Wait()
		assert.Len(t, finished, sessions)

		first, second := l.Borrow(), l.Borrow()
		assert.NotSame(t, first, second)
		var third *window.Scratch
		go func() { third = l.Borrow() }()
		synctest.Wait()
		assert.Nil(t, third, "the limit is reached")
		l.Return(first)
		synctest.Wait()
		assert.NotNil(t, third)
		l.Return(second)
		l.Return(third)
	})
}

// Memory is used again, not left to the garbage collector. What was not needed for a while, such as the memory of a peak, is freed.
func TestMemoryForPathsIsKeptWhileItIsNeeded(t *testing.T) {
	l := newLender(2, window.NewScratch)
	finder := window.NewFinder()
	finder.Memory = l
	find := func(intervals int) {
		w := &window.Window{Start: 0, End: jvmthread.Time(intervals), Lanes: []*window.Lane{{Thread: 1}}}
		for i := range intervals {
			at := jvmthread.Time(i)
			w.Lanes[0].Intervals.Append(&jvmthread.Interval{Thread: 1, Seq: jvmthread.Seq(i + 1), Start: at, End: at + 1, State: jvmthread.StateRunnable})
		}
		finder.Find(w)
		w.Release()
	}
	now := time.Unix(1000, 0)
	free := func(after time.Duration) int {
		now = now.Add(after)
		l.trim(now)
		return len(l.free)
	}
	find(100_000)
	assert.Equal(t, 1, free(0))
	large := l.free[0]
	find(30_000)
	assert.Same(t, large, l.free[0])
	assert.Equal(t, 1, free(trimEvery), "the last window needed a quarter of it")
	find(10_000)
	assert.Equal(t, 1, free(trimEvery-1), "it is too early")
	assert.Equal(t, 0, free(1))
	find(100)
	assert.Equal(t, 1, free(trimEvery), "little memory is kept")
	assert.Equal(t, 1, free(trimEvery))
	l.clear()
	assert.Equal(t, 0, free(0))
}
