// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/engine/window"
)

// However many sessions process windows concurrently, the memory for paths stays within the limit, and all sessions get their turn.
func TestMemoryForPathsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, sessions = 2, 10
		l := newLender(limit)
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
