// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package viewstore_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewstore"
	"github.com/weft-otel/weft/internal/window"
)

// Sessions that come and go at the same time, in a store that has no room for them, leave one by one: what is counted is what is there.
func TestManySessionsLeaveAtOnce(t *testing.T) {
	st := viewstore.New(0)
	sym := newSymbols()
	var all sync.WaitGroup
	for g := range byte(8) {
		all.Go(func() {
			for range 200 {
				for n := range byte(3) {
					s := st.Open(jvmthread.SessionID{0: 1, 1: n, 15: g}, nil)
					for i := range jvmthread.Time(3) {
						s.Append(&window.Window{Start: 10 * i, End: 10 * (i + 1), Cut: window.CutTime}, sym)
					}
					s.Close(window.CutEnd)
				}
			}
		})
	}
	all.Wait()
	assert.Empty(t, st.Sessions())
	assert.Zero(t, st.Stats().Bytes)
}
