// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"
	"unsafe"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// texts are the classes or stacks of a session. Their ids are the same for all engines of the session.
type texts struct {
	list []string
	ids  map[string]uint32
}

func newTexts() texts { return texts{list: []string{""}, ids: map[string]uint32{"": 0}} }

// maxTexts bounds the classes, and also the stacks, of a session.
const maxTexts = 1 << 18

const textBytes = 16 + 40 // of the list and of the map, about

// intern returns the id of a text: 0 if it is new and takes more than room.
func (t *texts) intern(text string, room int64) (id uint32, bytes int64) {
	if id, ok := t.ids[text]; ok {
		return id, 0
	}
	if len(t.list) > maxTexts || int64(len(text))+textBytes > room {
		return 0, 0
	}
	id = uint32(len(t.list))
	t.list = append(t.list, text)
	t.ids[text] = id
	return id, int64(len(text)) + textBytes
}

// translation maps the ids of one engine's symbols to those of the session; 0: not known yet.
type translation struct{ classes, stacks []uint32 }

func translate[ID ~uint32](s *Session, table *[]uint32, id ID, text func(ID) string, to *texts) uint32 {
	if id == 0 {
		return 0
	}
	if int(id) < len(*table) && (*table)[id] != 0 {
		return (*table)[id]
	}
	for int(id) >= len(*table) {
		*table = append(*table, 0)
	}
	mine, bytes := to.intern(text(id), s.textRoom)
	(*table)[id] = mine
	s.dictBytes += bytes
	s.textBytes += bytes
	s.textRoom -= bytes
	return mine
}

// class returns the session's id of an engine's class.
func (s *Session) class(sym *symbols.Table, id jvmthread.ClassID) uint32 {
	return translate(s, &s.translation.classes, id, sym.Class, &s.classes)
}

// stack returns the session's id of an engine's stack.
func (s *Session) stack(sym *symbols.Table, id jvmthread.StackID) uint32 {
	return translate(s, &s.translation.stacks, id, sym.Whole, &s.stacks)
}

// locks numbers locks. Numbers without references are reused.
type locks struct {
	list []Lock   // call own before changing an element
	read bool     // snapshots read the list
	used []uint64 // by number: the newest block that refers to it
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
			k.own()
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

// share returns the list for a snapshot. Its elements no longer change; new ones are appended beyond its end.
func (k *locks) share() []Lock {
	k.read = true
	return k.list
}

// own replaces a list that snapshots read by a copy.
func (k *locks) own() {
	if k.read {
		k.list, k.read = slices.Clone(k.list), false
	}
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

// threadBytes is the size of a thread in the session and in its snapshot, each with an entry of a map.
const threadBytes = 2 * (int64(unsafe.Sizeof(Thread{})) + 32)

// thread returns the index of a thread, and keeps its name.
func (s *Session) thread(sym *symbols.Table, id jvmthread.ThreadID) uint32 {
	if id == jvmthread.NoThread {
		return 0
	}
	i, ok := s.threadIDs[id]
	if !ok {
		if n := len(s.freeThreads); n > 0 {
			i, s.freeThreads = s.freeThreads[n-1], s.freeThreads[:n-1]
		} else {
			i = uint32(len(s.now.Threads))
			s.now.Threads = append(s.now.Threads, Thread{})
			s.dictBytes += threadBytes
		}
		s.threadIDs[id] = i
		s.now.Threads[i] = Thread{Thread: jvmthread.Thread{ID: id}, Known: true}
	}
	t := &s.now.Threads[i]
	if t.used != s.next || t.Name == "" && !t.Virtual {
		if known := sym.Thread(id); known.Name != "" || known.Virtual { // most virtual threads have no name
			t.Thread = known
		}
		t.used = s.next
	}
	return i
}

// forget frees the numbers of threads and locks that no remaining block refers to. It scans all of them.
func (s *Session) forget() {
	first := s.next
	if len(s.now.blocks) > 0 {
		first = s.now.blocks[0].number
	}
	threads, held := make(map[uint32]struct{}), make(map[uint32]struct{}) // that something open or a deadlock refers to
	for id, iv := range s.open {
		threads[id], threads[uint32(iv.Peer)] = struct{}{}, struct{}{}
		held[uint32(iv.Lock)] = struct{}{}
	}
	for _, h := range s.openHolds {
		threads[uint32(h.Thread)] = struct{}{}
		held[uint32(h.Lock)] = struct{}{}
	}
	for id := range s.requests {
		threads[id] = struct{}{}
	}
	for i := range s.now.Deadlocks { // which outlive their blocks
		for _, m := range s.now.Deadlocks[i].Members {
			threads[uint32(m.Thread)], threads[uint32(m.Peer)] = struct{}{}, struct{}{}
			held[uint32(m.Lock)] = struct{}{}
		}
	}
	for i := 1; i < len(s.now.Threads); i++ {
		id, t := uint32(i), &s.now.Threads[i]
		if _, open := threads[id]; open || !t.Known || t.used >= first || len(t.chunks) > 0 {
			continue
		}
		delete(s.threadIDs, t.ID)
		*t = Thread{}
		s.freeThreads = append(s.freeThreads, id)
	}
	s.locks.own()
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
