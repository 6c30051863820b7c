// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package units_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/wording"
)

func TestFormatUnits(t *testing.T) {
	for _, test := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0 ns"},
		{999, "999 ns"},
		{1000, "1.00 µs"},
		{9_994, "9.99 µs"},
		{9_996, "10.0 µs"},
		{99_960, "100 µs"},
		{999_700, "1.00 ms"},
		{151 * time.Millisecond, "151 ms"},
		{12_400 * time.Millisecond, "12.4 s"},
		{125 * time.Second, "125 s"},
		{11 * time.Minute, "11.0 min"},
		{5 * time.Hour, "5.00 h"},
	} {
		assert.Equal(t, test.want, units.Human(test.d))
		assert.LessOrEqual(t, len([]rune(units.Column(test.d))), 9)
	}
	assert.Equal(t, "-1,234,567", wording.Grouped(-1_234_567))
	assert.Equal(t, "1 thread, 2 classes", wording.Plural(1, "thread")+", "+wording.Plural(2, "class"))
}
