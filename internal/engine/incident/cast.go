// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// waited is how long a thread waited for a lock, and when its first wait began.
type waited struct {
	time  time.Duration
	since jvmthread.Time
}

func (inc *Incident) addWaited(at threadAt, more waited) {
	if sum, known := inc.waited[at]; known {
		more.time += sum.time
		more.since = min(more.since, sum.since)
	}
	inc.waited[at] = more
}

// leastCost is the share of the blocked time from which a holder that waited itself is a cause rather than a waiter that got its turn.
const leastCost = 0.05

// Cast returns the threads that took part: those of a deadlock in the order of its cycle; then the holders of the root that did not wait, or
// caused leastCost, that which cost most first; of a pool, the one that gave back most, if it did not wait; then those that waited, in
// the order in which their waits began. Each is in it once. It also returns how many are left out because of the limit. The incident is over,
// or cut.
func (inc *Incident) Cast(most int) (cast []jvmthread.ThreadID, more int) {
	seen := make(map[jvmthread.ThreadID]bool)
	add := func(id jvmthread.ThreadID) {
		if id != jvmthread.NoThread && !seen[id] {
			seen[id] = true
			cast = append(cast, id)
		}
	}
	if inc.Deadlock != nil {
		for i := range inc.Deadlock.Members {
			add(inc.Deadlock.Members[i].Thread)
		}
	}
	waiters := inc.Waiters()
	waits := make(map[jvmthread.ThreadID]bool, len(waiters))
	for _, id := range waiters {
		waits[id] = true
	}
	for i := range inc.Holders {
		if h := &inc.Holders[i]; !waits[h.Thread] || inc.Share(h) >= leastCost {
			add(h.Thread)
		}
	}
	if g := inc.Giver(); g != nil && !waits[g.Thread] {
		add(g.Thread)
	}
	for _, id := range waiters {
		add(id)
	}
	kept := min(len(cast), most)
	return cast[:kept:kept], len(cast) - kept + inc.more
}

// Waiters returns the threads that waited, in the order in which their first waits began.
func (inc *Incident) Waiters() []jvmthread.ThreadID {
	since := make(map[jvmthread.ThreadID]jvmthread.Time)
	for at, sum := range inc.waited {
		if t, known := since[at.thread]; !known || sum.since < t {
			since[at.thread] = sum.since
		}
	}
	return slices.SortedFunc(maps.Keys(since), func(a, b jvmthread.ThreadID) int {
		return cmp.Or(cmp.Compare(since[a], since[b]), cmp.Compare(a, b))
	})
}
