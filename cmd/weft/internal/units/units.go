// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package units answers: how does weft write a duration or a number?
package units

import (
	"fmt"
	"strconv"
	"time"
)

// Human formats a duration with three digits and a suitable unit.
func Human(d time.Duration) string {
	value, unit := split(d)
	return value + " " + unit
}

// Column is Human for a column of width nine, with aligned units.
func Column(d time.Duration) string {
	if d == 0 {
		return fmt.Sprintf("%9s", "-")
	}
	value, unit := split(d)
	return fmt.Sprintf("%5s %-3s", value, unit)
}

func split(d time.Duration) (value, unit string) {
	scales := [...]struct {
		unit string
		size time.Duration
		upto time.Duration // in this unit
	}{
		{"ns", time.Nanosecond, time.Microsecond},
		{"µs", time.Microsecond, time.Millisecond},
		{"ms", time.Millisecond, time.Second},
		{"s", time.Second, 10 * time.Minute},
		{"min", time.Minute, 3 * time.Hour},
		{"h", time.Hour, 0},
	}
	for _, scale := range scales {
		if scale.upto != 0 && d >= scale.upto {
			continue
		}
		if scale.size == time.Nanosecond {
			return strconv.FormatInt(int64(d), 10), scale.unit
		}
		value = digits(float64(d) / float64(scale.size))
		if value == "1000" && scale.size < time.Second { // 999.7 ms rounds to the next unit's 1
			continue
		}
		return value, scale.unit
	}
	return "", "" // not reached: the last scale has no limit
}

// digits formats three significant digits, and all digits before the decimal point.
func digits(v float64) string {
	switch {
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}
