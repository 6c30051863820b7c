// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"
	"strconv"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// call is a call that released no thread, or none yet.
type call struct {
	at           jvmthread.Time
	thread, peer int
	lock         jvmthread.LockID // with a class of the snapshot
	kind         jvmthread.Kind
}

// whatOfCall is the action of each kind of call.
var whatOfCall = [jvmthread.NumKinds]string{
	jvmthread.KindStartCalled: "start", jvmthread.KindInterruptCalled: "interrupt", jvmthread.KindNotify: "notify",
	jvmthread.KindNotifyAll: "notifyAll", jvmthread.KindYield: "yield", jvmthread.KindSuspend: "suspend", jvmthread.KindResume: "resume",
	jvmthread.KindStop: "stop",
}

// calls reads calls window by window, each window once.
type calls struct {
	until jvmthread.Time // read so far
	list  []call
	bound map[boundCall]struct{} // that released a thread
}

type boundCall struct {
	at     jvmthread.Time
	thread int
	kind   jvmthread.Kind
}

// bind notes that an interaction is the effect of a call.
func (c *calls) bind(e *store.Edge) {
	if kind := e.Kind.Call(); kind != jvmthread.KindNone {
		if c.bound == nil {
			c.bound = make(map[boundCall]struct{})
		}
		c.bound[boundCall{e.Cause, e.From, kind}] = struct{}{}
	}
}

// unbound returns the calls in [from, to) that released no thread. Ranges are consecutive, and the interactions that were caused in this one
// are bound.
func (c *calls) unbound(sn *store.Snapshot, from, to jvmthread.Time) []call {
	if to > c.until {
		c.list = slices.DeleteFunc(c.list, func(one call) bool { return one.at < from })
		c.until = sn.Calls(max(from, c.until), to, func(ev *jvmthread.Event) {
			c.list = append(c.list, call{ev.Time, sn.Thread(ev.Thread), sn.Thread(ev.Peer), ev.Lock, ev.Kind})
		})
	}
	var out []call
	for _, one := range c.list {
		if _, bound := c.bound[boundCall{one.at, one.thread, one.kind}]; !bound && one.at >= from && one.at < to {
			out = append(out, one)
		}
	}
	return out
}

// maxRead bounds the events that are searched for calls to draw. Where there are more, calls would cover each other.
const maxRead = 1 << 18

// notifies returns the calls of notify and notifyAll that woke no thread.
func (q *query) notifies(sel selection, wanted []int, limit int) []viewapi.Call {
	out := []viewapi.Call{}
	if q.sn.Logged(q.from, q.to) > maxRead {
		return out
	}
	var c calls
	q.sn.EdgesCaused(q.from, q.to, func(e store.Edge) bool {
		c.bind(&e)
		return true
	})
	for _, one := range c.unbound(q.sn, q.from, q.to) {
		kind := jvmthread.InteractionNotify
		switch {
		case one.kind == jvmthread.KindNotifyAll:
			kind = jvmthread.InteractionNotifyAll
		case one.kind != jvmthread.KindNotify:
			continue
		}
		if sel.has[one.thread] && (wanted == nil || slices.Contains(wanted, int(kind))) && len(out) < limit {
			out = append(out, viewapi.Call{Kind: int(kind), Thread: q.id(one.thread), Time: q.rel(one.at)})
		}
	}
	return out
}

// addCalls adds the calls that released no thread: those that others do not see, such as a notify without a waiter.
func (l *logger) addCalls(from, to jvmthread.Time) {
	sn := l.q.sn
	for _, c := range l.calls.unbound(sn, from, to) {
		if !l.sel.has[c.thread] && (c.peer == 0 || !l.sel.has[c.peer]) || !l.wanted(whatOfCall[c.kind]) {
			continue
		}
		t := l.line(c.at, c.thread, whatOfCall[c.kind], 0, 0)
		shown := c.thread
		switch {
		case c.peer != 0:
			shown = c.peer
			t.Target = l.q.threadRef(c.peer)
		case c.kind == jvmthread.KindNotify || c.kind == jvmthread.KindNotifyAll:
			t.Target = viewapi.ThreadRef{Name: "none"}
		}
		if iv, ok := sn.At(shown, c.at); ok {
			t.Seq = uint32(iv.Seq)
		}
		if !c.lock.IsZero() {
			t.Lock = &viewapi.LockRef{Class: sn.Classes[c.lock.Class], Hash: strconv.FormatUint(uint64(c.lock.Hash), 16)}
		}
		l.add(t)
	}
}
