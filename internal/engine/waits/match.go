// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package waits

import (
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// match returns the kind of the first matching rule, WaitNone if there is none, and the index of the frame that it matches, -1 if it
// matches the class.
func (s *stack) match(class string) (kind jvmthread.Wait, frame int) {
	for i := range rules {
		rule := &rules[i]
		if rule.class != "" && !strings.HasPrefix(class, rule.class) {
			continue
		}
		if rule.frame == "" {
			return rule.kind, -1
		}
		for f := range s.searched(rule) {
			if rule.matches(s.function(f)) {
				return rule.kind, f
			}
		}
	}
	return jvmthread.WaitNone, -1
}

// classSet says which classes of the rules match a class: what a kind depends on besides state and stack.
type classSet uint32

// classPrefixes are the classes of the rules.
var classPrefixes = func() (list []string) {
	for i := range rules {
		if class := rules[i].class; class != "" && !slices.Contains(list, class) {
			list = append(list, class)
		}
	}
	return list
}()

// matchingClasses never returns 0.
func matchingClasses(class string) classSet {
	set := classSet(1)
	for i, prefix := range classPrefixes {
		if strings.HasPrefix(class, prefix) {
			set |= 2 << i
		}
	}
	return set
}

// searched returns how many of the first frames a rule applies to.
func (s *stack) searched(r *rule) int {
	n := s.inside()
	if r.frame[0] == '*' && n < len(s.frames) { // the application's own futures
		n++
	}
	return n
}

// matches reports whether a rule's frame matches that of a stack.
func (r *rule) matches(function string) bool {
	if ending, ok := strings.CutPrefix(r.frame, "*"); ok {
		return strings.Contains(function, ending)
	}
	return strings.HasPrefix(function, r.frame)
}
