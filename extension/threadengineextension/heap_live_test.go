// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package threadengineextension

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSizeOfTheHeapIsKnown(t *testing.T) {
	runtime.GC()
	assert.Positive(t, liveHeap())
	debug.FreeOSMemory()
	before := idleHeap()
	list := make([]byte, 32<<20)
	runtime.KeepAlive(list)
	runtime.GC()
	assert.Greater(t, idleHeap(), before)
}
