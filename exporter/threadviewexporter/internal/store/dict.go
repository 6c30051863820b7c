// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// texts are the classes or the stacks of a session. Ids are stable for the life of the session in the store, whichever engine they came from.
type texts struct {
	list []string
	ids  map[string]uint32
}

func newTexts() texts { return texts{list: []string{""}, ids: map[string]uint32{"": 0}} }

// maxTexts bounds the classes, and the stacks, of a session, over all of its engines.
const maxTexts = 1 << 18

const textBytes = 16 + 40 // of the list and of the map, about

func (t *texts) intern(text string) (id uint32, bytes int64) {
	if id, ok := t.ids[text]; ok {
		return id, 0
	}
	if len(t.list) > maxTexts {
		return 0, 0
	}
	id = uint32(len(t.list))
	t.list = append(t.list, text)
	t.ids[text] = id
	return id, int64(len(text)) + textBytes
}

// translation turns the ids of one engine's symbols into those of the session.
type translation struct {
	classes []uint32 // 0: not known yet
	stacks  []uint32
}

func translate(table []uint32, id uint32, text func() string, to *texts) ([]uint32, uint32, int64) {
	if int(id) < len(table) && table[id] != 0 {
		return table, table[id], 0
	}
	for int(id) >= len(table) {
		table = append(table, 0)
	}
	mine, bytes := to.intern(text())
	table[id] = mine
	return table, mine, bytes
}

// class returns the session's id of an engine's class.
func (s *Session) class(sym *symbols.Table, id jvmthread.ClassID) uint32 {
	if id == jvmthread.NoClass {
		return 0
	}
	var mine uint32
	var bytes int64
	s.translation.classes, mine, bytes = translate(s.translation.classes, uint32(id), func() string { return sym.Class(id) }, &s.classes)
	s.dictBytes += bytes
	return mine
}

// stack returns the session's id of an engine's stack.
func (s *Session) stack(sym *symbols.Table, id jvmthread.StackID) uint32 {
	if id == jvmthread.NoStack {
		return 0
	}
	var mine uint32
	var bytes int64
	s.translation.stacks, mine, bytes = translate(s.translation.stacks, uint32(id), func() string { return sym.Stack(id) }, &s.stacks)
	s.dictBytes += bytes
	return mine
}

// Lock is a lock of a session.
type Lock struct {
	Class uint32 // id of the class's name
	Hash  uint32
}

// locks gives numbers to locks. Numbers of locks that nothing speaks of any more are used again.
type locks struct {
	list []Lock
	used []uint64 // by number: the newest block that speaks of it
	ids  map[Lock]uint32
	free []uint32
}

func newLocks() locks {
	return locks{list: make([]Lock, 1), used: make([]uint64, 1), ids: make(map[Lock]uint32)}
}

const lockBytes = 8 + 8 + 32

func (k *locks) index(l Lock, block uint64) (id uint32, bytes int64) {
	if l == (Lock{}) {
		return 0, 0
	}
	id, ok := k.ids[l]
	if !ok {
		if n := len(k.free); n > 0 {
			id, k.free = k.free[n-1], k.free[:n-1]
			k.list[id] = l
		} else {
			id = uint32(len(k.list))
			k.list = append(k.list, l)
			k.used = append(k.used, 0)
			bytes = lockBytes
		}
		k.ids[l] = id
	}
	k.used[id] = block
	return id, bytes
}

// lockOf returns the number of an engine's lock.
func (s *Session) lockOf(sym *symbols.Table, id jvmthread.LockID) uint32 {
	if id.IsZero() {
		return 0
	}
	mine, bytes := s.locks.index(Lock{s.class(sym, id.Class), id.Hash}, s.next)
	s.dictBytes += bytes
	return mine
}

// Thread is a thread of a session.
type Thread struct {
	jvmthread.Thread

	First, Last jvmthread.Time // when it began or was first seen, and when it ended or was last seen
	Dead        bool           // it has ended
	Known       bool           // it is in use

	used   uint64  // the newest block that speaks of it
	chunks []chunk // its lanes, by time
}

// chunk is a lane of a thread.
type chunk struct {
	block *Block
	lane  int32
}

const threadBytes = 160

// thread returns the number of a thread, and makes sure that what is known of it is kept.
func (s *Session) thread(sym *symbols.Table, id jvmthread.ThreadID) uint32 {
	if id == jvmthread.NoThread {
		return 0
	}
	i, ok := s.threadIDs[id]
	if !ok {
		if n := len(s.freeThreads); n > 0 {
			i, s.freeThreads = s.freeThreads[n-1], s.freeThreads[:n-1]
		} else {
			i = uint32(len(s.threads))
			s.threads = append(s.threads, Thread{})
			s.dictBytes += threadBytes
		}
		s.threadIDs[id] = i
		s.threads[i] = Thread{Thread: jvmthread.Thread{ID: id}, Known: true}
	}
	t := &s.threads[i]
	if t.used != s.next || t.Name == "" {
		if known := sym.Thread(id); known.Name != "" {
			t.Thread = known
		}
		t.used = s.next
	}
	return i
}

// forget gives back the numbers of threads and locks of which no block speaks that is left. It looks at each, so it is done once in a while.
func (s *Session) forget() {
	first := s.next
	if len(s.blocks) > 0 {
		first = s.blocks[0].number
	}
	threads, held := make(map[uint32]struct{}), make(map[uint32]struct{}) // of which something open speaks, or a deadlock
	for id, iv := range s.open {
		threads[id], threads[uint32(iv.Peer)] = struct{}{}, struct{}{}
		held[uint32(iv.Lock)] = struct{}{}
	}
	for id, h := range s.openHolds {
		threads[uint32(h.Thread)] = struct{}{}
		held[id] = struct{}{}
	}
	for i := range s.deadlocks { // which outlive the blocks that they were in
		for _, m := range s.deadlocks[i].Members {
			threads[uint32(m.Thread)], threads[uint32(m.Peer)] = struct{}{}, struct{}{}
			held[uint32(m.Lock)] = struct{}{}
		}
	}
	for i := 1; i < len(s.threads); i++ {
		id, t := uint32(i), &s.threads[i]
		if _, open := threads[id]; open || !t.Known || t.used >= first || len(t.chunks) > 0 {
			continue
		}
		delete(s.threadIDs, t.ID)
		*t = Thread{}
		s.freeThreads = append(s.freeThreads, id)
	}
	s.locks.list = append([]Lock(nil), s.locks.list...) // snapshots read the old one
	for i := 1; i < len(s.locks.list); i++ {
		id, l := uint32(i), s.locks.list[i]
		if _, open := held[id]; open || l == (Lock{}) || s.locks.used[i] >= first {
			continue
		}
		delete(s.locks.ids, l)
		s.locks.list[i] = Lock{}
		s.locks.free = append(s.locks.free, id)
	}
}
