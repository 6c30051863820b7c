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

// Without their definitions, events lack names, and one problem says how many do.
func TestUndefinedIDsAreReported(t *testing.T) {
	data, err := wiretext.AppendStream(nil, strings.NewReplacer("class id=7", "class id=8", "stack id=2", "stack id=3").Replace(stream))
	require.NoError(t, err)
	s := read(t, bytes.NewReader(data))
	want := strings.ReplaceAll(wantStream, "com.acme.OrderBook/", "/")
	before, after, _ := strings.Cut(want, `"at com.acme`)
	_, after, _ = strings.Cut(after, `" 0`)
	assert.Equal(t, before+`"" 0`+after, strings.ReplaceAll(s.text.String(), " Carrier:false Foreign:", ""))
	assert.Equal(t, []string{"x.weft (byte 8): 3 events of the session refer to a class or stack without a definition; their names are missing"}, s.problems)
}

// A gap of an impossible size costs its batch, whose position is reported.
func TestImpossibleGapsAreReported(t *testing.T) {
	for _, lost := range []string{"-1", "1099511627777"} {
		data, err := wiretext.AppendStream(nil, strings.Replace(stream, "event notify time=700 lock=7/1a", "event gap time=700 arg="+lost, 1))
		require.NoError(t, err)
		s := read(t, bytes.NewReader(data))
		assert.Equal(t, []string{"x.weft (byte 263): batch: a gap of " + lost + " events, want 0 to 1099511627776; skipping the frame"}, s.problems)
		assert.Contains(t, s.text.String(), "1000540 2 contendedEntered", "the batch after it")
	}
}
