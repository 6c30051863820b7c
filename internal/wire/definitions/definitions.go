// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package definitions answers: what do the IDs in an agent's stream refer to? It interns the texts that frames define, within limits, and
// maps the agent's IDs to those of a symbol table.
package definitions

import (
	"math"
	"sort"
	"time"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/wire"
)

// Limits for the definitions of one agent. Definitions beyond them are refused; events then lack names.
const (
	maxID         = 1 << 20  // of classes and stacks
	maxMethods    = 1 << 17  // more methods than appear on the stacks of any program
	maxMethodText = 64 << 20 // bytes of all names and descriptors of methods and line tables; the symbol table limits the rest
	lineSize      = 8        // bytes of a line table entry
)

// Table resolves an agent's IDs. It must not be used concurrently.
type Table struct {
	Symbols *symbols.Table

	described described
	turns     uint64 // turns of Symbols when described was last valid

	// Valid for one connection: the agent sends them again on the next one.
	classes    []jvmthread.ClassID // by the agent's ID: that of Symbols plus one; 0: not defined
	stacks     []jvmthread.StackID // the same
	methods    map[wire.MethodID]method
	methodText int

	budget *budget.Budget
	taken  int // from the budget

	scratch wire.Method
	frames  wire.Stack
	text    symbols.StackBuilder
}

type method struct {
	name       string // qualified with the class
	descriptor string
	file       string
	lines      []wire.Line
}

// New returns an empty table that interns texts in sym.
func New(sym *symbols.Table) *Table { return NewWithin(sym, nil) }

// NewWithin returns a table that takes its memory from b, until Release. Only the table may intern texts in sym.
func NewWithin(sym *symbols.Table, b *budget.Budget) *Table {
	return &Table{Symbols: sym, budget: b, methods: make(map[wire.MethodID]method)}
}

// Reset removes IDs, but not texts.
func (d *Table) Reset() {
	d.classes, d.stacks = nil, nil
	d.methods = make(map[wire.MethodID]method) // clear keeps the memory
	d.methodText = 0
	d.settle()
}

// Define processes a definition, or reports that it exceeds a limit. It takes memory from the budget before it uses it.
func (d *Table) Define(frame wire.Frame) (refused bool, err error) {
	defined := false
	switch frame.Kind {
	case wire.FrameThread:
		var th jvmthread.Thread
		th, err = frame.Thread()
		defined = err == nil && d.take(symbols.PerThread+rounding+len(th.Name)+len(th.Group)+len(th.Foreign)) && d.defineThread(th)
	case wire.FrameClass:
		var class wire.Class
		class, err = frame.Class()
		defined = err == nil && d.defineClass(class)
	case wire.FrameMethod:
		err = frame.Method(&d.scratch)
		defined = err == nil && d.defineMethod(&d.scratch)
	default:
		err = frame.Stack(&d.frames)
		defined = err == nil && d.defineStack(&d.frames)
	}
	const keep = 1 << 10 // lines of a method, frames of a stack
	if cap(d.scratch.Lines) > keep || cap(d.frames.Frames) > keep {
		d.scratch, d.frames = wire.Method{}, wire.Stack{}
	}
	d.settle()
	return err == nil && !defined, err
}

func (d *Table) defineThread(th jvmthread.Thread) bool {
	if !d.Symbols.SetThread(th) {
		return false
	}
	d.described.set(th.ID, 0)
	return true
}

// describeEvery is how often a description is sent again: a component that starts later, or that has missed a batch, lacks names for that long.
const describeEvery = jvmthread.Time(10 * time.Second)

// IsNews reports whether a thread has a description that was not sent downstream in the last ten seconds before a time.
func (d *Table) IsNews(id jvmthread.ThreadID, at jvmthread.Time) bool {
	if turns := d.Symbols.Turns(); turns != d.turns {
		d.turns = turns
		d.described.clear() // Symbols may have dropped some threads; the others are described once more
	}
	if last := d.described.at(id); last != 0 {
		return at-last >= describeEvery // it has a description, or this would have been forgotten
	}
	return d.Symbols.Thread(id) != jvmthread.Thread{ID: id}
}

