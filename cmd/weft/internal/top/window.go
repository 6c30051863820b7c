// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"math"
	"time"

	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/wording"
)

// All is a window of all that the page knows.
const All time.Duration = math.MaxInt64

// defaultWindow is long enough to see a pattern, and short enough to see a change.
const defaultWindow = 10 * time.Second

// windows are those that keys choose.
var windows = [...]time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, All,
}

// longer returns the next longer window.
func longer(than time.Duration) time.Duration {
	for _, w := range windows {
		if w > than {
			return w
		}
	}
	return than
}

// shorter returns the next shorter window.
func shorter(than time.Duration) time.Duration {
	for i := len(windows) - 1; i >= 0; i-- {
		if windows[i] < than {
			return windows[i]
		}
	}
	return than
}

func windowName(window time.Duration) string {
	switch {
	case window >= All:
		return "all"
	case window >= time.Hour && window%time.Hour == 0:
		return wording.Grouped(int64(window/time.Hour)) + " h"
	case window >= time.Minute && window%time.Minute == 0:
		return wording.Grouped(int64(window/time.Minute)) + " min"
	case window >= time.Second && window%time.Second == 0:
		return wording.Grouped(int64(window/time.Second)) + " s"
	}
	return units.Human(window)
}
