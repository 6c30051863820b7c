// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"fmt"
	"strconv"
	"time"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// description is what a span says in words.
type description struct {
	name        string
	explanation string // of the links, since Jaeger's page does not show their attributes
	site        *waits.Site
	ownerSite   *waits.Site       // where the owner of the lock was
	holderSite  jvmthread.StackID // of the first holder, if it is known what it did
}

// describe puts a span into words.
func (e *Emitter) describe(p *plan) {
	switch p.kind { //exhaustive:enforce
	case rootSpan:
		p.name = e.rootName()
	case pathSpan:
		p.name = "critical path"
	case segmentSpan:
		p.name = e.segmentName(p)
		p.explanation = e.segmentExplanation(p)
	case threadSpan:
		p.name = "thread"
	case intervalSpan:
		p.site, p.ownerSite = e.waits.Site(p.iv.Stack), e.waits.Site(p.detail.OwnerStack)
		p.name = e.intervalName(&p.iv)
		p.explanation = e.explanation(p)
	}
}

// say appends to the text of the current span.
func (e *Emitter) say(parts ...string) {
	for _, part := range parts {
		e.text = append(e.text, part...)
	}
}

// titleKey is what the title of an interval depends on.
type titleKey struct {
	class jvmthread.ClassID
	stack jvmthread.StackID
	state jvmthread.State
	wait  jvmthread.Wait
}

// maxTexts bounds the remembered texts of a kind. At the limit, the Emitter starts over.
const maxTexts = 1 << 16

// title says what a thread did in an interval.
func (e *Emitter) title(k titleKey) string {
	title, ok := e.titles[k]
	if !ok {
		if len(e.titles) >= maxTexts {
			clear(e.titles)
		}
		title = wording.Title(k.state, k.wait, e.object(k.wait, k.class, k.stack), false)
		e.titles[k] = title
	}
	return title
}

// object returns what a wait is for.
func (e *Emitter) object(w jvmthread.Wait, class jvmthread.ClassID, stack jvmthread.StackID) string {
	site := e.waits.Site(stack)
	return wording.Object(w, e.sym.Class(class), site.Lock, site.Entry)
}

// explanation says how long an interval took, who held the lock during an interval, what unblocked it, and whom it waits for in a deadlock.
func (e *Emitter) explanation(p *plan) string {
	if len(p.holders) == 0 && len(p.causes) == 0 && p.next == jvmthread.NoThread {
		return ""
	}
	e.text = wording.AppendDuration(e.text[:0], time.Duration(p.exact))
	e.say(": ")
	begin := len(e.text)
	if len(p.holders) > 0 {
		h := &p.holders[0]
		doing := e.doing(p, h)
		e.text = wording.AppendHeld(e.text, p.iv.Wait, e.threadName(h.Thread), h.Share(time.Duration(p.exact)), doing)
	}
	for i := range p.causes {
		e.also(begin)
		e.explain(&p.causes[i])
	}
	if p.iv.Wait.Contended() && p.iv.Marks.Has(jvmthread.MarkTimedOut) {
		e.also(begin)
		e.say("timed out")
	}
	if p.next != jvmthread.NoThread {
		e.also(begin)
		e.say("waits for ", e.threadName(p.next), ", which waits for it in a cycle")
	}
	return string(e.text)
}

// also separates two parts of an explanation that begins at an index of the text.
func (e *Emitter) also(begin int) {
	if len(e.text) > begin {
		e.say("; ")
	}
}

func (e *Emitter) explain(ia *jvmthread.Interaction) {
	from := e.threadName(ia.From.Thread)
	switch ia.Kind { //exhaustive:enforce
	case jvmthread.InteractionStart:
		e.say("started by ", from)
	case jvmthread.InteractionHandoff:
		e.say("got it from ", from)
	case jvmthread.InteractionNotify, jvmthread.InteractionNotifyAll:
		e.say("notified by ", from)
	case jvmthread.InteractionInterrupt:
		e.say("interrupted by ", from)
	case jvmthread.InteractionJoin:
		e.say(from, " ended")
	case jvmthread.InteractionUnpark:
		e.say("unparked by ", from)
	case jvmthread.InteractionNone:
	}
	if ia.Stack != jvmthread.NoStack {
		at := e.waits.Site(ia.Stack)
		e.say(" at ", at.Function)
		if at.Line > 0 {
			e.text = strconv.AppendInt(append(e.text, ':'), int64(at.Line), 10)
		}
	}
	if d := ia.Latency(); d > 0 {
		e.say(", ")
		e.text = wording.AppendDuration(e.text, d)
		e.say(" before")
	}
	if ia.Confidence != jvmthread.ConfidenceExact {
		e.say(" (", ia.Confidence.String(), ")")
	}
}

// doingKey is what a text about what a thread did depends on.
type doingKey struct {
	titleKey

	at jvmthread.StackID
}

