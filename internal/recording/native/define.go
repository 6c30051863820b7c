// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/wire"
)

// set is a set of ids.
type set[T comparable] map[T]struct{}

// add adds an id and reports whether it is new.
func (s set[T]) add(id T) bool {
	if _, ok := s[id]; ok {
		return false
	}
	s[id] = struct{}{}
	return true
}

// define appends the definitions that an event needs and the file lacks.
func (e *Encoder) define(dst []byte, ev *jvmthread.Event) []byte {
	dst = e.thread(dst, ev.Thread)
	dst = e.class(e.thread(dst, ev.Peer), ev.Lock.Class)
	return e.stack(dst, ev.Stack)
}

// class appends the definition of a class unless the file has it.
func (e *Encoder) class(dst []byte, id jvmthread.ClassID) []byte {
	if id == jvmthread.NoClass || !e.classes.add(id) {
		return dst
	}
	return wire.AppendClass(dst, wire.Class{ID: id, Name: e.options.Symbols.Class(id)})
}

// thread appends the definition of a thread unless the file has it: of one defined in an earlier file, or that occurs only as a peer.
func (e *Encoder) thread(dst []byte, id jvmthread.ThreadID) []byte {
	if id == jvmthread.NoThread || len(e.threads) >= maxDefined || !e.threads.add(id) {
		return dst
	}
	th := e.options.Symbols.Thread(id)
	if th == (jvmthread.Thread{ID: id}) {
		return dst
	}
	return wire.AppendThread(dst, th)
}

// methodKey is a line of a method: its frame as text, and the descriptor of the method.
type methodKey struct{ line, descriptor string }

// stack appends the definition of a stack and its methods unless the file has it, if stacks are written. Each line of a method is defined as a
// method of its own, so that line tables have one entry.
func (e *Encoder) stack(dst []byte, id jvmthread.StackID) []byte {
	if id == jvmthread.NoStack || !e.options.Stacks || !e.stacks.add(id) {
		return dst
	}
	stack, code := wire.Stack{ID: id}, e.options.Symbols.Code(id)
	for line := range strings.Lines(e.options.Symbols.Stack(id)) {
		line = strings.TrimSuffix(line, "\n")
		if line == symbols.Truncated {
			stack.Truncated = true
			continue
		}
		if name, ok := symbols.ParseLock(line); ok {
			if n := len(stack.Frames); n > 0 && stack.Lock == "" {
				stack.Lock, stack.LockFrame = name, uint16(n-1)
			}
			continue
		}
		frame, ok := symbols.ParseFrame(line)
		if !ok {
			frame = jvmthread.Frame{Method: line}
		}
		descriptor, bci, _ := code.Next()
		key := methodKey{line, descriptor}
		method, ok := e.methods[key]
		if !ok {
			method = wire.MethodID(len(e.methods) + 1)
			e.methods[key] = method
			dst = e.method(dst, method, &frame, descriptor)
		}
		if bci = max(0, bci); frame.Line < 0 {
			bci = -1
		}
		stack.Frames = append(stack.Frames, wire.StackFrame{Method: method, BCI: bci})
	}
	return wire.AppendStack(dst, &stack)
}

func (e *Encoder) method(dst []byte, id wire.MethodID, frame *jvmthread.Frame, descriptor string) []byte {
	class, ok := e.names[frame.Class]
	if !ok {
		class = frameClasses + jvmthread.ClassID(len(e.names))
		e.names[frame.Class] = class
		dst = wire.AppendClass(dst, wire.Class{ID: class, Name: frame.Class})
	}
	m := wire.Method{ID: id, Class: class, Name: frame.Method, Signature: descriptor, File: frame.File}
	if frame.Line > 0 {
		m.Lines = []wire.Line{{Number: uint32(frame.Line)}}
	}
	return wire.AppendMethod(dst, &m)
}
