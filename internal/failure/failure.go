// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package failure answers: what happens when our own code panics? The panic ends what it belongs to, such as a session, a file, a connection or
// a request, and not the process. In tests, it ends the process, so that no test passes in spite of one.
//
// The runtime ends the process in some cases that cannot be contained: concurrent use of a map, the unlock of a mutex that is not locked, a
// stack overflow, no memory.
package failure

import (
	"fmt"
	"path"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
)

// wanted is whether a test wants panics to be contained.
var wanted atomic.Bool //nolint:gochecknoglobals // see ContainIn

// ContainIn makes Contain do during a test what it does in a program.
func ContainIn(t testing.TB) {
	t.Helper()
	wanted.Store(true)
	t.Cleanup(func() { wanted.Store(false) })
}

// contains reports whether panics are contained. It asks whether this is a test instead of waiting to be switched on or off, so that any program
// that embeds the components contains panics, and no package can forget to make its tests loud.
func contains() bool { return !testing.Testing() || wanted.Load() }

// Panic is a panic that was contained: a defect in Weft.
type Panic struct {
	Value string
	Stack []string // lines of the goroutine's stack, the innermost function first
}

// Limits of what is kept of a panic, which a log line has to hold.
const (
	maxValue = 1 << 10
	maxLines = 100
)

// Error returns what was passed to panic, and the line that did.
func (p *Panic) Error() string {
	text := "panic: " + p.Value
	if len(p.Stack) > 1 {
		line, _, _ := strings.Cut(path.Base(p.Stack[1]), " ")
		text += " (" + line + ")"
	}
	return text
}

// Contain calls do, and returns the panic that ended it; nil if there was none. The caller gives up what do has worked on, since its state is
// unknown. Locks that do takes must be released by defer.
func Contain(do func()) (p *Panic) {
	if contains() {
		defer func() {
			if value := recover(); value != nil {
				p = newPanic(value, string(debug.Stack()))
			}
		}()
	}
	do()
	return nil
}

func newPanic(value any, stack string) *Panic {
	text := fmt.Sprint(value)
	if len(text) > maxValue {
		text = strings.ToValidUTF8(text[:maxValue], "") + "…"
	}
	// The first lines are those of this package and of the runtime, up to the call of panic.
	if _, ours, found := strings.Cut(stack, "\npanic("); found {
		if _, rest, found := strings.Cut(ours, "\n\t"); found {
			_, stack, _ = strings.Cut(rest, "\n")
		}
	}
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(stack, "\t", "")), "\n")
	if len(lines) > maxLines {
		lines = append(lines[:maxLines:maxLines], fmt.Sprintf("%d more lines", len(lines)-maxLines))
	}
	return &Panic{Value: text, Stack: lines}
}
