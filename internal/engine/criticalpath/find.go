// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import "github.com/weft-otel/weft/internal/jvmthread"

// laneOf returns the index of a thread's lane, or none.
func (g *Graph) laneOf(id jvmthread.ThreadID) int32 {
	if next := g.recentLanes.Get(uint32(id), id); next > 0 {
		return next - 1
	}
	at, ok := g.byID[id]
	if !ok {
		return none
	}
	g.recentLanes.Put(uint32(id), id, at+1)
	return at
}

// index returns the position of the interval with the given sequence number in its lane, or none.
func (g *Graph) index(at int32, seq jvmthread.Seq) int32 {
	if at < 0 {
		return none
	}
	l := &g.lanes[at]
	i := int64(seq) - int64(l.first)
	if i < 0 || i >= int64(l.intervals.Len()) || !l.contiguous && l.intervals.Seq(int(i)) != seq {
		return none
	}
	return int32(i)
}

// at returns the index of the first interval of a lane that ends after t, or the number of intervals if there is none. A walk searches
// forward in time, so the search starts at the previous result, and often ends there or with the next one.
func (g *Graph) at(l *lane, t jvmthread.Time) int32 {
	list, at := g.nodes[l.base:int(l.base)+l.intervals.Len()], int(l.cursor)
	switch {
	case at >= len(list):
	case list[at].end <= t:
		if at++; at < len(list) && list[at].end > t {
			l.cursor++
			return l.cursor
		}
	case at == 0 || list[at-1].end <= t:
		return l.cursor
	}
	l.cursor = after(list, l.cursor, t)
	return l.cursor
}

// holdAt returns the index of the first hold of a lock that ends after t, or stop if there is none.
func (g *Graph) holdAt(k *lock, t jvmthread.Time) int32 {
	list, at := g.holds[k.first:k.stop], int(k.cursor-k.first)
	switch {
	case at >= len(list):
	case list[at].end <= t:
		if at++; at < len(list) && list[at].end > t {
			k.cursor++
			return k.cursor
		}
	case at == 0 || list[at-1].end <= t:
		return k.cursor
	}
	k.cursor = k.first + after(list, k.cursor-k.first, t)
	return k.cursor
}

type ending interface{ until() jvmthread.Time }

func (n node) until() jvmthread.Time { return n.end }
func (h hold) until() jvmthread.Time { return h.end }

// near is the number of elements that a search looks at in order, since most results are close and neighbors share a cache line.
const near = 8

// after returns the index of the first element that ends after t, or the length of the list. The list is sorted by end. The search starts
// at an index. Beyond its neighbors, it doubles its steps.
func after[T ending](list []T, from int32, t jvmthread.Time) int32 {
	n := int32(len(list))
	lo, hi := int32(0), n // no element below lo ends after t; all from hi on do
	if from < n && list[from].until() <= t {
		lo = from + 1
		for end := min(lo+near, n); lo < end; lo++ {
			if list[lo].until() > t {
				return lo
			}
		}
		for step := int32(near); step <= n-lo; step *= 2 {
			if list[lo+step-1].until() > t {
				hi = lo + step - 1
				break
			}
			lo += step
		}
	} else {
		hi = min(from, n)
		for end := max(hi-near, 0); hi > end; hi-- {
			if list[hi-1].until() <= t {
				return hi
			}
		}
		for step := int32(near); step <= hi; step *= 2 {
			if list[hi-step].until() <= t {
				lo = hi - step + 1
				break
			}
			hi -= step
		}
	}
	for lo < hi {
		mid := lo + (hi-lo)/2
		if list[mid].until() > t {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
