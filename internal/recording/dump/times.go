// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// findTime returns the first time in a text: "2026-11-29 20:59:37", "2026-11-29T20:59:37.123Z", "2026/11/29 20:59:37". A time without a zone is read
// as UTC. NoTime: there is none.
func findTime(text string) jvmthread.Time {
	const least = len("2026-11-29 20:59:37")
	for i := 0; i+least <= len(text); i++ {
		if text[i] < '1' || text[i] > '2' || i > 0 && isDigit(text[i-1]) {
			continue
		}
		if t, ok := parseTime(text[i:]); ok {
			return t
		}
	}
	return jvmthread.NoTime
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// parseTime parses the time at the start of a text, which is long enough.
func parseTime(text string) (jvmthread.Time, bool) {
	const digits = "0000-00-00 00:00:00"
	for i := range len(digits) {
		c := text[i]
		switch {
		case digits[i] == '0':
			if !isDigit(c) {
				return 0, false
			}
		case digits[i] == '-' && c != '-' && c != '/', digits[i] == ' ' && c != ' ' && c != 'T', digits[i] == ':' && c != ':':
			return 0, false
		}
	}
	n := func(from, to int) (v int) {
		for _, c := range text[from:to] {
			v = 10*v + int(c-'0')
		}
		return v
	}
	year, month, day := n(0, 4), n(5, 7), n(8, 10)
	if year < 1995 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, false
	}
	nanos, rest := fraction(text[len(digits):])
	t := time.Date(year, time.Month(month), day, n(11, 13), n(14, 16), n(17, 19), nanos, time.UTC)
	return jvmthread.Time(t.UnixNano()) - offset(rest), true
}

// fraction cuts off the fraction of a second: ".123", ",123456".
func fraction(text string) (nanos int, rest string) {
	if len(text) < 2 || text[0] != '.' && text[0] != ',' {
		return 0, text
	}
	i, scale := 1, 100_000_000
	for ; i < len(text) && isDigit(text[i]); i++ {
		nanos += scale * int(text[i]-'0')
		scale /= 10
	}
	return nanos, text[i:]
}

// offset parses an offset from UTC: "+01:00", "-0530".
func offset(text string) jvmthread.Time {
	if len(text) < 5 || text[0] != '+' && text[0] != '-' {
		return 0
	}
	digits := strings.Replace(text[1:min(len(text), 6)], ":", "", 1)
	if len(digits) < 4 {
		return 0
	}
	for i := range 4 {
		if !isDigit(digits[i]) {
			return 0
		}
	}
	hours, minutes := int(digits[0]-'0')*10+int(digits[1]-'0'), int(digits[2]-'0')*10+int(digits[3]-'0')
	at := jvmthread.Time(time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute)
	if text[0] == '-' {
		return -at
	}
	return at
}
