// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"cmp"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// deadlocked makes an incident one of a deadlock: only locks of the cycle are roots.
func (inc *Incident) deadlocked(cycle jvmthread.Cycle) {
	if inc.Cycle == cycle {
		return
	}
	inc.Cycle = cycle
	for _, l := range inc.locks {
		l.asRoot = 0
	}
}

// choose names the incident by the lock for which most time was blocked while it was the root, or belonged to the cycle.
func (inc *Incident) choose() {
	var best *Lock
	for _, l := range inc.locks {
		if l.asRoot > 0 && (best == nil || cmp.Or(cmp.Compare(best.asRoot, l.asRoot), l.ID.compare(&best.ID)) < 0) {
			best = l
		}
	}
	if best == nil || best.ID == inc.key {
		return
	}
	if old := inc.locks[inc.key]; old != nil && old.asRoot > 0 && best.ID.Lock.Class != inc.key.Lock.Class {
		inc.unsaved = true // what the earlier windows said is about another class
	}
	inc.key = best.ID
}

// named reports whether a lock is the root or, of a deadlock, one of the cycle's.
func (inc *Incident) named(id Awaited) bool {
	if inc.Cycle == 0 {
		return id == inc.key
	}
	l := inc.locks[id]
	return l != nil && l.asRoot > 0
}
