// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

const maxFlameFrames = 256 // of a stack

// flameStack is a stack with its sum, on its way into a tree.
type flameStack struct {
	tree  int
	when  int
	lock  int32
	stack store.StackID
	sum   viewapi.StateTime
	most  flameMost

	first  int32  // what the holder did; 0: nothing, or it is in the tree
	rest   string // the lines that are not in the tree
	frames int    // that are
	ended  bool
	at     int32 // node
}

// newFlameStack adds the text of a stack, from the method of the application that waits.
func newFlameStack(sn *store.Snapshot, id store.StackID, s flameStack) flameStack {
	s.stack = id
	if id == 0 {
		return s
	}
	s.rest = symbols.Text(sn.Stacks[id])
	for range sn.Site(id).Frame {
		if _, rest, more := strings.Cut(s.rest, "\n"); more {
			s.rest = rest
		}
	}
	return s
}

// next returns the name of the next node; false: there is none.
func (s *flameStack) next(names *texts) (name int32, ok bool) {
	if s.first != 0 {
		name, s.first = s.first, 0
		return name, true
	}
	if s.ended {
		return 0, false
	}
	for s.rest != "" {
		var line string
		line, s.rest, _ = strings.Cut(s.rest, "\n")
		function, isFrame := symbols.FunctionOf(line)
		switch {
		case line == symbols.Truncated || s.frames == maxFlameFrames:
			s.ended = true
			return viewapi.FlameTruncated, true
		case isFrame:
			s.frames++
			return names.of(function), true
		}
	}
	s.ended = true
	return viewapi.FlameNoStack, s.frames == 0
}
