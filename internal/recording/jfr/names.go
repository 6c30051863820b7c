// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"math"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// names translates the constant keys of one chunk to ids of the session's symbols, on demand.
type names struct {
	*constants

	symbols   *symbols.Table
	stackIDs  byKey[stackID]
	classIDs  byKey[jvmthread.ClassID]
	threadIDs byKey[threadID]
	define    func(jvmthread.Thread) // called once per chunk for each thread
	stackText symbols.StackBuilder
	brief     bool // only threads and times
	paused    bool // the thread of pauses is defined

	undefined int // classes and stacks to which events refer, and which the chunk does not define completely
}

// threadID is a thread, NoThread if it is not one of Java.
type threadID struct {
	id        jvmthread.ThreadID
	virtual   bool
	undefined bool
}

// stackID is a stack and the call of its innermost frames.
type stackID struct {
	id   jvmthread.StackID
	call call
}

// call is a method of the JDK on top of a stack.
type call uint8

const (
	callOther     call = iota
	callWait           // Object.wait
	callJoin           // Thread.join, by waiting
	callNotifyAll      // Object.notifyAll
)

func newNames(c *constants, sym *symbols.Table, define func(jvmthread.Thread)) *names {
	return &names{constants: c, symbols: sym, define: define}
}

// className returns a name as Class.getName does.
func (n *names) className(key int64) string {
	return strings.ReplaceAll(n.text(n.classes[key]), "/", ".")
}

func (n *names) class(key int64) jvmthread.ClassID {
	if key == 0 {
		return jvmthread.NoClass
	}
	if id, ok := n.classIDs.get(key); ok {
		return id
	}
	name := n.className(key)
	if name == "" {
		n.undefined++
	}
	id := n.symbols.InternClass(name)
	n.classIDs.set(key, id)
	return id
}

// thread returns the Java thread with a key.
func (n *names) thread(key int64) threadID {
	if key <= 0 {
		return threadID{}
	}
	if known, ok := n.threadIDs.get(key); ok {
		return known
	}
	th, ok := n.threads[key]
	if !ok && n.keysAreIDs && len(n.threads) > 0 {
		th.id, ok = key, true
	}
	found := threadID{virtual: th.virtual, undefined: !ok}
	if th.id > 0 {
		found.id = jvmthread.ThreadID(th.id)
		name := n.text(th.name)
		if name == "" && !th.virtual {
			name = n.text(th.osName)
		}
		n.define(jvmthread.Thread{ID: found.id, Name: name, Group: n.text(n.groups[th.group].name), Virtual: th.virtual})
	}
	n.threadIDs.set(key, found)
	return found
}

// stack returns the stack with a key.
func (n *names) stack(key int64) stackID {
	if key <= 0 {
		return stackID{}
	}
	if s, ok := n.stackIDs.get(key); ok {
		return s
	}
	var s stackID
	complete := false
	if body, ok := n.stacks[key]; ok && n.trace != nil {
		s, complete = n.format(body)
	}
	if !complete {
		n.undefined++
	}
	n.stackIDs.set(key, s)
	return s
}

// format formats a stack, and reports whether all its methods are defined.
func (n *names) format(body []byte) (s stackID, complete bool) {
	var v values
	cur := &cursor{b: body, raw: n.raw}
	n.trace.readAll(cur, &v)
	cut, count := v.n[slotCut] != 0, int(v.n[slotFrames])
	elements, frame := v.array, v.of
	n.stackText.Begin()
	complete = true
	var top [3]string
	for i := range count {
		frame.readAll(&elements, &v)
		m, ok := n.methods[v.n[slotMethod]]
		complete = complete && ok
		class, method := n.className(m.class), n.text(m.name)
		if !n.addFrame(class, method, n.text(m.descriptor), &v) {
			cut = true
			break
		}
		if i < len(top) {
			top[i] = class + "." + method
		}
	}
	s.id = n.symbols.InternStack(n.stackText.End(cut))
	s.call = callOf(top[:])
	return s, complete
}

// addFrame adds a frame. Recordings have line numbers, but no source file names.
func (n *names) addFrame(class, method, descriptor string, v *values) bool {
	line := int(min(max(0, v.n[slotLine]), math.MaxInt32))
	if n.native != 0 && v.n[slotKind] == n.native {
		line = -1
	}
	function := "unknown"
	if class != "" {
		function = class + "." + method
	}
	added := n.stackText.Add(function, "", line)
	if added && class != "" {
		index := int32(-1)
		if line >= 0 {
			index = int32(min(max(0, v.n[slotIndex]), math.MaxInt32))
		}
		n.stackText.AddCode(descriptor, index)
	}
	return added
}

// callOf returns the call of the innermost frames: join calls wait(), which calls wait(long), which calls wait0(long).
func callOf(top []string) call {
	for i, name := range top {
		switch {
		case name == "java.lang.Object.notifyAll":
			return callNotifyAll
		case name == "java.lang.Thread.join" && i > 0:
			return callJoin
		case name != "java.lang.Object.wait" && name != "java.lang.Object.wait0":
			if i == 0 {
				return callOther
			}
			return callWait
		}
	}
	return callWait
}
