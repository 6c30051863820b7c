// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package symbols answers: which texts stand behind the ids of one session? The receiver defines them under the agent's ids; a
// component behind it interns the texts it reads and hands out ids of its own. A Table belongs to one goroutine at a time.
package symbols

import (
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Limits bound a table. What comes when it is full gets the zero id and is counted.
type Limits struct {
	Classes int // default 65 536
	Stacks  int // default 65 536
	Threads int // default 131 072; of virtual ones, those that were spoken of last: at least so many, and at most twice
	Bytes   int // of all texts: classes, stacks, names and groups of threads; default 64 MiB
}

// maxText is the longest text that is kept; longer ones are cut. A stack of 128 frames has some 10 KB.
const maxText = 1 << 16

// DefaultLimits fit any JVM that was looked at with a factor of ten to spare: 65 536 stacks of 1 KB are 64 MB.
func DefaultLimits() Limits {
	return Limits{Classes: 1 << 16, Stacks: 1 << 16, Threads: 1 << 17, Bytes: 64 << 20}
}

// Table holds the names of classes, the texts of stacks and what is known of threads.
type Table struct {
	limits   Limits
	classes  []string
	stacks   []string
	threads  map[jvmthread.ThreadID]jvmthread.Thread // that are not virtual
	recent   map[jvmthread.ThreadID]jvmthread.Thread // virtual ones that were spoken of since the last turn
	before   map[jvmthread.ThreadID]jvmthread.Thread // and those that were before that
	turns    uint64
	classIDs map[string]jvmthread.ClassID
	stackIDs map[string]jvmthread.StackID
	bytes    int
	refused  uint64
}

// room reports whether a list may take one more text, and accounts for it.
func (t *Table) room(have, limit int, text string) bool {
	if have > limit || t.bytes+len(text) > t.limits.Bytes {
		t.refused++
		return false
	}
	t.bytes += len(text)
	return true
}

// New returns an empty table.
func New(limits Limits) *Table {
	return &Table{
		limits:   limits,
		classes:  []string{""},
		stacks:   []string{""},
		threads:  make(map[jvmthread.ThreadID]jvmthread.Thread),
		recent:   make(map[jvmthread.ThreadID]jvmthread.Thread),
		classIDs: map[string]jvmthread.ClassID{"": jvmthread.NoClass},
		stackIDs: map[string]jvmthread.StackID{"": jvmthread.NoStack},
	}
}

// InternClass returns the id of the class with this name, a new one if it was never seen, or NoClass if the table is full.
func (t *Table) InternClass(name string) jvmthread.ClassID {
	name = cut(name)
	if id, ok := t.classIDs[name]; ok {
		return id
	}
	if !t.room(len(t.classes), t.limits.Classes, name) {
		return jvmthread.NoClass
	}
	id := jvmthread.ClassID(len(t.classes))
	t.classes = append(t.classes, name)
	t.classIDs[name] = id
	return id
}

// InternStack returns the id of the stack with this text, one frame a line, innermost first, or NoStack if the table is full.
func (t *Table) InternStack(text string) jvmthread.StackID {
	text = cut(text)
	if id, ok := t.stackIDs[text]; ok {
		return id
	}
	if !t.room(len(t.stacks), t.limits.Stacks, text) {
		return jvmthread.NoStack
	}
	id := jvmthread.StackID(len(t.stacks))
	t.stacks = append(t.stacks, text)
	t.stackIDs[text] = id
	return id
}

func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "")
}

// SetThread keeps what is known of a thread, in place of what was known before. It reports whether there was room: of virtual threads, of which many end
// without anybody hearing of it, those that were not spoken of for longest are forgotten.
func (t *Table) SetThread(th jvmthread.Thread) bool {
	th.Name, th.Group = cut(th.Name), cut(th.Group)
	old, known := t.find(th.ID)
	if known && old == th {
		return true
	}
	if t.bytes+textOf(&th)-textOf(&old) > t.limits.Bytes || !known && !th.Virtual && len(t.threads) >= t.limits.Threads {
		t.refused++
		return false
	}
	t.DropThread(th.ID)
	t.bytes += textOf(&th)
	if th.Virtual {
		t.hear(th)
	} else {
		t.threads[th.ID] = th
	}
	return true
}

// find returns what is known of a thread. If it is virtual, it is one of those that were spoken of last.
func (t *Table) find(id jvmthread.ThreadID) (th jvmthread.Thread, ok bool) {
	if th, ok = t.threads[id]; ok {
		return th, true
	}
	if th, ok = t.recent[id]; ok {
		return th, true
	}
	if th, ok = t.before[id]; ok {
		delete(t.before, id)
		t.hear(th)
	}
	return th, ok
}

// hear notes that a virtual thread was spoken of. When there are too many, those leave that were not since the last turn.
func (t *Table) hear(th jvmthread.Thread) {
	if len(t.recent) >= t.limits.Threads {
		for _, old := range t.before {
			t.bytes -= textOf(&old)
		}
		t.recent, t.before = make(map[jvmthread.ThreadID]jvmthread.Thread), t.recent
		t.turns++
	}
	t.recent[th.ID] = th
}

// Turns counts how often virtual threads were forgotten.
func (t *Table) Turns() uint64 { return t.turns }

// DropThread forgets a thread that has ended and is not spoken of any more.
func (t *Table) DropThread(id jvmthread.ThreadID) {
	for _, list := range [...]map[jvmthread.ThreadID]jvmthread.Thread{t.threads, t.recent, t.before} {
		if th, ok := list[id]; ok {
			t.bytes -= textOf(&th)
			delete(list, id)
		}
	}
}

func textOf(th *jvmthread.Thread) int { return len(th.Name) + len(th.Group) }

// Class returns the name behind an id, empty if there is none.
func (t *Table) Class(id jvmthread.ClassID) string {
	if int(id) < len(t.classes) {
		return t.classes[id]
	}
	return ""
}

// Stack returns the text behind an id, empty if there is none.
func (t *Table) Stack(id jvmthread.StackID) string {
	if int(id) < len(t.stacks) {
		return t.stacks[id]
	}
	return ""
}

// Thread returns what is known of a thread; its name is empty if nothing is.
func (t *Table) Thread(id jvmthread.ThreadID) jvmthread.Thread {
	if th, ok := t.find(id); ok {
		return th
	}
	return jvmthread.Thread{ID: id}
}

// Held estimates the bytes that the table takes.
func (t *Table) Held() int {
	return t.bytes + perText*(len(t.classes)+len(t.stacks)) + perThread*(len(t.threads)+len(t.recent)+len(t.before))
}

// What an entry of the table takes apart from its texts: map and slice entries.
const (
	perText   = 64
	perThread = 160
)

// Refused counts the texts that found the table full.
func (t *Table) Refused() uint64 { return t.refused }
