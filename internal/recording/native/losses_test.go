// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/threadtest/wiretext"
)

// A batch says how many events came before it, whatever it takes for true.
func TestImpossibleNumbersOfEvents(t *testing.T) {
	for before, want := range map[string]uint64{"8": 2, "1152921504606846976": 1<<60 - 6, "1152921504606846977": 0, "18446744073709551615": 0, "5": 0} {
		text := strings.Replace(stream, "before=8", "before="+before, 1)
		data, err := wiretext.AppendStream(nil, strings.Replace(text, "end time", "batch sequence=4 watermark=1650 before=4\nend time", 1))
		require.NoError(t, err)
		s := read(t, bytes.NewReader(data))
		assert.Equal(t, want, s.lost, before)
		if want == 0 && before != "5" {
			assert.Len(t, s.problems, 1)
			assert.Contains(t, s.problems[0], "batch: "+before+" events before it, want at most 1152921504606846976; ignoring the number")
		}
	}
}

// Events before the watermark are lost.
func TestLateEventsAreLost(t *testing.T) {
	data, err := wiretext.AppendStream(nil, strings.Replace(stream, "event contendedEntered time=940", "event contendedEntered time=840", 1))
	require.NoError(t, err)
	s := read(t, bytes.NewReader(data))
	require.Len(t, s.problems, 1)
	assert.Contains(t, s.problems[0], "1 events are earlier than the previous watermark")
	assert.EqualValues(t, 3, s.lost)
}
