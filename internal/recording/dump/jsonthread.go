// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// member is a thread in JSON. Thread.dump_to_file writes the properties before ThreadID, those of a ThreadInfo of java.lang.management are the others.
type member struct {
	TID         scalar   `json:"tid"`
	Name        string   `json:"name"`
	Virtual     scalar   `json:"virtual"`
	State       string   `json:"state"`
	BlockedOn   string   `json:"blockedOn"`
	WaitingOn   string   `json:"waitingOn"`
	ParkBlocker blocker  `json:"parkBlocker"`
	Stack       []string `json:"stack"`
	Monitors    []struct {
		Depth scalar   `json:"depth"`
		Locks []string `json:"locks"`
	} `json:"monitorsOwned"`

	ThreadID       scalar         `json:"threadId"`
	ThreadName     string         `json:"threadName"`
	ThreadState    string         `json:"threadState"`
	Daemon         scalar         `json:"daemon"`
	LockName       string         `json:"lockName"`
	LockOwnerID    scalar         `json:"lockOwnerId"`
	LockOwnerName  string         `json:"lockOwnerName"`
	LockInfo       lockInfo       `json:"lockInfo"`
	StackTrace     []stackElement `json:"stackTrace"`
	LockedMonitors []lockInfo     `json:"lockedMonitors"`
	Synchronizers  []lockInfo     `json:"lockedSynchronizers"`
}

// scalar is the text of a number, a string or a boolean: versions of the JDK write the same property in different ways.
type scalar string

// UnmarshalJSON implements json.Unmarshaler.
func (s *scalar) UnmarshalJSON(text []byte) error {
	*s = scalar(bytes.Trim(text, `"`))
	return nil
}

// blocker is what a thread parks for: the object, or an object that has it.
type blocker struct{ Object, Owner scalar }

// UnmarshalJSON implements json.Unmarshaler.
func (b *blocker) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, &b.Object)
	}
	type plain blocker
	return json.Unmarshal(text, (*plain)(b))
}

// lockInfo is a java.lang.management.LockInfo or MonitorInfo.
type lockInfo struct {
	ClassName string `json:"className"`
	Hash      uint32 `json:"identityHashCode"`
	Depth     scalar `json:"lockedStackDepth"`
}

func (l *lockInfo) text() string {
	if l.ClassName == "" {
		return ""
	}
	return l.ClassName + "@" + strconv.FormatUint(uint64(l.Hash), 16)
}

// stackElement is a java.lang.StackTraceElement.
type stackElement struct {
	Class  string `json:"className"`
	Method string `json:"methodName"`
	File   string `json:"fileName"`
	Line   int    `json:"lineNumber"` // -2: native
}

func (e *stackElement) text() string {
	source := e.File
	switch {
	case e.Line == -2:
		source = "Native Method"
	case e.Line > 0:
		source += ":" + strconv.Itoa(e.Line)
	}
	return e.Class + "." + e.Method + "(" + source + ")"
}

// build builds the thread. ok is false if it is none.
func (m *member) build(b *builder) (t thread, ok bool) {
	h := header{name: m.Name + m.ThreadName, id: number(string(m.TID + m.ThreadID)), virtual: m.Virtual == "true", daemon: m.Daemon == "true"}
	if h.id == 0 {
		return t, false
	}
	stack := m.Stack
	for i := range m.StackTrace {
		stack = append(stack, m.StackTrace[i].text())
	}
	h.virtual = h.virtual || slices.ContainsFunc(stack, func(frame string) bool { return strings.HasPrefix(frame, virtualRun) })
	b.begin(&h)
	b.setState(m.State + m.ThreadState)
	locks := m.locks()
	for depth, frame := range stack {
		if !strings.ContainsAny(frame, "\r\n") {
			b.frame(frame)
		}
		b.holdAll(locks[depth])
	}
	b.holdAll(locks[unknownDepth])
	for _, object := range [...]string{m.BlockedOn, m.WaitingOn, string(m.ParkBlocker.Object), m.LockName, m.LockInfo.text()} {
		if l, ok := parseLock(object); ok {
			b.await(&l)
		}
	}
	b.thread.owner = owner{id: number(string(m.ParkBlocker.Owner + m.LockOwnerID)), name: b.name(m.LockOwnerName)}
	return b.end()
}

// virtualRun is a frame of each virtual thread. JDKs before 24 do not mark them otherwise.
const virtualRun = "java.base/java.lang.VirtualThread.run("

// unknownDepth is the depth of locks that belong to no frame.
const unknownDepth = -1

// locks returns the objects that the thread locked, by the depth of the frame.
func (m *member) locks() map[int][]string {
	if len(m.Monitors)+len(m.LockedMonitors)+len(m.Synchronizers) == 0 {
		return nil
	}
	locks := make(map[int][]string)
	add := func(depth scalar, object string) {
		n, err := strconv.Atoi(string(depth))
		if err != nil || n < 0 {
			n = unknownDepth
		}
		locks[n] = append(locks[n], object)
	}
	for _, at := range m.Monitors {
		for _, object := range at.Locks {
			add(at.Depth, object)
		}
	}
	for i := range m.LockedMonitors {
		add(m.LockedMonitors[i].Depth, m.LockedMonitors[i].text())
	}
	for i := range m.Synchronizers {
		add("", m.Synchronizers[i].text())
	}
	return locks
}

// holdAll takes objects that the thread locked in the last frame.
func (b *builder) holdAll(objects []string) {
	for _, object := range objects {
		if l, ok := parseLock(object); ok {
			b.hold(&l)
		}
	}
}
