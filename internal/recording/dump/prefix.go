// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import "strings"

// A log has text before each line: a time, a level, the name of a container.

// sameShape reports whether a text begins like a prefix: digits are alike.
func sameShape(text, prefix string) bool {
	if len(text) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		a, b := text[i], prefix[i]
		if a != b && (!isDigit(a) || !isDigit(b)) {
			return false
		}
	}
	return true
}

// marks begin what a dump says in a line of a log.
var marks = []string{"java.lang.Thread.State:", "\tat ", "   at ", "\t- ", "    - ", "Locked ownable synchronizers", "JNI global ref", "Found one Java-level deadlock"}

// openings begin the lines of a dump.
var openings = []string{
	"\"", "at ", "on ", "- ", "java.lang.Thread.State:", "Locked ", "JNI global", "Found ", "Carrying virtual thread", "Mounted virtual thread", "which is held by",
	"waiting to lock monitor", "waiting for ownable synchronizer", "Number of locked", "#",
}

func opens(text string) bool {
	for _, opening := range openings {
		if strings.HasPrefix(text, opening) {
			return true
		}
	}
	return false
}

// content returns what a line says without the prefix of the log.
func content(line, prefix string) string {
	text := strings.TrimSpace(line)
	if opens(text) {
		return text
	}
	if prefix != "" && sameShape(line, prefix) {
		return strings.TrimSpace(line[len(prefix):])
	}
	if quote := strings.IndexByte(line, '"'); quote > 0 {
		if _, ok := parseHeader(strings.TrimSpace(line[quote:])); ok {
			return strings.TrimSpace(line[quote:])
		}
	}
	for _, mark := range marks {
		if at := strings.Index(line, mark); at >= 0 {
			return strings.TrimSpace(line[at:])
		}
	}
	return text
}
