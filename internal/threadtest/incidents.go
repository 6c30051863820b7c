// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"fmt"
	"time"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// ValidateIncident checks the rules that hold for every incident: what it consists of lies within it, its sums are at least those of what it
// lists, and equal to them if it lists all. It returns every violation.
func ValidateIncident(inc *incident.Incident) (errs []error) {
	fail := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("incident %d/%d: %s", inc.Start, inc.First, fmt.Sprintf(format, args...)))
	}
	if inc.End <= inc.Start || inc.Blocked < inc.End.Sub(inc.Start) && inc.Kind != incident.Deadlock && len(inc.Locks) == 1 {
		fail("from %d to %d, threads waited %v", inc.Start, inc.End, inc.Blocked)
	}
	var waited, atLocks time.Duration
	last := map[jvmthread.ThreadID][]*incident.Wait{}
	for i := range inc.Waits {
		wt := &inc.Waits[i]
		waited += wt.End.Sub(wt.Start)
		if wt.Start < inc.Start || wt.End > inc.End || wt.End <= wt.Start {
			fail("a wait from %d to %d exceeds it, which ends at %d", wt.Start, wt.End, inc.End)
		}
		if i > 0 && wt.End-wt.Start > inc.Waits[i-1].End-inc.Waits[i-1].Start {
			fail("a wait of %v follows a shorter one", wt.End.Sub(wt.Start))
		}
		for _, other := range last[wt.Interval.Thread] {
			if wt.Start < other.End && other.Start < wt.End {
				fail("thread %d waits twice at %d", wt.Interval.Thread, wt.Start)
			}
		}
		last[wt.Interval.Thread] = append(last[wt.Interval.Thread], wt)
	}
	if all := inc.Count <= incident.MaxWaits; waited > inc.Blocked || all && (waited != inc.Blocked || int(inc.Count) != len(inc.Waits)) {
		fail("lists %d waits with %v of %d with %v", len(inc.Waits), waited, inc.Count, inc.Blocked)
	}
	if len(inc.Waits) > incident.MaxWaits || len(inc.Holds) > incident.MaxHolds {
		fail("lists %d waits and %d holds", len(inc.Waits), len(inc.Holds))
	}
	if len(inc.Waits) > 0 && inc.Longest != inc.Waits[0].End.Sub(inc.Waits[0].Start) {
		fail("the longest wait is %v, the first one listed %v", inc.Longest, inc.Waits[0].End.Sub(inc.Waits[0].Start))
	}
	if inc.Threads < len(last) || uint64(inc.Threads) > inc.Count {
		fail("%d threads have %d waits", inc.Threads, inc.Count)
	}
	for _, l := range inc.Locks {
		atLocks += l.Time
	}
	if atLocks != inc.Blocked {
		fail("the locks add up to %v, the waits to %v", atLocks, inc.Blocked)
	}
	for i := range inc.Holds {
		h := &inc.Holds[i]
		if h.Start < inc.Start || h.End > inc.End || h.End <= h.Start || h.Blocked > inc.Blocked || h.Since > h.Start {
			fail("a hold from %d to %d, which blocked %v, exceeds it", h.Start, h.End, h.Blocked)
		}
		if i > 0 && h.Start < inc.Holds[i-1].Start {
			fail("the hold at %d follows a later one", h.Start)
		}
	}
	return errs
}
