// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp

import (
	"bytes"
	"hash/fnv"
	"strconv"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// id is the value of an attribute that identifies a thread or an object.
type id struct {
	value uint64
	given bool // the attribute is there
	known bool // its value is not -1 or empty
}

// parseID parses a number. As the design allows any CDATA, other values are hashed, so that equal ones stay equal.
func parseID(text []byte) id {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || string(text) == "-1" {
		return id{given: true}
	}
	if v, err := strconv.ParseUint(string(text), 10, 64); err == nil {
		return id{value: v, given: true, known: true}
	}
	if v, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return id{value: uint64(v), given: true, known: true}
	}
	h := fnv.New64a()
	_, _ = h.Write(text) // never fails
	return id{value: h.Sum64() &^ (1 << 63), given: true, known: true}
}

// threads also maps objects to their threads.
type threads struct {
	recording.Threads

	byObject map[uint64]*recording.Thread
	rename   func(from, to jvmthread.ThreadID, n int) bool // in the last n events with this peer
}

// zero is the name of thread 0 of a trace, as 0 is NoThread here.
const zero = 1 << 34

func (t *threads) name(v id) uint64 {
	if v.value == 0 {
		return zero
	}
	return v.value
}

// begin returns the thread that starts to run.
func (t *threads) begin(ev *record) *recording.Thread {
	name := t.name(ev.thread)
	if ev.object.known {
		if th := t.byObject[ev.object.value]; th != nil && !th.Started && !th.Ended {
			// The trace's id takes the place of one that was made for the object.
			if old := t.Known(name); (old == nil || !old.Started) && t.rename(th.ID, jvmthread.ThreadID(name), th.Named) {
				th.ID = jvmthread.ThreadID(name)
			}
			t.Bind(name, th)
			return th
		}
	}
	th := t.Begin(name)
	if ev.object.known {
		t.own(ev.object.value, th)
	}
	return th
}

// started returns the thread on whose object start was called. Its name is unknown before it runs, except in traces of this program.
func (t *threads) started(object uint64) *recording.Thread {
	if th := t.byObject[object]; th != nil && !th.Ended {
		return th
	}
	var th *recording.Thread
	if name := object - threadObject; object>>32 == 1 && (t.Known(name) == nil || t.Known(name).Ended) {
		th = t.Begin(name)
	} else {
		th = t.New()
	}
	t.own(object, th)
	return th
}

func (t *threads) own(object uint64, th *recording.Thread) {
	if t.byObject == nil || len(t.byObject) >= recording.MaxThreads {
		t.byObject = make(map[uint64]*recording.Thread)
	}
	t.byObject[object] = th
}

// owner returns the thread that owns a monitor. Owner 0 is a thread only if the trace has a thread 0.
func (t *threads) owner(v id) jvmthread.ThreadID {
	if !v.known || v.value == 0 && t.Known(zero) == nil {
		return jvmthread.NoThread
	}
	return t.Find(t.name(v)).ID
}

// as returns the thread as the peer of an event.
func as(peer *recording.Thread) jvmthread.ThreadID {
	if !peer.Started {
		peer.Named++
	}
	return peer.ID
}

// maxObjects limits the objects whose class is remembered.
const maxObjects = 1 << 18

// lock folds an object id to 32 bits. Smaller ids remain as they are.
func lock(object id) uint32 {
	if !object.known {
		return 0
	}
	return uint32(object.value) ^ uint32(object.value>>32)*0x9E3779B1
}

// resolve converts an element to an event.
func (d *decoder) resolve(kind jvmthread.Kind, r *record) jvmthread.Event {
	ev := jvmthread.Event{Kind: kind, Time: r.at}
	if r.stack != "" {
		ev.Stack = d.Options.Symbols.InternStack(r.stack)
	}
	var th *recording.Thread
	if kind == jvmthread.KindThreadStart {
		th = d.threads.begin(r)
	} else {
		th = d.threads.Find(d.threads.name(r.thread))
	}
	ev.Thread, th.Started = th.ID, true
	switch kind {
	case jvmthread.KindThreadStart:
		d.Thread(jvmthread.Thread{ID: th.ID, Name: r.name, Group: r.group, Daemon: r.daemon, Virtual: r.virtual, Foreign: r.foreign})
		return ev
	case jvmthread.KindThreadEnd:
		th.Ended = true
		return ev
	case jvmthread.KindInterrupted:
		ev.Flags, th.Interrupted = jvmthread.FlagInterrupted, false
		return ev
	case jvmthread.KindStartCalled:
		if r.object.known {
			ev.Peer = as(d.threads.started(r.object.value))
		}
		return ev
	case jvmthread.KindInterruptCalled:
		if peer := d.threads.byObject[r.object.value]; r.object.known && peer != nil {
			ev.Peer, peer.Interrupted = as(peer), true
		}
		return ev
	case jvmthread.KindWait:
		d.resolveWait(r, th, &ev)
	case jvmthread.KindWaited:
		d.resolveWaited(r, th, &ev)
	case jvmthread.KindContendedEnter:
		ev.Peer = d.threads.owner(r.owner)
	case jvmthread.KindNotify:
		if r.all {
			ev.Kind = jvmthread.KindNotifyAll
		}
	}
	if ev.Kind != jvmthread.KindSleepStart && ev.Kind != jvmthread.KindSleepEnd {
		ev.Lock = jvmthread.LockID{Hash: lock(r.object), Class: d.classOf(r)}
	}
	return ev
}

// classOf returns the class of an element's lock: the one that it states, or else that of the object's element before. One object is one
// lock, whichever of its elements state the class.
func (d *decoder) classOf(r *record) jvmthread.ClassID {
	known := d.classes[r.object.value]
	if r.class == "" {
		return known
	}
	class := d.Options.Symbols.InternClass(r.class)
	if r.object.known && class != known {
		if d.classes == nil || len(d.classes) >= maxObjects {
			d.classes = make(map[uint64]jvmthread.ClassID)
		}
		d.classes[r.object.value] = class
	}
	return class
}

// resolveWait distinguishes waiting for an object, sleeping (object -1, row T101) and joining (the object of a thread, row T102).
func (d *decoder) resolveWait(r *record, th *recording.Thread, ev *jvmthread.Event) {
	ev.Arg, th.Sleeps = r.timeout, r.object.given && !r.object.known
	if th.Sleeps {
		ev.Kind = jvmthread.KindSleepStart
	} else if peer := d.threads.byObject[r.object.value]; r.object.known && peer != nil {
		ev.Kind, ev.Peer = jvmthread.KindJoinStart, as(peer)
	}
}

// resolveWaited distinguishes the end of waiting from that of sleeping.
func (d *decoder) resolveWaited(r *record, th *recording.Thread, ev *jvmthread.Event) {
	switch {
	case r.object.given && !r.object.known || !r.object.given && th.Sleeps:
		ev.Kind = jvmthread.KindSleepEnd
		if r.interrupted || th.Interrupted && !d.ours { // rule T111, unless the trace states it
			ev.Flags = jvmthread.FlagInterrupted
		}
	case r.timedOut:
		ev.Flags = jvmthread.FlagTimedOut
	}
	th.Sleeps, th.Interrupted = false, false
}
