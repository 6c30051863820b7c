// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"cmp"
	"time"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/lostnotify"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// HintText is a potential deadlock in words.
type HintText struct {
	Text, First, Second, Holder, Other string // names of the locks and of the threads
}

// HintText returns a potential deadlock in words.
func (e *Emitter) HintText(h *deadlock.Hint) HintText {
	e.threads.Clear() // threads may have new names
	first, second := e.hintNames(h)
	return HintText{e.hint(h), first, second, e.threadName(h.Holder), e.threadName(h.Other)}
}

// LostText is a notify that no thread heard, in words.
type LostText struct {
	Text, Object, By, Called string   // what happened; the object; who called, and what that thread did
	Threads, Waits           []string // by wait: its thread, and the wait
}

// LostText returns a notify that no thread heard in words: who called it, where, and who has waited since.
func (e *Emitter) LostText(f *lostnotify.Found) LostText {
	e.threads.Clear()
	out := LostText{By: e.threadName(f.By)}
	for i := range f.Waits {
		w := &f.Waits[i]
		if out.Object == "" || e.waits.Site(w.Stack).Lock != "" {
			out.Object = e.object(jvmthread.WaitObject, f.Lock.Class, w.Stack)
		}
		out.Threads = append(out.Threads, e.threadName(w.Thread))
	}
	call := " called notify on "
	if f.All {
		call = " called notifyAll on "
	}
	e.text = e.text[:0]
	e.say(out.By, call, cmp.Or(out.Object, "an unknown object"))
	e.in(f.Stack)
	e.say(" while no thread waited")
	out.Called = string(e.text)
	first := 0
	for i := range f.Waits {
		if f.Waits[i].TimedOut {
			first = i
		}
		out.Waits = append(out.Waits, e.lostWait(f, i))
	}
	e.text = append(e.text[:0], out.Called...)
	e.say("; ", out.Waits[first])
	if more := len(f.Waits) - 1 + f.More; more > 0 {
		e.say("; ", plural(uint64(more), "more thread"), " waited in vain")
	}
	out.Text = string(e.text)
	return out
}

// lostWait says how long a thread waited without being notified.
func (e *Emitter) lostWait(f *lostnotify.Found, i int) string {
	w := &f.Waits[i]
	e.text = append(e.text[:0], e.threadName(w.Thread)...)
	e.say(" began to wait ", wording.Duration(w.Start.Sub(f.At)), " later")
	e.in(w.Stack)
	lasted := wording.Duration(time.Duration(w.End - w.Start))
	if w.TimedOut {
		e.say(" and timed out after ", lasted)
	} else {
		e.say(" and still waited after ", lasted)
	}
	return string(e.text)
}

// in says in which method of the application a thread was, if that is known.
func (e *Emitter) in(stack jvmthread.StackID) {
	if at := e.waits.Site(stack).Function; at != "" {
		e.say(" in ", wording.SimpleFunction(at))
	}
}
