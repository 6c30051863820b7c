// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/wording"
)

// human formats a duration with three digits and a suitable unit.
func human(d time.Duration) string {
	value, unit := split(d)
	return value + " " + unit
}

// column is human for a column of width nine, with aligned units.
func column(d time.Duration) string {
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

// grouped formats an integer with a comma between groups of three digits.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}

func plural(n int64, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "s"):
		return grouped(n) + " " + what + "es"
	default:
		return grouped(n) + " " + what + "s"
	}
}

// clip makes a text printable, and shortens it to a width by omitting its middle, because thread names differ at both ends.
func clip(text string, width int) string {
	text = printable.Text(text)
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	head := (width - 1) / 2
	tail := width - 1 - head
	return string(runes[:head]) + "…" + string(runes[len(runes)-tail:])
}

// shortClass shortens the name of a class: first its packages to their initials, one by one, then like clip.
func shortClass(class string, width int) string {
	if strings.HasPrefix(class, "java.lang.Class<") && len(class) > width {
		class = wording.SimpleClass(class)
	}
	return shortName(wording.ArrayName(class), 1, width)
}

// shortFunction shortens the name of a class and a method likewise.
func shortFunction(function string, width int) string { return shortName(function, 2, width) }

// shortName shortens a name by its first parts, except for the last ones, and then like clip.
func shortName(name string, last, width int) string {
	parts := strings.Split(name, ".")
	for i := 0; i < len(parts)-last && len([]rune(strings.Join(parts, "."))) > width; i++ {
		if runes := []rune(parts[i]); len(runes) > 1 {
			parts[i] = string(runes[:1])
		}
	}
	return clip(strings.Join(parts, "."), width)
}

// lockClass is shortClass for a class that may be unknown, as in ORCA logs.
func lockClass(class string, width int) string {
	if class == "" {
		return "(class unknown)"
	}
	if strings.HasPrefix(class, "java.util.concurrent.") { // which readers know without its package
		return clip(wording.SimpleClass(class), width)
	}
	return shortClass(class, width)
}
