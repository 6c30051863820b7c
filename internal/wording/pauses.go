// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/viewapi"
)

// Parts of a time from which pauses of the JVM are worth a sentence, and from which they come first.
const (
	muchPaused   = 0.05
	mostlyPaused = 0.5
)

// Paused adds to a text of a range what its pauses cost, if that is much.
func Paused(text []viewapi.Part, p viewapi.Pauses, length int64) []viewapi.Part {
	share := float64(p.Time) / float64(max(length, 1))
	if share < muchPaused {
		return text
	}
	rest, quiet := strings.CutPrefix(Plain(text[:min(1, len(text))]), "Nothing to report")
	switch {
	case quiet:
		s := stopped(p, share).text(" Nothing else to report" + rest)
		return append(s.parts, text[1:]...)
	case share >= mostlyPaused && len(text) > 0:
		return append(stopped(p, share).text(" ").parts, text...)
	}
	s := sentence{slices.Clone(text)}
	if len(text) > 0 {
		s.text(" ")
	}
	for _, part := range stopped(p, share).parts {
		s.add(part.Role, part.Text)
	}
	return s.parts
}

func stopped(p viewapi.Pauses, share float64) *sentence {
	s := new(sentence).text("Garbage collection stopped the JVM for ").time(p.Time).text(", " + Percent(share) + " of the time (" + Plural(p.Count, "pause"))
	if p.Count > 1 {
		s.text(", the longest ").time(p.Longest)
	}
	return s.text(").")
}
