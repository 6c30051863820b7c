// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"math"
	"math/bits"
	"strconv"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// ParseTime parses the decimal number of units at the start of text. It returns the time rounded to the nearest nanosecond and the length of
// the number, 0 if there is none or it overflows. Unit is 1ns to 1s. Up to nine decimals of a second are exact.
func ParseTime(text []byte, unit time.Duration) (t jvmthread.Time, n int) {
	i, negative := 0, false
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		negative = text[i] == '-'
		i++
	}
	start := i
	var whole, part uint64
	for ; i < len(text) && text[i]-'0' <= 9; i++ {
		if whole > math.MaxInt64/10-1 {
			return 0, 0
		}
		whole = whole*10 + uint64(text[i]-'0')
	}
	digits, decimals := i-start, 0
	if i < len(text) && text[i] == '.' {
		i++
		dot := i
		for ; i < len(text) && text[i]-'0' <= 9; i++ {
			if decimals < maxDecimals {
				part = part*10 + uint64(text[i]-'0')
				decimals++
			}
		}
		digits += i - dot
	}
	if digits == 0 {
		return 0, 0
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		return parseFloat(text, unit)
	}
	u := uint64(unit)
	if whole > math.MaxInt64/u-1 {
		return 0, 0
	}
	t = jvmthread.Time(whole*u + scale(part, u, decimals))
	if negative {
		t = -t
	}
	return t, i
}

// maxDecimals is the number of decimals that count: further ones are below a billionth of a nanosecond.
const maxDecimals = 18

// powers are the powers of ten.
var powers = func() (list [maxDecimals + 1]uint64) {
	list[0] = 1
	for i := range maxDecimals {
		list[i+1] = list[i] * 10
	}
	return list
}()

// scale returns part · unit / 10^decimals, rounded to nearest.
func scale(part, unit uint64, decimals int) uint64 {
	by := powers[decimals]
	switch {
	case by == unit: // common: all digits down to the nanosecond
		return part
	case decimals <= 9:
		return (part*unit + by/2) / by
	}
	hi, lo := bits.Mul64(part, unit)
	lo, carry := bits.Add64(lo, by/2, 0)
	q, _ := bits.Div64(hi+carry, lo, by)
	return q
}

// parseFloat parses a number with an exponent, as some libraries print large numbers.
func parseFloat(text []byte, unit time.Duration) (t jvmthread.Time, n int) {
	for n < len(text) && (text[n]-'0' <= 9 || text[n] == '.' || text[n] == '-' || text[n] == '+' || text[n]|0x20 == 'e') {
		n++
	}
	f, err := strconv.ParseFloat(string(text[:n]), 64)
	f = math.Round(f * float64(unit))
	if err != nil || f < math.MinInt64 || f >= math.MaxInt64 {
		return 0, 0
	}
	return jvmthread.Time(f), n
}

// AppendTime appends a time in units, which are powers of ten, with decimals down to the nanosecond.
func AppendTime(dst []byte, t jvmthread.Time, unit time.Duration) []byte {
	u := uint64(unit)
	abs := uint64(t)
	if t < 0 {
		dst = append(dst, '-')
		abs = -abs
	}
	dst = strconv.AppendUint(dst, abs/u, 10)
	if u == 1 {
		return dst
	}
	dst = append(dst, '.')
	for rest := abs % u; u > 1; {
		u /= 10
		dst = append(dst, '0'+byte(rest/u%10))
	}
	return dst
}

// ParseHex parses the hexadecimal number at the start of text, of either case, with or without 0x. It returns its length, 0 if there is none
// or it has more than 64 bits.
func ParseHex(text []byte) (v uint64, n int) {
	if len(text) > 2 && text[0] == '0' && text[1]|0x20 == 'x' {
		n = 2
	}
	start := n
	for ; n < len(text); n++ {
		d := hexDigits[text[n]]
		if d == notHex {
			break
		}
		if v>>60 != 0 {
			return 0, 0
		}
		v = v<<4 | uint64(d)
	}
	if n == start {
		return 0, 0
	}
	return v, n
}

const notHex = 0xFF

var hexDigits = func() (table [256]byte) {
	for c := range table {
		table[c] = notHex
	}
	for d := range byte(16) {
		table["0123456789ABCDEF"[d]] = d
		table["0123456789abcdef"[d]] = d
	}
	return table
}()

// AppendHex appends upper-case hexadecimal digits with leading zeros.
func AppendHex(dst []byte, v uint64, digits int) []byte {
	for d := digits - 1; d >= 0; d-- {
		dst = append(dst, "0123456789ABCDEF"[v>>(4*d)&15])
	}
	return dst
}
