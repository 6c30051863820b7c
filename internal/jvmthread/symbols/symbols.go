// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package symbols maps the ids of one session to texts: names of classes and threads, and stacks. Each component interns the texts that it
// reads and has ids of its own. A Table belongs to one goroutine at a time.
package symbols

import (
	"maps"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Limits bound a table. Texts over a limit get the zero id and are counted.
type Limits struct {
	Classes int // default 65 536
	Stacks  int // default 65 536
	Threads int // default 131 072. Of virtual threads, between this and twice as many of the most recently used are kept
	Bytes   int // of all texts: classes, stacks, names and groups of threads; default 64 MiB
}

// maxText is the length at which texts are cut. A stack of 128 frames has about 10 KB.
const maxText = 1 << 16

// DefaultLimits are ten times what any measured JVM needed: 65 536 stacks of 1 KB are 64 MB.
func DefaultLimits() Limits {
	return Limits{Classes: 1 << 16, Stacks: 1 << 16, Threads: 1 << 17, Bytes: 64 << 20}
}

// Table holds the names of classes, the texts of stacks and the descriptions of threads.
type Table struct {
	limits  Limits
	classes texts[jvmthread.ClassID]
	stacks  texts[jvmthread.StackID]
	lengths []int32                                 // by stack: of its text without the places in the bytecode
	threads map[jvmthread.ThreadID]jvmthread.Thread // platform threads
	recent  map[jvmthread.ThreadID]jvmthread.Thread // virtual threads used since the last turn
	before  map[jvmthread.ThreadID]jvmthread.Thread // virtual threads used in the turn before
	most    [3]int                                  // entries of these maps since they were made: a map never shrinks
	turns   uint64
	bytes   int
	refused uint64
}

// texts numbers the texts of one kind from 1. Number 0 is the empty text.
type texts[ID ~uint32] struct {
	list []string
	ids  map[string]ID
}

func newTexts[ID ~uint32]() texts[ID] {
	return texts[ID]{list: []string{""}, ids: map[string]ID{"": 0}}
}

// at returns the text with an id, or "".
func (x *texts[ID]) at(id ID) string {
	if int(id) < len(x.list) {
		return x.list[id]
	}
	return ""
}

// intern returns the id of a text, a new one if necessary, or 0 if the table is full.
func intern[ID ~uint32](t *Table, x *texts[ID], limit int, text string) ID {
	text = cut(text)
	if id, ok := x.ids[text]; ok {
		return id
	}
	if len(x.list) > limit || t.bytes+len(text) > t.limits.Bytes {
		t.refused++
		return 0
	}
	t.bytes += len(text)
	id := ID(len(x.list))
	x.list = append(x.list, text)
	x.ids[text] = id
	return id
}

// New returns an empty table.
func New(limits Limits) *Table {
	return &Table{
		limits:  limits,
		classes: newTexts[jvmthread.ClassID](),
		stacks:  newTexts[jvmthread.StackID](),
		lengths: []int32{0},
		threads: make(map[jvmthread.ThreadID]jvmthread.Thread),
		recent:  make(map[jvmthread.ThreadID]jvmthread.Thread),
	}
}

// InternClass returns the id of the class with this name, a new one if necessary, or NoClass if the table is full.
func (t *Table) InternClass(name string) jvmthread.ClassID {
	return intern(t, &t.classes, t.limits.Classes, name)
}

// InternStack returns the id of the stack with this text, one frame a line, innermost first, or NoStack if the table is full. Places in the
// bytecode may follow, see Code.
func (t *Table) InternStack(text string) jvmthread.StackID {
	id := intern(t, &t.stacks, t.limits.Stacks, text)
	if int(id) == len(t.lengths) {
		t.lengths = append(t.lengths, int32(textLength(t.stacks.at(id))))
	}
	return id
}

// InternClassText is InternClass for a name that may be invalid UTF-8. It does not copy a name that is known. It is faster if likely, which
// may be any ID, is the result.
func (t *Table) InternClassText(name []byte, likely jvmthread.ClassID) jvmthread.ClassID {
	if len(name) > 0 && t.classes.at(likely) == string(name) {
		return likely
	}
	if id, ok := t.classes.ids[string(name)]; ok {
		return id
	}
	return t.InternClass(strings.ToValidUTF8(string(name), "\uFFFD"))
}

// InternStackText is InternStack for a text that may be invalid UTF-8, like InternClassText.
func (t *Table) InternStackText(text []byte, likely jvmthread.StackID) jvmthread.StackID {
	if len(text) > 0 && t.stacks.at(likely) == string(text) {
		return likely
	}
	if id, ok := t.stacks.ids[string(text)]; ok {
		return id
	}
	return t.InternStack(strings.ToValidUTF8(string(text), "\uFFFD"))
}

func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "")
}

