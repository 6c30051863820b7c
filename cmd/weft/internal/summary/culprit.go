// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"slices"
	"strings"
	"time"

	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

const (
	nearlyAll = 0.9  // need not be stated
	mentioned = 0.05 // least share of other holders that is stated
)

// culprit returns the thread that is the cause of the waits for a lock, or "" if its holders are alike.
func (o *object) culprit(holders []string) string {
	list := make([]contention.Holder, len(holders))
	for i, name := range holders {
		list[i] = contention.Holder{Name: name, Share: o.share(name)}
	}
	if i := contention.Culprit(list, o.waitingPool()); i >= 0 {
		return holders[i]
	}
	return ""
}

// culpritOf returns the culprit if a thread waited for the object about as long as it held another one meanwhile.
func (o *object) culpritOf(waited, held time.Duration) string {
	holders := o.held()
	if waited*5 < held*4 || held*5 < waited*4 || o.kind != jvmthread.WaitLock || len(holders) == 0 || o.holders[holders[0]] == 0 {
		return ""
	}
	return o.culprit(holders)
}

// share returns the part of the waits' time in which a thread held the object.
func (o *object) share(holder string) float64 {
	if o.time == 0 {
		return 0
	}
	return float64(o.holders[holder]) / float64(o.time)
}

// waitingPool returns the pool whose threads waited longest.
func (o *object) waitingPool() string {
	pools := make(map[string]time.Duration)
	for _, w := range o.threads {
		pools[contention.Pool(w.name)] += w.time
	}
	pool, _ := most(pools, strings.Compare)
	return pool
}

// shares says for which part of the waits the culprit held the lock, and which other threads did, unless it was the only one.
func (o *object) shares(culprit string, holders []string) string {
	if o.share(culprit) >= nearlyAll {
		return ""
	}
	text := ", " + wording.Percent(o.share(culprit)) + " of that while " + culprit + " held it"
	pools, names := make(map[string]time.Duration), make(map[string][]string)
	for _, name := range holders {
		if name != culprit {
			pool := contention.Pool(name)
			pools[pool] += o.holders[name]
			names[pool] = append(names[pool], name)
		}
	}
	next, held := most(pools, strings.Compare)
	if part := float64(held) / float64(o.time); part >= mentioned {
		slices.Sort(names[next])
		text += ", " + wording.Percent(part) + " while " + groupOf(names[next]) + " did"
	}
	return text
}

// known returns the part of the waits' time with a known holder. A span lists only the holders with the largest shares, so the sums of the class
// count if they know more.
func (s *Summary) known(o *object) float64 {
	var held, heldOfClass time.Duration
	for _, d := range o.holders {
		held += d
	}
	part := float64(held) / float64(max(o.time, 1))
	if i := slices.IndexFunc(s.Locks, func(l Lock) bool { return l.Class == o.class }); i >= 0 {
		for _, d := range s.Locks[i].Holders {
			heldOfClass += d
		}
		part = max(part, float64(heldOfClass)/float64(max(s.Locks[i].Blocked, 1)))
	}
	return min(part, 1)
}

// inTurn says what the holders of a lock did if none of them is the cause.
func (s *Summary) inTurn(o *object, holders []string) string {
	if known := s.known(o); known < contention.MostlyKnown {
		return "; who held it for " + wording.Percent(1-known) + " of that time is not known"
	}
	all := make(map[doing]time.Duration)
	var known time.Duration
	for d, length := range o.doing {
		all[doing{state: d.state, function: d.function}] += length
		known += length
	}
	d, most := most(all, doing.compare)
	who := units.Plural(int64(len(holders)), "thread")
	if o.own(holders) {
		who = "they"
	}
	text := "; " + who + " held it in turn"
	if words := d.words(); words != "" {
		text += ", " + words + " for " + wording.Percent(float64(most)/float64(known)) + " of the time"
	}
	return text
}
