// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"bytes"
	"strconv"
	"time"
)

// Duration returns a duration with three digits and a readable unit, as the page does: 1.38 ms, 96.3 s, 12 min 5 s.
func Duration(d time.Duration) string { return string(AppendDuration(nil, d)) }

// AppendDuration appends the result of Duration to b.
func AppendDuration(b []byte, d time.Duration) []byte {
	switch {
	case d == 0:
		return append(b, '0')
	case d < 0:
		return AppendDuration(append(b, "−"...), -d)
	case d >= 10*time.Minute:
		seconds := int64((d + time.Second/2) / time.Second)
		if minutes := seconds / 60; minutes >= 60 {
			b = append(strconv.AppendInt(b, minutes/60, 10), " h "...)
			return append(strconv.AppendInt(b, minutes%60, 10), " min"...)
		}
		b = append(strconv.AppendInt(b, seconds/60, 10), " min "...)
		return append(strconv.AppendInt(b, seconds%60, 10), " s"...)
	}
	for _, unit := range [...]struct {
		size time.Duration
		name string
	}{{time.Second, " s"}, {time.Millisecond, " ms"}, {time.Microsecond, " µs"}} {
		if float64(d) >= float64(unit.size)*0.9995 { // 999.6 ms would be 1000 ms rather than 1 s
			return append(appendThreeDigits(b, float64(d)/float64(unit.size)), unit.name...)
		}
	}
	return append(strconv.AppendInt(b, int64(d), 10), " ns"...)
}

func appendThreeDigits(b []byte, v float64) []byte {
	decimals := 2
	switch {
	case v >= 99.95:
		return strconv.AppendFloat(b, v, 'f', 0, 64)
	case v >= 9.995:
		decimals = 1
	}
	return bytes.TrimRight(bytes.TrimRight(strconv.AppendFloat(b, v, 'f', decimals, 64), "0"), ".")
}
