// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording_test

import (
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/wording"
)

func TestDurationsHaveThreeDigits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 7: "7 ns", 999: "999 ns", 1000: "1 µs", 1_380_000: "1.38 ms", 131_741_690: "132 ms", 999_600_000: "1 s", 12_440_000_000: "12.4 s",
		185_000_000_000: "185 s", 60_500_000_000: "60.5 s", 725_000_000_000: "12 min 5 s", 3_720_000_000_000: "1 h 2 min", -5: "−5 ns", 10_000_000: "10 ms", 1_500_000: "1.5 ms",
	} {
		if got := wording.Duration(d); got != want {
			t.Errorf("%d: got %q, want %q", d, got, want)
		}
	}
}