// Described records when the description of a thread was sent downstream. Without memory for that, it is sent again with each batch.
func (d *Table) Described(id jvmthread.ThreadID, at jvmthread.Time) {
	need := d.described.need(id)
	if need == 0 {
		d.described.set(id, at)
	} else if d.take(need) {
		d.described.set(id, at)
		d.settle()
	}
}

// Forget records that the description of a thread has changed.
func (d *Table) Forget(id jvmthread.ThreadID) { d.described.set(id, 0) }

// DropThread removes a thread that has ended.
func (d *Table) DropThread(id jvmthread.ThreadID) {
	d.Symbols.DropThread(id)
	d.described.set(id, 0)
	d.settle()
}

func (d *Table) defineClass(class wire.Class) bool {
	if class.ID > maxID {
		return false
	}
	if !d.take(symbols.PerText + rounding + len(class.Name) + perID*growth(d.classes, int(class.ID)+1)) {
		return false
	}
	id := d.Symbols.InternClass(class.Name)
	d.classes = put(d.classes, int(class.ID), id+1)
	return id != jvmthread.NoClass || class.Name == ""
}

func (d *Table) defineMethod(m *wire.Method) bool {
	old, again := d.methods[m.ID]
	if !again && len(d.methods) >= maxMethods {
		return false
	}
	name := m.Name
	if id, _ := resolve(d.classes, m.Class); id != jvmthread.NoClass {
		name = d.Symbols.Class(id) + "." + name
	}
	fresh := method{name: name, descriptor: m.Signature, file: m.File}
	more := fresh.size() + lineSize*len(m.Lines) - old.size()
	if d.methodText+more > maxMethodText || !d.take(perMethod+max(0, more)) {
		return false
	}
	d.methodText += more
	fresh.lines = append([]wire.Line(nil), m.Lines...)
	d.methods[m.ID] = fresh
	return true
}

func (m *method) size() int {
	return len(m.name) + len(m.descriptor) + len(m.file) + lineSize*len(m.lines)
}

func (d *Table) defineStack(s *wire.Stack) bool {
	if s.ID > maxID {
		return false
	}
	text := d.format(s)
	if !d.take(symbols.PerText + rounding + len(text) + perID*growth(d.stacks, int(s.ID)+1)) {
		return false
	}
	id := d.Symbols.InternStack(text)
	d.stacks = put(d.stacks, int(s.ID), id+1)
	return id != jvmthread.NoStack || text == ""
}

// Resolve replaces an agent's IDs of a class and a stack by those of Symbols, and reports whether both are defined; an ID of 0 is. What is not
// defined becomes NoClass or NoStack.
func (d *Table) Resolve(class *jvmthread.ClassID, stack *jvmthread.StackID) (defined bool) {
	var hasClass, hasStack bool
	*class, hasClass = resolve(d.classes, *class)
	*stack, hasStack = resolve(d.stacks, *stack)
	return hasClass && hasStack
}

func resolve[ID ~uint32](list []ID, id ID) (_ ID, defined bool) {
	switch {
	case id == 0:
		return 0, true
	case int(id) < len(list) && list[id] != 0:
		return list[id] - 1, true
	}
	return 0, false
}

// format formats a stack like the JVM.
func (d *Table) format(s *wire.Stack) string {
	d.text.Begin()
	for i, f := range s.Frames {
		if !d.addFrame(f) {
			s.Truncated = true
			break
		}
		if i == int(s.LockFrame) {
			d.text.AddLock(s.Lock)
		}
	}
	return d.text.End(s.Truncated)
}

func (d *Table) addFrame(f wire.StackFrame) bool {
	m, ok := d.methods[f.Method]
	if !ok {
		return d.text.Add("unknown", "", 0)
	}
	line := -1
	if f.BCI >= 0 {
		line = int(m.lineAt(uint32(f.BCI)))
	}
	added := d.text.Add(m.name, m.file, line)
	if added {
		d.text.AddCode(m.descriptor, max(-1, f.BCI))
	}
	return added
}

// lineAt returns the source line of a bytecode index, or 0.
func (m *method) lineAt(bci uint32) uint32 {
	i := sort.Search(len(m.lines), func(i int) bool { return m.lines[i].Start > bci })
	if i == 0 || m.lines[i-1].Number > math.MaxInt32 {
		return 0
	}
	return m.lines[i-1].Number
}
