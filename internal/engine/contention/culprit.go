// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import "slices"

// Holder is a thread that held what others waited for.
type Holder struct {
	Name  string
	Share float64 // the part of the waits' time in which it did
}

// A holder with at least the share culprit is the cause. With at least candidate, it is the cause if it is not of the pool whose threads mostly
// wait: these hold the lock because all of them need it. One of these needs at least peer, and lead times the share of the next holder.
const (
	culprit   = 0.5
	candidate = 0.2
	peer      = 0.35
	lead      = 1.5 // times the share of the next one
)

// MostlyKnown is the least part of the waits' time with a known holder from which the known holders stand for all. A flight recording, for
// example, does not say who holds a lock of java.util.concurrent; only some holders follow from its waits.
const MostlyKnown = 0.5

// Culprit returns the index of the holder that is the cause of waits, or -1 if the holders are alike. The holders are those with the largest
// shares first; waiting is the pool whose threads mostly wait.
func Culprit(holders []Holder, waiting string) int {
	switch {
	case len(holders) == 0:
		return -1
	case holders[0].Share >= culprit:
		return 0
	}
	outsider := slices.IndexFunc(holders, func(h Holder) bool { return Pool(h.Name) != waiting })
	if outsider >= 0 && holders[outsider].Share >= candidate {
		if mates(holders, outsider) > holders[outsider].Share {
			return -1 // it is one of many that do the same
		}
		return outsider
	}
	if holders[0].Share >= peer && (len(holders) == 1 || holders[0].Share >= lead*holders[1].Share) {
		return 0
	}
	return -1
}

// mates returns the share of the other holders of the pool of one.
func mates(holders []Holder, one int) (share float64) {
	pool := Pool(holders[one].Name)
	for i := range holders {
		if i != one && Pool(holders[i].Name) == pool {
			share += holders[i].Share
		}
	}
	return share
}
