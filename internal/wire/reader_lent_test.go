// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package wire

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// The race detector makes a sync.Pool forget a part of what it gets.
func TestLentBuffersDoNotAllocate(t *testing.T) {
	stream := sampleBatch(10, 1000)
	src := bytes.NewReader(stream)
	r := NewReader(src, MaxFrame)
	r.SetSource(&meter{limit: 1 << 20})
	var events []jvmthread.Event
	assert.Less(t, testing.AllocsPerRun(100, func() {
		src.Reset(stream)
		events = readAll(t, r, events)
	}), 1.)
}
