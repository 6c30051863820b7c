// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"strconv"
	"strings"
)

// Grouped formats an integer with a comma between groups of three digits.
func Grouped[N int | int64 | uint64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}

// Plural formats a number of things: "1 thread", "2 classes".
func Plural[N int | int64 | uint64](n N, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "s"):
		what += "e"
	}
	return Grouped(n) + " " + what + "s"
}
