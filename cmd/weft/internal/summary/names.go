// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"strings"

	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/wording"
)

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