// SetThread replaces the description of a thread. It reports whether there was room. Of virtual threads, whose end is often not reported, the
// least recently used are dropped.
func (t *Table) SetThread(th jvmthread.Thread) bool {
	th.Name, th.Group, th.Foreign = cut(th.Name), cut(th.Group), cut(th.Foreign)
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
		t.most[0] = max(t.most[0], len(t.threads))
	}
	return true
}

// find returns the description of a thread, and marks a virtual one as recently used.
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

// hear marks a virtual thread as recently used. When there are too many, those not used since the last turn are dropped.
func (t *Table) hear(th jvmthread.Thread) {
	if len(t.recent) >= t.limits.Threads {
		for _, old := range t.before {
			t.bytes -= textOf(&old)
		}
		t.recent, t.before = make(map[jvmthread.ThreadID]jvmthread.Thread), t.recent
		t.most[1], t.most[2] = 0, t.most[1]
		t.turns++
	}
	t.recent[th.ID] = th
	t.most[1] = max(t.most[1], len(t.recent))
}

// Turns counts how often virtual threads were dropped.
func (t *Table) Turns() uint64 { return t.turns }

// DropThread drops a thread that has ended and is no longer used.
func (t *Table) DropThread(id jvmthread.ThreadID) {
	for i, list := range [...]*map[jvmthread.ThreadID]jvmthread.Thread{&t.threads, &t.recent, &t.before} {
		th, ok := (*list)[id]
		if !ok {
			continue
		}
		t.bytes -= textOf(&th)
		delete(*list, id)
		if n := len(*list); t.most[i] > fewThreads && n < t.most[i]/4 {
			smaller := make(map[jvmthread.ThreadID]jvmthread.Thread, n)
			maps.Copy(smaller, *list)
			*list, t.most[i] = smaller, n
		}
	}
}

// fewThreads is the size up to which a map of threads is not worth shrinking or counting exactly.
const fewThreads = 64

func textOf(th *jvmthread.Thread) int { return len(th.Name) + len(th.Group) + len(th.Foreign) }

// Class returns the name with an id, or "".
func (t *Table) Class(id jvmthread.ClassID) string { return t.classes.at(id) }

// Stack returns the text with an id, or "", without the places in the bytecode.
func (t *Table) Stack(id jvmthread.StackID) string {
	if int(id) < len(t.lengths) {
		return t.stacks.at(id)[:t.lengths[id]]
	}
	return ""
}

// Whole returns the text with an id as it was interned.
func (t *Table) Whole(id jvmthread.StackID) string { return t.stacks.at(id) }

// Code returns the places in the bytecode of a stack's frames.
func (t *Table) Code(id jvmthread.StackID) (c Code) {
	if text := t.stacks.at(id); len(text) > len(t.Stack(id)) {
		c.rest = text[int(t.lengths[id])+len(codeLine):]
	}
	return c
}

// Thread returns the description of a thread, whose name is empty if the thread is unknown.
func (t *Table) Thread(id jvmthread.ThreadID) jvmthread.Thread {
	if th, ok := t.find(id); ok {
		return th
	}
	return jvmthread.Thread{ID: id}
}

// Platform calls yield for each platform thread, in no particular order.
func (t *Table) Platform(yield func(jvmthread.Thread) bool) {
	for _, th := range t.threads {
		if !yield(th) {
			return
		}
	}
}

// Held estimates the table's size in bytes.
func (t *Table) Held() int {
	threads := 0
	for i, list := range [...]map[jvmthread.ThreadID]jvmthread.Thread{t.threads, t.recent, t.before} {
		if t.most[i] > fewThreads {
			threads += t.most[i]
		} else {
			threads += len(list)
		}
	}
	return t.bytes + PerText*(len(t.classes.list)+len(t.stacks.list)) + PerThread*threads
}

// The bytes of an entry without its text: map and slice entries.
const (
	PerText   = 64
	PerThread = 144
)

// Refused returns the number of texts refused because the table was full.
func (t *Table) Refused() uint64 { return t.refused }
