// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/recording"
)

// at is a decoder that has read some bytes.
type at struct {
	recording.Decoder
	bytes int64
}

func (d at) Stats() recording.Stats { return recording.Stats{Bytes: d.bytes} }

func TestContainedPanicHasThePosition(t *testing.T) {
	failure.ContainIn(t)
	err := recording.Contain("x.weft", at{bytes: 42}, func() error { panic("bug") })
	assert.Regexp(t, `^x.weft \(byte 42\): a defect in Weft; please report it with the file: panic: bug \(defect_test.go:\d+\)$`, err.Error())
	require.ErrorAs(t, err, new(*failure.Panic))
	ordinary := errors.New("damage")
	assert.Equal(t, ordinary, recording.Contain("x.weft", at{}, func() error { return ordinary }))
}
