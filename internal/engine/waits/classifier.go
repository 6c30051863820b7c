// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package waits

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/weft-otel/weft/internal/engine/recent"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Classifier applies rules to the intervals of one session and remembers the results. One goroutine at a time owns it. A nil Classifier
// knows states only.
type Classifier struct {
	rules   *Rules
	sym     *symbols.Table
	classes []classSet // by class; 0: not looked at yet
	kinds   map[kindKey]jvmthread.Wait
	recent  recent.Cache[kindKey, jvmthread.Wait]
	timed   []answer // by stack: timedPark
	returns []answer // by stack: returning
	sites   []*Site  // by stack; nil: not parsed yet
	briefs  []string // by stack; empty: not built yet
	texts   int      // bytes of these, and of the sites
}

// answer is whether a stack has certain frames.
type answer uint8

const (
	notLookedAt answer = iota
	no
	yes
)

// timedPark is the frame of a virtual thread that parks with a timeout. Before Java 24 its length is not known.
const timedPark = "java.lang.VirtualThread.parkNanos("

// kindKey is what a kind depends on. Rules do not distinguish most classes, so there are far fewer combinations than classes.
type kindKey struct {
	class classSet
	stack jvmthread.StackID
	state jvmthread.State
}

// maxKinds bounds the remembered combinations of class and stack. At the limit, the Classifier starts over.
const maxKinds = 1 << 16

// Of returns a Classifier for the session whose names and stacks are in the table. The names must be known when an interval begins.
func (r *Rules) Of(sym *symbols.Table) *Classifier {
	return &Classifier{rules: r, sym: sym, kinds: make(map[kindKey]jvmthread.Wait)}
}

// Or returns the classifier or, if it is nil, one with the default rules for the session whose names are in the table.
func (c *Classifier) Or(sym *symbols.Table) *Classifier {
	if c == nil {
		return NewRules(Config{}).Of(sym)
	}
	return c
}

// Wait returns what the thread of an interval waits for. Whatever the class: who waits for an owner, waits for a lock, unless it is idle. Only
// a task that runs names a thread, too.
func (c *Classifier) Wait(iv *jvmthread.Interval) jvmthread.Wait {
	state := iv.State
	switch {
	case int(state) >= len(own):
		return jvmthread.WaitNone
	case c == nil && state == jvmthread.StateParked && iv.Peer != jvmthread.NoThread:
		return jvmthread.WaitLock
	case c == nil || !own[state].decide:
		return own[state].kind
	}
	kind := c.kind(iv)
	if state == jvmthread.StateParked && iv.Peer != jvmthread.NoThread && kind != jvmthread.WaitFuture && !kind.Idle() {
		return jvmthread.WaitLock
	}
	return kind
}

// kind returns what the rules say of a class and a stack.
func (c *Classifier) kind(iv *jvmthread.Interval) jvmthread.Wait {
	state := iv.State
	k := kindKey{c.class(iv.Lock.Class), iv.Stack, state}
	hash := uint32(k.stack)*31 + uint32(k.class)
	if kind := c.recent.Get(hash, k); kind != jvmthread.WaitNone {
		return kind
	}
	kind, ok := c.kinds[k]
	if !ok {
		if len(c.kinds) >= maxKinds {
			clear(c.kinds)
		}
		kind = c.rules.Kind(state, c.sym.Class(iv.Lock.Class), c.sym.Stack(k.stack))
		c.kinds[k] = kind
	}
	c.recent.Put(hash, k, kind)
	return kind
}

// class returns which classes of the rules match a class.
func (c *Classifier) class(id jvmthread.ClassID) classSet {
	if int(id) < len(c.classes) && c.classes[id] != 0 {
		return c.classes[id]
	}
	set := matchingClasses(c.sym.Class(id))
	if id < maxIDs {
		c.classes = upTo(c.classes, id)
		c.classes[id] = set
	}
	return set
}

// Exclusive reports whether one thread at a time holds a lock of java.util.concurrent of a class; false if that is not known.
func (c *Classifier) Exclusive(class jvmthread.ClassID) bool {
	return c != nil && strings.HasPrefix(c.sym.Class(class), reentrantLock)
}

// queues are the classes on which all that wait for an element wait, and their inner classes.
var queues = []string{"java.util.concurrent.SynchronousQueue", "java.util.concurrent.LinkedTransferQueue"}

// Queue reports whether objects of a class are queues: a pool has one, and each of its waiters waits on that.
func (c *Classifier) Queue(class jvmthread.ClassID) bool {
	if c == nil {
		return false
	}
	return hasPrefix(c.sym.Class(class), queues)
}

// Timed reports whether a virtual thread with this stack parks with a timeout. It may not be known how long that is.
func (c *Classifier) Timed(stack jvmthread.StackID) bool {
	return c != nil && c.has(&c.timed, stack, timedPark)
}

// Returns reports whether a thread with this stack gives an object back to a pool.
func (c *Classifier) Returns(stack jvmthread.StackID) bool {
	return c != nil && c.has(&c.returns, stack, returning...)
}

// has reports whether a stack has one of some frames, and remembers that.
func (c *Classifier) has(known *[]answer, stack jvmthread.StackID, frames ...string) bool {
	if stack == jvmthread.NoStack {
		return false
	}
	if int(stack) < len(*known) && (*known)[stack] != notLookedAt {
		return (*known)[stack] == yes
	}
	found, text := no, c.sym.Stack(stack)
	if slices.ContainsFunc(frames, func(frame string) bool { return strings.Contains(text, frame) }) {
		found = yes
	}
	if stack < maxIDs {
		*known = upTo(*known, stack)
		(*known)[stack] = found
	}
	return found == yes
}

// Site returns the code of a stack that waits. It is valid as long as the Classifier; callers do not change it.
func (c *Classifier) Site(id jvmthread.StackID) *Site {
	if c == nil {
		return new(Site)
	}
	if int(id) < len(c.sites) {
		if s := c.sites[id]; s != nil {
			return s
		}
	}
	site := c.rules.Site(c.sym.Stack(id))
	if id < maxIDs {
		c.sites = upTo(c.sites, id)
		c.sites[id] = &site
		c.texts += int(unsafe.Sizeof(site)) // its texts are parts of the stack
	}
	return &site
}

// Brief returns the text of a stack without the frames between those of the application; see Rules.Brief. c is not nil.
func (c *Classifier) Brief(id jvmthread.StackID) string {
	if int(id) < len(c.briefs) && c.briefs[id] != "" {
		return c.briefs[id]
	}
	text := c.rules.Brief(c.sym.Stack(id))
	if id < maxIDs {
		c.briefs = upTo(c.briefs, id)
		c.briefs[id] = text
		c.texts += len(text)
	}
	return text
}

// Held estimates the bytes in use.
func (c *Classifier) Held() int {
	const perKind, perCached = 40, 24
	if c == nil {
		return 0
	}
	return c.texts + cap(c.timed) + cap(c.returns) + 16*cap(c.briefs) + 8*(cap(c.sites)+cap(c.classes)) + (perKind+4*perCached)*len(c.kinds)
}

// maxIDs bounds the stacks and classes that are remembered. Tables of symbols have fewer.
const maxIDs = 1 << 20

// upTo lengthens a list that is indexed by ID.
func upTo[T any, ID ~uint32](list []T, id ID) []T {
	if n := int(id) + 1 - len(list); n > 0 {
		list = append(list, make([]T, n)...)
	}
	return list
}
