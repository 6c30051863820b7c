// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import "github.com/weft-otel/weft/internal/jvmthread"

// Thread is what a decoder remembers of a thread of the recording.
type Thread struct {
	ID      jvmthread.ThreadID
	Ended   bool
	Started bool               // it has begun to run, or has done something
	Joins   jvmthread.ThreadID // the thread whose end it waits for at the moment
	Sleeps  bool
	// Interrupted: it was interrupted, and nothing has come of it yet.
	Interrupted bool
}

// Threads gives the threads of a recording their ids. Formats that name threads by a hash code or an address can use a name again
// for another thread once the first has ended; then that one gets an id of its own.
type Threads struct {
	byName map[uint64]*Thread
	next   uint64 // counts names used again
}

// MaxThreads bounds the threads that a recording's decoder remembers. When there are more, those that ended are forgotten; if none has,
// all of them are.
const MaxThreads = 1 << 17

// again is where ids of names used again begin: above all hash codes, and below the largest id that fits an attribute.
const again = 1 << 33

// Find returns the thread with this name, known before or not. Names are numbers other than 0.
func (t *Threads) Find(name uint64) *Thread {
	if th := t.byName[name]; th != nil {
		return th
	}
	return t.add(name, &Thread{ID: jvmthread.ThreadID(name)})
}

// Known returns the thread with this name, nil if nothing was heard of it.
func (t *Threads) Known(name uint64) *Thread { return t.byName[name] }

// Begin returns the thread with this name that begins to run, or is started, now.
func (t *Threads) Begin(name uint64) *Thread {
	th := t.Find(name)
	if !th.Ended {
		return th
	}
	return t.add(name, t.New())
}

// New returns a thread that has no name yet.
func (t *Threads) New() *Thread {
	t.next++
	return &Thread{ID: jvmthread.ThreadID(again + t.next)}
}

// Bind gives a thread a name.
func (t *Threads) Bind(name uint64, th *Thread) { t.add(name, th) }

func (t *Threads) add(name uint64, th *Thread) *Thread {
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
	for name, th := range t.byName {
		if th.Ended {
			delete(t.byName, name)
		}
	}
	if len(t.byName) > before*3/4 {
		clear(t.byName)
	}
}
