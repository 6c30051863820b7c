// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"strings"
	"time"

	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/wording"
)

// sentence says what cost the most within the window, who held it, and who waited.
func (s *snapshot) sentence(window time.Duration) string {
	when := "Last " + windowName(window) + ": "
	if window >= All {
		when = ""
	}
	a := &s.answer
	switch {
	case !s.loaded:
		return "Loading …"
	case s.to <= s.from:
		return "No data of this JVM yet"
	}
	return clean(when + wording.Plain(a.Text))
}

// deadlock says who waits for whom forever; empty if none does.
func (s *snapshot) deadlock() string {
	all := s.deadlocks()
	if len(all) == 0 {
		return ""
	}
	text := "DEADLOCK: " + all[0].Text
	if more := len(all) - 1; more > 0 {
		text += " (and " + wording.Plural(more, "more deadlock") + ")"
	}
	if since := s.session.To - all[0].Since; since > 0 {
		text += ", for " + units.Human(time.Duration(since))
	}
	return clean(strings.TrimSpace(text))
}