// doing says what the holder of a lock did while the thread waited.
func (e *Emitter) doing(p *plan, h *window.Holder) string {
	iv := &h.Doing
	if iv.Seq == jvmthread.NoSeq {
		return ""
	}
	p.holderSite = e.holderStack(p, h)
	return e.phrase(iv, p.holderSite)
}

// phrase says what a thread did, and in which method; empty if that is not known.
func (e *Emitter) phrase(iv *jvmthread.Interval, at jvmthread.StackID) string {
	k := doingKey{titleKey{class: iv.Lock.Class, stack: iv.Stack, state: iv.State, wait: iv.Wait}, at}
	text, ok := e.doings[k]
	if !ok {
		if len(e.doings) >= maxTexts {
			clear(e.doings)
		}
		text = wording.Doing(iv.State, iv.Wait, e.object(iv.Wait, iv.Lock.Class, iv.Stack), e.waits.Site(at).Function)
		e.doings[k] = text
	}
	return text
}

// holderStack returns the stack whose site is where the holder of a lock was. A running thread has no stack, but the agent may have taken that
// of the owner when the wait began, or that of the release, which says only in which method of the application it was: the library's is the
// release itself.
func (e *Emitter) holderStack(p *plan, h *window.Holder) jvmthread.StackID {
	stack := h.Doing.Stack
	if h.Doing.Wait == jvmthread.WaitNone && h.Thread == p.iv.Peer {
		stack = p.detail.OwnerStack
	}
	if stack != jvmthread.NoStack {
		return stack
	}
	for i := range p.causes {
		if p.causes[i].From.Thread == h.Thread && p.causes[i].Stack != jvmthread.NoStack {
			if e.waits.Site(p.causes[i].Stack).Own {
				return p.causes[i].Stack
			}
			break
		}
	}
	return jvmthread.NoStack
}

// holders lists the threads that held the lock during a wait, with their shares.
func (e *Emitter) holders(p *plan) string {
	e.text = e.text[:0]
	for i := range p.holders {
		h := &p.holders[i]
		share := h.Share(time.Duration(p.exact))
		if i > 0 {
			e.say(", ")
		}
		if i == maxHolders || i > 0 && share < leastShare {
			e.say("...")
			break
		}
		e.say(e.threadName(h.Thread), " ")
		e.text = wording.AppendPercent(e.text, share)
	}
	return string(e.text)
}

// A span lists at most so many holders, and after the first one only those with a share that is not rounded to nothing.
const (
	maxHolders = 8
	leastShare = 0.005
)

// handoffRun lists the first threads of a run of handoffs and the last one: a -> b -> ... -> z.
func (e *Emitter) handoffRun(c *window.HandoffRun) string {
	e.text = e.text[:0]
	threads := c.Threads()
	for i, id := range threads {
		switch {
		case i > 0 && i == len(threads)-1 && uint64(len(threads)) <= c.Handoffs:
			e.say(" -> ... -> ")
		case i > 0:
			e.say(" -> ")
		}
		e.say(e.threadName(id))
	}
	return string(e.text)
}

// cycle lists the threads of a deadlock and the locks they wait for: a -> OrderBook -> b -> Account -> a.
func (e *Emitter) cycle(f *deadlock.Found) string {
	e.text = e.text[:0]
	for i := range f.Waits {
		e.say(e.threadName(f.Waits[i].Thread), " -> ", e.simpleName(f.Waits[i].Lock.Class), " -> ")
	}
	e.say(e.threadName(f.Waits[0].Thread))
	return string(e.text)
}

// hint says which threads took two locks in which order.
func (e *Emitter) hint(h *deadlock.Hint) string {
	first, second := e.hintNames(h)
	return fmt.Sprintf("%s held %s and wanted %s; %s held %s and wanted %s, %v later: a potential deadlock",
		e.threadName(h.Holder), first, second, e.threadName(h.Other), second, first, h.At.Sub(h.Before))
}

// hintNames returns the names of two locks that are taken in both orders, with their hashes if they have one class.
func (e *Emitter) hintNames(h *deadlock.Hint) (first, second string) {
	first, second = e.simpleName(h.First.Class), e.simpleName(h.Second.Class)
	if first == second {
		first += "@" + strconv.FormatUint(uint64(h.First.Hash), 16)
		second += "@" + strconv.FormatUint(uint64(h.Second.Hash), 16)
	}
	return first, second
}

func (e *Emitter) simpleName(class jvmthread.ClassID) string {
	name, ok := e.classes[class]
	if !ok {
		if len(e.classes) >= maxTexts {
			clear(e.classes)
		}
		name = wording.SimpleClass(e.sym.Class(class))
		e.classes[class] = name
	}
	return name
}

// className returns the full name of a class as in source code.
func (e *Emitter) className(id jvmthread.ClassID) string { return wording.ClassName(e.sym.Class(id)) }

func (e *Emitter) threadName(id jvmthread.ThreadID) string {
	if name := e.threads.Get(uint32(id), id); name != "" {
		return name
	}
	name := wording.ThreadName(e.sym.Thread(id).Name, id)
	e.threads.Put(uint32(id), id, name)
	return name
}
