// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/wire"
)

// define appends what an event names and the file does not have yet.
func (e *Encoder) define(dst []byte, ev *jvmthread.Event) []byte {
	dst = e.thread(dst, ev.Thread)
	dst = e.class(e.thread(dst, ev.Peer), ev.Lock.Class)
	return e.stackOf(dst, ev.Stack)
}

// class appends the definition of a class that the file does not have yet.
func (e *Encoder) class(dst []byte, id jvmthread.ClassID) []byte {
	if _, ok := e.classes[id]; ok || id == jvmthread.NoClass {
		return dst
	}
	e.classes[id] = struct{}{}
	return wire.AppendClass(dst, wire.Class{ID: id, Name: e.options.Symbols.Class(id)})
}

// stackOf appends the definition of a stack that the file does not have yet, if stacks are written.
func (e *Encoder) stackOf(dst []byte, id jvmthread.StackID) []byte {
	if _, ok := e.stacks[id]; ok || id == jvmthread.NoStack || !e.options.Stacks {
		return dst
	}
	e.stacks[id] = struct{}{}
	return e.stack(dst, id)
}

// thread appends the definition of a thread that this file has not had: of one that another file had, or that has only peers.
func (e *Encoder) thread(dst []byte, id jvmthread.ThreadID) []byte {
	if _, ok := e.threads[id]; ok || id == jvmthread.NoThread || len(e.threads) >= maxTold {
		return dst
	}
	th := e.options.Symbols.Thread(id)
	e.threads[id] = th
	if th == (jvmthread.Thread{ID: id}) {
		return dst
	}
	return wire.AppendThread(dst, th)
}

// stack appends a stack, and before it the methods of its frames. A method stands for one line of one, so that no line tables are needed.
func (e *Encoder) stack(dst []byte, id jvmthread.StackID) []byte {
	stack := wire.Stack{ID: id}
	for line := range strings.Lines(e.options.Symbols.Stack(id)) {
		line = strings.TrimSuffix(line, "\n")
		if line == symbols.Truncated {
			stack.Truncated = true
			continue
		}
		frame, ok := symbols.ParseFrame(line)
		if !ok {
			frame = jvmthread.Frame{Method: line}
		}
		method, ok := e.methods[line]
		if !ok {
			method = wire.MethodID(len(e.methods) + 1)
			e.methods[line] = method
			dst = e.method(dst, method, &frame)
		}
		bci := int32(0)
		if frame.Line < 0 {
			bci = -1
		}
		stack.Frames = append(stack.Frames, wire.StackFrame{Method: method, BCI: bci})
	}
	return wire.AppendStack(dst, &stack)
}

func (e *Encoder) method(dst []byte, id wire.MethodID, frame *jvmthread.Frame) []byte {
	class, ok := e.names[frame.Class]
	if !ok {
		class = frameClasses + jvmthread.ClassID(len(e.names))
		e.names[frame.Class] = class
		dst = wire.AppendClass(dst, wire.Class{ID: class, Name: frame.Class})
	}
	m := wire.Method{ID: id, Class: class, Name: frame.Method, File: frame.File}
	if frame.Line > 0 {
		m.Lines = []wire.Line{{Number: uint32(frame.Line)}}
	}
	return wire.AppendMethod(dst, &m)
}
