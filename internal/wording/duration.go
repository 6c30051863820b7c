// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"strconv"
	"strings"
	"time"
)

// Duration returns a duration with three digits and a readable unit, as the page does: 1.38 ms, 12.4 s, 3 min 5 s.
func Duration(d time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case d < 0:
		return "−" + Duration(-d)
	case d >= time.Minute:
		seconds := int64((d + time.Second/2) / time.Second)
		if minutes := seconds / 60; minutes >= 60 {
			return strconv.FormatInt(minutes/60, 10) + " h " + strconv.FormatInt(minutes%60, 10) + " min"
		}
		return strconv.FormatInt(seconds/60, 10) + " min " + strconv.FormatInt(seconds%60, 10) + " s"
	}
	for _, unit := range [...]struct {
		size time.Duration
		name string
	}{{time.Second, " s"}, {time.Millisecond, " ms"}, {time.Microsecond, " µs"}} {
		if float64(d) >= float64(unit.size)*0.9995 { // 999.6 ms would be 1000 ms rather than 1 s
			return threeDigits(float64(d)/float64(unit.size)) + unit.name
		}
	}
	return strconv.FormatInt(int64(d), 10) + " ns"
}

func threeDigits(v float64) string {
	decimals := 2
	switch {
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		decimals = 1
	}
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', decimals, 64), "0"), ".")
}
