// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import "strings"

const maxFrames = 8 // of a stack

// stack writes frames of a stack, the innermost first, from the given one on: those before are part of a wait itself.
func stack(a *answer, frames []string, from int) {
	frames = frames[min(max(from, 0), len(frames)):]
	if i, found := first(frames); found {
		frames = frames[i:]
	}
	shown := 0
	for _, frame := range frames {
		if strings.HasPrefix(frame, "- ") { // the name of a lock, which the answer has already
			continue
		}
		if shown++; shown > maxFrames {
			break
		}
		a.line("    at %s", sentence(frame))
	}
}

// first returns the index of the first frame that is not of the JDK: how the JDK waits says nothing about the program.
func first(frames []string) (index int, found bool) {
	for i, frame := range frames {
		if !strings.HasPrefix(frame, "java.") && !strings.HasPrefix(frame, "jdk.") && !strings.HasPrefix(frame, "sun.") && !strings.HasPrefix(frame, "- ") {
			return i, true
		}
	}
	return 0, false
}
