// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package budget answers: may this part take more memory? Parts of the process count the bytes that they hold against a common limit,
// before they take them.
//
// A budget is a tree: a root with a limit, members such as users or addresses, and members of those, such as sessions. No member has an
// amount of its own, which would either waste memory or not add up. Instead, a member may hold up to a fixed multiple of what is free at
// that moment, so that the more all of them hold, the less each may add (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions
// on Networking 6(2), 1998). There is therefore always some room for one more member, a member that takes all it can get ends up with
// as much as others that do the same, and one that needs little never notices.
//
// The trees of all parts count in one more budget, that of the process.
package budget

import "sync/atomic"

// Budget counts bytes. A nil Budget has no limit and counts nothing. All methods are safe for concurrent use; they do not allocate, and
// cost an atomic operation for each level.
type Budget struct {
	parent *Budget
	root   *Root   // of the tree of a part of the process; nil: none
	part   Part    // with root
	chosen bool    // the limit, by the user
	limit  int64   // without parent
	times  float64 // of a member: how many times what is free in the parent it may hold
	held   atomic.Int64
}

// New returns the root of a tree, which never holds more than limit bytes, except by Force.
func New(limit int64) *Budget { return &Budget{limit: limit} }

// Member returns a new member of b. While the others hold nothing, it may hold a share of what b may hold, which is more than 0 and less
// than 1.
//
//	share   alone   each of 2   each of 10   left by these
//	 3/4     75 %      43 %        9.7 %         3.2 %
//	 1/2     50 %      33 %        9.1 %         9.1 %
//	 1/32   3.1 %     3.0 %        2.4 %          76 %
func (b *Budget) Member(share float64) *Budget {
	if b == nil {
		return nil
	}
	return &Budget{parent: b, times: share / (1 - share)}
}

// Take takes n bytes, or returns false if there is no room for all of them.
func (b *Budget) Take(n int) bool {
	if b == nil {
		return true
	}
	if int64(n) > b.room() {
		return false
	}
	if top := b.Force(n); top.room() < 0 { // others have taken the room in the meantime
		b.Give(n)
		return false
	}
	return true
}

// room returns how many bytes b may take now. It is negative after Force.
func (b *Budget) room() int64 {
	if b.parent == nil {
		own := b.limit - b.held.Load()
		if b.root == nil {
			return own
		}
		return min(own, b.root.room(b.part))
	}
	free := b.parent.room()
	return min(free, int64(b.times*float64(max(free, 0)))-b.held.Load())
}

// Force takes n bytes even if there is no room, for work that frees memory when it is done, such as closing a window. It returns the top of the
// tree.
func (b *Budget) Force(n int) (top *Budget) {
	for ; b != nil; b = b.parent {
		b.held.Add(int64(n))
		top = b
	}
	if top != nil && top.root != nil {
		top.root.parts[top.part].held.Add(int64(n))
	}
	return top
}

// Give gives back n bytes that were taken.
func (b *Budget) Give(n int) {
	for ; b != nil; b = b.parent {
		if b.held.Add(-int64(n)) < 0 {
			panic("budget: gave back more than was taken")
		}
		if b.root != nil {
			b.root.parts[b.part].held.Add(-int64(n))
		}
	}
}

// Set takes or gives back what a holding of from bytes needs to become one of to bytes. It returns false if there is no room.
func (b *Budget) Set(from, to int) bool {
	if to > from {
		return b.Take(to - from)
	}
	b.Give(from - to)
	return true
}

// Held returns how many bytes b and its members hold.
func (b *Budget) Held() int64 {
	if b == nil {
		return 0
	}
	return b.held.Load()
}

// Limit returns the limit of the tree.
func (b *Budget) Limit() int64 {
	if b == nil {
		return 0
	}
	for b.parent != nil {
		b = b.parent
	}
	return b.limit
}

// Close gives back all that b holds. Close its members first, and do not use it again.
func (b *Budget) Close() {
	b.Give(int(b.Held()))
	b.Retire()
}

// Retire gives back the reserve of b, the tree of a part, whose holders still give back what they hold.
func (b *Budget) Retire() {
	if b == nil || b.root == nil {
		return
	}
	b.root.parts[b.part].users.Add(-1)
	if b.chosen {
		b.root.parts[b.part].chosen.Add(-b.limit)
	}
}
