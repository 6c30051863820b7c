// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp

import (
	"slices"
	"strings"
)

// Traces say of a thread the parent of its group, a collation value and the trace that it belongs to. Weft keeps them for other traces.

// addForeign adds an attribute to those of a thread. Line breaks in the value become spaces.
func addForeign(list, key, value string) string {
	if list != "" {
		list += "\n"
	}
	return list + key + "=" + strings.NewReplacer("\n", " ", "\r", " ").Replace(value)
}

// appendForeign appends those attributes of a thread that an element has.
func appendForeign(dst []byte, list string, wanted ...string) []byte {
	if list == "" {
		return dst
	}
	for line := range strings.SplitSeq(list, "\n") {
		if key, value, ok := strings.Cut(line, "="); ok && slices.Contains(wanted, key) {
			dst = append(append(append(dst, ' '), key...), "=\""...)
			dst = append(appendEscaped(dst, value, true), '"')
			wanted = slices.DeleteFunc(wanted, func(w string) bool { return w == key }) // once
		}
	}
	return dst
}
