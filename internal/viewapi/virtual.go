// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package viewapi

// Virtual shows groups of threads: the virtual threads of a session by what they do, GET api/sessions/{session}/virtual, or its platform threads
// by pool, GET api/sessions/{session}/pools.
type Virtual struct {
	From    int64  `json:"from"`
	To      int64  `json:"to"`
	Step    int64  `json:"step"`  // 0: OverTime is not requested
	Steps   int    `json:"steps"` // of the range; the last one may end after To
	Version uint64 `json:"version"`
	Total   int    `json:"total"` // groups with selected threads; at most 32 of virtual threads
	Offset  int    `json:"offset"`

	Groups []VirtualGroup `json:"groups"`
}

// VirtualGroup is the virtual threads that do the same, or the platform threads of a pool. Its sums over the range are those of the table of
// threads.
//
// The name of a pool is that of its threads, with a star for each number. The name of a group of virtual threads is the method of the application that started the threads, if that is known; else what their names have in common, with a star for
// each number; else the method of a library that started them; else "virtual threads". Of a session with more than 32 groups, the smallest ones
// are one: "(other virtual threads)".
type VirtualGroup struct {
	Name    string `json:"name"`
	Threads int    `json:"threads"` // selected
	Alive   int    `json:"alive"`   // of them, those that have not ended

	ThreadSum
	// OverTime[s][i] is the total time of the threads in state s within step i, in ns: divided by the part of the step that is within the range, it is
	// how many threads were in that state on average. As in Minimap, it is empty for states that do not occur, and threads parked for a lock, a
	// permit or an object of a pool are blocked, and those without a task are idle.
	OverTime [][]int64 `json:"over_time"`
}

// Members are some of the threads of a group of virtual threads.
type Members struct {
	Group   string   `json:"group"`
	Threads []uint64 `json:"threads"`
}
