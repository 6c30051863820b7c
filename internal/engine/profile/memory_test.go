// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

type lending struct{ lent, times int }

func (l *lending) Borrow() *Scratch {
	l.lent++
	l.times++
	return NewScratch()
}
func (l *lending) Return(*Scratch) { l.lent-- }

// A panic must not keep the memory that all sessions share.
func TestAccountGivesMemoryBackAfterPanic(t *testing.T) {
	memory := new(lending)
	a := New(&Config{Holders: true, Memory: memory}, symbols.New(symbols.DefaultLimits()), nil)
	assert.Panics(t, func() { a.Window(&window.Window{Lanes: []*window.Lane{nil}}, nil) })
	assert.Panics(t, func() { a.Close(nil, 1) })
	assert.Equal(t, lending{lent: 0, times: 2}, *memory)
}
