// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"fmt"
	"strings"

	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// isDumped reports whether thread dumps are all that is known of a session.
func isDumped(s *viewapi.Session) bool { return s.Attributes[threadpdata.AttrDumps] != "" }

// writeDumps writes what dumps show: counts of threads. Times between dumps are not known.
func (s *Session) writeDumps(b *strings.Builder, top int) {
	d := &s.Session
	times := threadpdata.DumpTimes(d.Attributes[threadpdata.AttrDumps])
	fmt.Fprintf(b, "%s: %s", printable.Text(d.Service), wording.Plural(len(times), "thread dump"))
	if n := len(times); n > 1 && threadpdata.DumpsHaveTimes(times) {
		fmt.Fprintf(b, " over %s", wording.Duration(times[n-1].Sub(times[0])))
	}
	fmt.Fprintf(b, ", %s\n", wording.Plural(d.Threads, "thread"))
	s.writeDeadlocks(b)
	if len(s.Answer.Costs) > 0 {
		fmt.Fprintf(b, "\n%-60s %-6s %8s\n", "LOCKS WAITED FOR", "kind", "threads")
	}
	for i := range s.Answer.Costs[:min(top, len(s.Answer.Costs))] {
		c := &s.Answer.Costs[i]
		fmt.Fprintf(b, "%-60s %-6s %8s\n", lockName(c, 60), printable.Text(c.Kind), wording.Grouped(c.Threads))
	}
	writeRest(b, s.Answer.Total, top, "", "lock")
	rows := s.kinds()
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n%-*s %8s  %s\n", waitWidth, "WAITS BY KIND", "threads", "most in")
	}
	for i := range rows {
		k, site := &rows[i], viewapi.Site{}
		if k.Site != nil {
			site = *k.Site
		}
		fmt.Fprintf(b, "%-*s %8s  %s\n", waitWidth, wording.Kind(k.Wait), wording.Grouped(k.Threads), siteText(site.Function, site.Entry, 60))
	}
}
