// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weft-otel/weft/internal/engine/contention"
)

const (
	// MaxVirtualGroups bounds the groups of virtual threads of a session, with the one of all others.
	MaxVirtualGroups = 32

	// OtherVirtual is the group of the virtual threads whose groups have the fewest threads, if there are too many groups.
	OtherVirtual = "(other virtual threads)"
)

// NoGroup is the group of a thread that is in none.
const NoGroup = -1

// Groups are groups of threads of a snapshot.
type Groups struct {
	Names []string // in order
	Of    []int32  // index into Names by index of the thread, or NoGroup
}

// Name returns the name of the group of the thread at an index, or an empty one.
func (g *Groups) Name(thread int) string {
	if i := g.Of[thread]; i != NoGroup {
		return g.Names[i]
	}
	return ""
}

// VirtualGroups returns the groups of the virtual threads. They are read-only.
func (sn *Snapshot) VirtualGroups() *Groups {
	sn.groupsOnce.Do(func() { sn.groups = sn.groupVirtual() })
	return &sn.groups
}

func (sn *Snapshot) groupVirtual() Groups {
	of, numbers := make([]int32, len(sn.Threads)), make(map[string]int32)
	var counts []int
	for i := range sn.Threads {
		t := &sn.Threads[i]
		if of[i] = NoGroup; !t.Known || !t.Virtual {
			continue
		}
		name := contention.VirtualGroup(sn.Site(t.Start), t.Name)
		number, ok := numbers[name]
		if !ok {
			number = int32(len(counts))
			numbers[name], counts = number, append(counts, 0)
		}
		of[i] = number
		counts[number]++
	}
	names := slices.SortedFunc(maps.Keys(numbers), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[numbers[b]], counts[numbers[a]]), cmp.Compare(a, b))
	})
	if len(names) > MaxVirtualGroups {
		names = append(names[:MaxVirtualGroups-1], OtherVirtual)
	}
	slices.Sort(names)
	names = slices.Compact(names) // a group may be called as that of the others
	final := make([]int32, len(counts))
	for name, number := range numbers {
		at, ok := slices.BinarySearch(names, name)
		if !ok {
			at, _ = slices.BinarySearch(names, OtherVirtual)
		}
		final[number] = int32(at)
	}
	groups := Groups{Names: names, Of: make([]int32, len(of))}
	for i, number := range of {
		if groups.Of[i] = NoGroup; number != NoGroup {
			groups.Of[i] = final[number]
		}
	}
	return groups
}

// PoolGroups returns the platform threads by pool, see Pools: those without one are in no group. They are read-only.
func (sn *Snapshot) PoolGroups() *Groups {
	sn.poolGroupsOnce.Do(func() {
		pools, numbers := sn.Pools(), make(map[string]int32)
		g := Groups{Of: slices.Repeat([]int32{NoGroup}, len(sn.Threads))}
		for i, name := range pools {
			if name != "" && !sn.Threads[i].Virtual {
				numbers[name] = 0
			}
		}
		g.Names = slices.Sorted(maps.Keys(numbers))
		for at, name := range g.Names {
			numbers[name] = int32(at)
		}
		for i, name := range pools {
			if name != "" && !sn.Threads[i].Virtual {
				g.Of[i] = numbers[name]
			}
		}
		sn.poolGroups = g
	})
	return &sn.poolGroups
}
