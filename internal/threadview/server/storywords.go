// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/wording"
)

// words is what the words for an interval depend on, except for joins.
type words struct {
	class    jvmthread.ClassID
	stack    jvmthread.StackID
	state    jvmthread.State
	wait     jvmthread.Wait
	timedOut bool
	in       bool // with the method
	ran      ran
}

// doing says what the thread of a segment did in a piece of it.
func (s *story) doing(seg *criticalpath.Segment, piece *window.Piece) string {
	w := words{in: true, timedOut: seg.Kind == criticalpath.KindTimer}
	if t := &s.q.sn.Threads[s.q.sn.Thread(seg.Thread)]; seg.Seq == jvmthread.NoSeq && t.Dead && seg.Start >= t.Last {
		return "ended"
	}
	switch seg.Kind { //exhaustive:enforce
	case criticalpath.KindUnknown, criticalpath.KindWakeLatency, criticalpath.KindStartLatency, criticalpath.KindCycle,
		criticalpath.KindTooDeep, criticalpath.KindCut, criticalpath.KindRunQueue:
		return seg.Kind.Title()
	case criticalpath.KindRun, criticalpath.KindSleep, criticalpath.KindSuspended:
		iv, ok := s.q.numbered(seg.Thread, seg.Seq, seg.Start)
		if !ok {
			return seg.Kind.Title()
		}
		w.class, w.stack, w.state, w.wait = jvmthread.ClassID(s.q.sn.Locks[iv.Lock].Class), jvmthread.StackID(iv.Stack), iv.State, iv.Wait
		if seg.Kind == criticalpath.KindRun {
			w.ran = s.q.ran(s.q.sn.Thread(seg.Thread), piece.Start, piece.End)
		}
	case criticalpath.KindBlockedUnknown, criticalpath.KindWaitUnknown, criticalpath.KindTimer, criticalpath.KindDeadlock,
		criticalpath.KindIdle:
		of := &s.path.Waits[seg.Via]
		w.class, w.stack, w.state, w.wait = of.Lock.Class, of.Stack, of.State, of.Kind
	}
	return s.say(w, jvmthread.IntervalRef{Thread: seg.Thread, Seq: seg.Seq}, seg.Start)
}

// say finds the words for an interval that includes a time.
func (s *story) say(w words, ref jvmthread.IntervalRef, at jvmthread.Time) string {
	text, ok := s.words[w]
	if ok {
		return text
	}
	site := s.q.sn.Site(store.StackID(w.stack))
	object := wording.Object(w.wait, s.q.sn.Classes[w.class], site.Lock, site.Entry)
	if w.state == jvmthread.StateJoining {
		object = ""
		if iv, ok := s.q.numbered(ref.Thread, ref.Seq, at); ok {
			object = s.q.sn.ThreadName(iv.Peer)
		}
	}
	switch {
	case !w.in:
		return s.keep(w, wording.Title(w.state, w.wait, object, false))
	case w.timedOut || w.state == jvmthread.StateJoining:
		text = wording.Title(w.state, w.wait, object, w.timedOut)
		if site.Function != "" {
			text += " in " + wording.SimpleFunction(site.Function)
		}
		return s.keep(w, text)
	}
	if w.state == jvmthread.StateRunnable && !s.q.isDumped() {
		return s.keep(w, w.ran.text(site.Function))
	}
	if text = wording.Doing(w.state, w.wait, object, site.Function); text == "" {
		text = wording.Verb(w.state)
	}
	return s.keep(w, text)
}

// keep remembers words unless they name the thread that is joined.
func (s *story) keep(w words, text string) string {
	if w.state != jvmthread.StateJoining {
		s.words[w] = text
	}
	return text
}
