// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package budget

import "sync/atomic"

// unlimited is more than there is, and few enough bytes for calculations with them.
const unlimited = 1 << 52

// Part is who in the process holds memory.
type Part uint8

// The parts of the process.
const (
	Definitions Part = iota // names and stacks that agents define, at the receiver
	Buffers                 // frames, connections and batches at the receiver
	Backlogs                // carriers that wait to be processed
	Sessions                // open windows, threads, locks, and names and stacks of sessions
	Store                   // history of the page
	Queries                 // memory lent to windows, and that of critical paths of the page
	numParts
)

var partNames = [numParts]string{"definitions", "buffers", "backlogs", "sessions", "store", "queries"}

func (p Part) String() string { return partNames[p] }

// reserves are the parts of the limit, as divisors, that the others leave to a part in use, so that none can lock another one out. A part may
// take that much even if others hold more than they should, as they do by Force.
var reserves = [numParts]int64{Definitions: 16, Buffers: 16, Backlogs: 16, Sessions: 4, Store: 8, Queries: unlimited}

// Process is the memory of this process, as GOMEMLIMIT is that of the Go runtime, which also has one for all collectors of a process. It has no
// limit until SetLimit.
var Process = new(Root) //nolint:gochecknoglobals // as above

// Root is one budget for parts that also have limits of their own. Safe for concurrent use.
//
// A part may take what no other part holds or has in reserve. Sessions are elastic: they can always free memory without a loss, by cutting
// windows. So nothing stops them: they compare what they hold with Elastic, and others leave them some room above, or they would cut windows
// all the time. Definitions may hold no more than is free, because sessions and the page need the same texts once more.
type Root struct {
	limit atomic.Int64 // 0: none
	parts [numParts]struct{ held, users, chosen atomic.Int64 }
}

// SetLimit sets the limit in bytes, 0 for none, and returns the one before. What is held stays.
func (r *Root) SetLimit(bytes int64) (before int64) { return r.limit.Swap(bytes) }

// Limit returns the limit in bytes, 0 for none.
func (r *Root) Limit() int64 { return r.limit.Load() }

// Held returns the bytes that a part holds.
func (r *Root) Held(p Part) int64 { return r.parts[p].held.Load() }

// Parts calls visit with each part in use.
func (r *Root) Parts(visit func(p Part, held int64)) {
	for p := range numParts {
		if held := r.Held(p); held != 0 || r.parts[p].users.Load() > 0 {
			visit(p, held)
		}
	}
}

// New returns a tree of a part with a limit of its own, 0 for none. Close gives all that it holds back to r, and its reserve.
func (r *Root) New(p Part, limit int64) *Budget {
	r.parts[p].users.Add(1)
	if limit == 0 {
		limit = unlimited
	}
	return &Budget{root: r, part: p, limit: limit}
}

// Choose notes that the user has chosen the limit of the tree of a part, so that it should fit into that of the process. It returns b.
func (b *Budget) Choose(chosen bool) *Budget {
	if chosen {
		b.chosen = true
		b.root.parts[b.part].chosen.Add(b.limit)
	}
	return b
}

// Misfit returns the limits that the user has chosen, by part, and what they need together with the reserves of other parts. The second result
// is 0 if that fits into the limit of the process.
func (r *Root) Misfit() (chosen map[Part]int64, need int64) {
	limit := r.Limit()
	chosen = make(map[Part]int64)
	for p := range numParts {
		if c := r.parts[p].chosen.Load(); c > 0 {
			chosen[p] = c
			need += c
		} else {
			need += r.reserve(p, limit)
		}
	}
	if limit == 0 || need <= limit {
		return nil, 0
	}
	return chosen, need
}

// room returns how many bytes a part may take now.
func (r *Root) room(p Part) int64 {
	limit := r.limit.Load()
	if limit == 0 {
		return unlimited
	}
	free := limit - r.Held(p)
	for q := range numParts {
		if q != p {
			free -= r.claimed(q, limit)
		}
	}
	if p == Definitions {
		free -= r.Held(p)
	}
	return max(free, r.reserve(p, limit)-r.Held(p))
}

// claimed returns how many bytes a part holds or has in reserve. Sessions cut windows at 7/8 of their memory.
func (r *Root) claimed(p Part, limit int64) int64 {
	held := r.Held(p)
	if p == Sessions {
		held += held / 7
	}
	return max(held, r.reserve(p, limit))
}

func (r *Root) reserve(p Part, limit int64) int64 {
	if r.parts[p].users.Load() == 0 {
		return 0
	}
	return limit / reserves[p]
}

// Elastic returns how many bytes sessions and their backlogs may hold together, and how many they do.
func (r *Root) Elastic() (limit, held int64) {
	held = r.Held(Sessions) + r.Held(Backlogs)
	if limit = r.limit.Load(); limit == 0 {
		return unlimited, held
	}
	free := limit
	for q := range numParts {
		if q != Sessions && q != Backlogs {
			free -= r.claimed(q, limit)
		}
	}
	return max(free, r.reserve(Sessions, limit)+r.reserve(Backlogs, limit)), held
}

// Room returns how many bytes b may take now. It is negative after Force.
func (b *Budget) Room() int64 {
	if b == nil {
		return unlimited
	}
	return b.room()
}

// Change takes what a holding of from bytes needs to become one of to bytes, even if there is no room, or gives it back.
func (b *Budget) Change(from, to int) {
	if to > from {
		b.Force(to - from)
	} else {
		b.Give(from - to)
	}
}
