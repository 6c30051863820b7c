// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"strconv"
	"time"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// segmentExplanation says what a thread did for how long, and why that is on the path: "120 ms: report asleep in Clock.sleep, while matcher-1
// was in: blocked OrderBook (546 ms)".
func (e *Emitter) segmentExplanation(p *plan) string {
	seg := p.segment
	doing := e.segmentDoing(p)
	e.text = wording.AppendDuration(e.text[:0], time.Duration(p.exact))
	e.say(": ", e.threadName(seg.Thread), " ", doing)
	e.waitsFor(seg)
	return string(e.text)
}

// segmentDoing says what the thread of a segment did, after its name.
func (e *Emitter) segmentDoing(p *plan) string {
	switch kind := p.segment.Kind; kind { //exhaustive:enforce
	case criticalpath.KindRun, criticalpath.KindWakeLatency, criticalpath.KindStartLatency, criticalpath.KindRunQueue, criticalpath.KindCycle:
		return kind.Title()
	case criticalpath.KindTooDeep, criticalpath.KindCut:
		return "not examined further"
	case criticalpath.KindUnknown, criticalpath.KindSleep, criticalpath.KindSuspended, criticalpath.KindBlockedUnknown,
		criticalpath.KindWaitUnknown, criticalpath.KindTimer, criticalpath.KindDeadlock, criticalpath.KindIdle:
	}
	if !p.hasOther {
		return "unknown"
	}
	iv := &p.other
	if iv.State == jvmthread.StateJoining {
		return "join " + e.threadName(iv.Peer)
	}
	if text := e.phrase(iv, iv.Stack); text != "" {
		return text
	}
	return wording.Verb(iv.State)
}

// maxWaits is how many of the innermost waits an explanation lists. Long chains have dozens.
const maxWaits = 2

// waitsFor lists the waits of other threads through which a segment is on the path: the innermost ones and that of the path's thread, which is
// the last.
func (e *Emitter) waitsFor(seg *criticalpath.Segment) {
	var last criticalpath.Wait
	n := 0
	for wait := range e.window.Verdict.Path.Chain(*seg) {
		own := wait.Ref.Thread == seg.Thread && wait.Ref.Seq == seg.Seq
		if own && (seg.Kind != criticalpath.KindWakeLatency || wait.Kind.Idle()) {
			continue // what the thread did itself
		}
		if n < maxWaits {
			e.waitFor(&wait)
		}
		last = wait
		n++
	}
	if n > maxWaits+1 {
		e.say(", and ")
		e.text = strconv.AppendInt(e.text, int64(n-maxWaits-1), 10)
		e.say(" more")
	}
	if n > maxWaits {
		e.waitFor(&last)
	}
}

func (e *Emitter) waitFor(wait *criticalpath.Wait) {
	e.say(", while ", e.threadName(wait.Ref.Thread), " was in: ")
	iv, ok := e.window.Interval(wait.Ref)
	if ok && wait.State == jvmthread.StateJoining {
		e.say("join ", e.threadName(iv.Peer))
	} else {
		e.say(e.title(titleKey{class: wait.Lock.Class, stack: wait.Stack, state: wait.State, wait: wait.Kind}))
	}
	if ok {
		e.say(" (")
		e.text = wording.AppendDuration(e.text, e.window.Length(iv))
		e.say(")")
	}
}
