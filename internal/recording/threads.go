// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"maps"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Thread is a decoder's state of a thread in the recording.
type Thread struct {
	ID          jvmthread.ThreadID
	Ended       bool
	Started     bool               // has started to run or has acted
	Joins       jvmthread.ThreadID // the thread it is joining
	Sleeps      bool
	Interrupted bool // was interrupted and has not reacted yet
	Named       int  // events that named it as their peer before it had a name
}

// Threads assigns ids to the threads of a recording. Formats that identify threads by a hash code or an address may reuse one after the
// first thread has ended; the second thread then gets an id of its own.
type Threads struct {
	byName map[uint64]*Thread
	next   uint64 // counts New
}

// MaxThreads limits the threads that a decoder remembers. At the limit it forgets those that have ended, or all of them if few have.
const MaxThreads = 1 << 17

// firstNew is the base of the ids of New: above all hash codes, below the largest id that fits into an attribute.
const firstNew = 1 << 33

// Find returns the thread with a name, adding it if necessary. Names are numbers other than 0.
func (t *Threads) Find(name uint64) *Thread {
	if th := t.byName[name]; th != nil {
		return th
	}
	return t.Bind(name, &Thread{ID: jvmthread.ThreadID(name)})
}

// Known returns the thread with a name, or nil.
func (t *Threads) Known(name uint64) *Thread { return t.byName[name] }

// Begin returns the thread with a name that starts, or is started, now.
func (t *Threads) Begin(name uint64) *Thread {
	th := t.Find(name)
	if !th.Ended {
		return th
	}
	return t.Bind(name, t.New())
}

// New returns a thread without a name.
func (t *Threads) New() *Thread {
	t.next++
	return &Thread{ID: jvmthread.ThreadID(firstNew + t.next)}
}

// Bind gives a thread a name, and returns the thread.
func (t *Threads) Bind(name uint64, th *Thread) *Thread {
	if t.byName == nil {
		t.byName = make(map[uint64]*Thread)
	}
	if _, ok := t.byName[name]; !ok && len(t.byName) >= MaxThreads {
		t.forget()
	}
	t.byName[name] = th
	return th
}

func (t *Threads) forget() {
	before := len(t.byName)
	maps.DeleteFunc(t.byName, func(_ uint64, th *Thread) bool { return th.Ended })
	if len(t.byName) > before*3/4 {
		clear(t.byName)
	}
}
