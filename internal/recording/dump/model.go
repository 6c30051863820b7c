// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// dump is the threads of a JVM at a moment.
type dump struct {
	at      jvmthread.Time // NoTime: not stated
	pid     uint32         // 0: not stated
	jvm     string         // as the dump calls it: "OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode)"
	threads []thread
	whole   bool              // it has an end
	owners  map[uint64]string // by address of a lock: the name of its owner, as the JVM states for a deadlock
}

// condition is what a thread does at the moment of a dump.
type condition uint8

const (
	conditionUnknown condition = iota
	conditionRuns
	conditionCalls // native code that waits for data, a connection or a process
	conditionBlocked
	conditionWaits // in Object.wait
	conditionJoins
	conditionParked
	conditionSleeps
)

// object is a lock, or what else a thread waits for.
type object struct {
	address uint64 // or the identity hash code; 0: not stated
	class   jvmthread.ClassID
}

// thread is one thread of a dump.
type thread struct {
	id      uint64 // Java's; 0: not stated
	native  uint64 // address of the JVM's own structure; 0: not stated
	name    string
	cpu     time.Duration // 0: not stated
	stack   jvmthread.StackID
	awaits  object
	owner   owner    // of the object, if the dump states it
	holds   []object // in the order of the frames, then synchronizers
	inits   []string // classes that it initializes, while others of the dump wait for such
	awaited string   // the class whose initialization it waits for
	is      condition
	daemon  bool
	virtual bool
}

// owner is a thread that the dump states to own what another one waits for.
type owner struct {
	id     uint64
	native uint64
	name   string
}

// key identifies a thread in the dumps of a JVM.
type key struct {
	id, native uint64
	name       string
}

func (t *thread) key() key {
	if t.id != 0 {
		return key{id: t.id}
	}
	return key{native: t.native, name: t.name}
}

// add adds a thread, up to one more than all dumps may have: that is reported.
func (d *dump) add(t *thread) {
	if len(d.threads) <= maxThreads {
		d.threads = append(d.threads, *t)
	}
}

// distinguish numbers threads of the same name about which a dump, like one of IntelliJ, says nothing else that differs.
func (d *dump) distinguish() {
	same := make(map[string]uint64)
	for i := range d.threads {
		if t := &d.threads[i]; t.id == 0 && t.native == 0 {
			same[t.name]++
			t.native = same[t.name]
		}
	}
}

// isFree reports whether a thread has released the monitor of an object that a frame says it locked: it waits to be notified.
func (t *thread) isFree(o object) bool {
	return o == t.awaits && (t.is == conditionWaits || t.is == conditionJoins || t.is == conditionBlocked)
}
