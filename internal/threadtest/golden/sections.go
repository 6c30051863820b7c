// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import "strings"

// Sections splits a golden file at its "-- name --" lines. The text before the first one is the drawing, under the empty name.
func Sections(text string) (names []string, bodies map[string]string) {
	bodies = make(map[string]string)
	name := ""
	names = append(names, name)
	for line := range strings.Lines(text) {
		if inner, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok && strings.HasSuffix(inner, " --") {
			name = strings.TrimSuffix(inner, " --")
			names = append(names, name)
			continue
		}
		bodies[name] += line
	}
	return names, bodies
}

// Join is the inverse of Sections.
func Join(names []string, bodies map[string]string) string {
	var b strings.Builder
	for _, n := range names {
		if n != "" {
			b.WriteString("-- " + n + " --\n")
		}
		b.WriteString(bodies[n])
	}
	return b.String()
}
