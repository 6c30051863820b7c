// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package waits

import (
	"strconv"
	"strings"
)

const (
	briefEnough = 8  // frames: a stack of so many stays as it is
	briefMost   = 12 // frames that remain of a deeper one
)

// Brief returns the text of a stack for places where a complete one is too large: the frames of the application, each frame that calls them or
// that they call, and a line "... 19 frames" for each group of the others. Without a frame of the application, it is the frame that waits, see
// Site, with its neighbors.
func (r *Rules) Brief(text string) string {
	s := r.parse(text)
	if len(s.frames) <= briefEnough {
		return text
	}
	keep := r.essential(&s, text)
	var b strings.Builder
	line, elided := 0, 0
	flush := func() {
		if elided > 0 {
			b.WriteString("... " + strconv.Itoa(elided) + " frames\n")
			elided = 0
		}
	}
	frame, shown := 0, true
	for l := range strings.Lines(text) {
		if frame < len(s.lines) && s.lines[frame] == line { // otherwise it belongs to the frame before
			if shown = keep[frame]; !shown {
				elided++
			}
			frame++
		} else if frame == len(s.lines) && strings.HasPrefix(l, "...") {
			shown = true // the stack was deeper
		}
		if shown {
			flush()
			b.WriteString(l)
		}
		line++
	}
	if elided > 0 {
		flush()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// essential marks the frames that Brief keeps. A single frame between two kept ones is kept too.
func (r *Rules) essential(s *stack, text string) (keep []bool) {
	keep = make([]bool, len(s.frames))
	kept := 0
	add := func(i int) {
		if i >= 0 && i < len(keep) && !keep[i] && kept < briefMost {
			keep[i] = true
			kept++
		}
	}
	around := func(i int) {
		add(i - 1)
		add(i)
		add(i + 1)
	}
	if s.from == fromApplication {
		for i := range s.frames {
			if r.origin(s.function(i)) == fromApplication {
				around(i)
			}
		}
	} else {
		site := r.Site(text)
		for i, line := range s.lines {
			if line == site.Frame {
				around(i)
			}
		}
	}
	for i := range keep {
		if !keep[i] && (i == 0 || keep[i-1]) && (i == len(keep)-1 || keep[i+1]) {
			keep[i] = true
		}
	}
	return keep
}
