// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"time"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// maxCandidates bounds the holders among which the culprit is searched. One with a smaller share than this many others is none.
const maxCandidates = 64

// Culprit returns the holder that is the cause of an incident at a lock, by the rule of package contention, or nil if the holders are alike or
// not known.
func (inc *Incident) Culprit(sym *symbols.Table) *Holder {
	if inc.Kind != Contention || inc.Root().Kind != jvmthread.WaitLock {
		return nil
	}
	all := inc.Holders[:min(len(inc.Holders), maxCandidates)]
	list := make([]contention.Holder, len(all))
	for i := range all {
		list[i] = contention.Holder{Name: sym.Thread(all[i].Thread).Name, Share: inc.Share(&all[i])}
	}
	if i := contention.Culprit(list, inc.waitingPool(sym)); i >= 0 {
		return &all[i]
	}
	return nil
}

// waitingPool returns the pool whose threads waited longest.
func (inc *Incident) waitingPool(sym *symbols.Table) (pool string) {
	times := make(map[string]time.Duration)
	for at, sum := range inc.waited {
		times[contention.Pool(sym.Thread(at.thread).Name)] += sum.time
	}
	for name, d := range times {
		if d > times[pool] || d == times[pool] && name < pool {
			pool = name
		}
	}
	return pool
}

// Known returns the part of the blocked time at the root of which it is known who held it, from 0 to 1.
func (inc *Incident) Known() float64 {
	var known float64
	for i := range inc.Holders {
		known += inc.Share(&inc.Holders[i])
	}
	return min(known, 1)
}
