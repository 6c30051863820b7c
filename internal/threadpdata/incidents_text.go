// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// IncidentText is an incident in the words of its trace, for readers without spans.
type IncidentText struct {
	Name, Text string
	Object     string     // what threads waited for; of a deadlock: all of its cycle
	Holds      []HoldText // those that cost most
	Waits      []WaitText // the longest
}

// HoldText is a hold in words.
type HoldText struct {
	*incident.Hold

	Thread, Object, Text string
	Stack                jvmthread.StackID // where the thread was; NoStack: unknown
}

// WaitText is a wait in words.
type WaitText struct {
	*incident.Wait

	Thread, Object, Text string
}

// IncidentText returns an incident in words, with at most so many holds and waits.
func (e *Emitter) IncidentText(inc *incident.Incident, holds, waits int) IncidentText {
	e.threads.Clear() // threads may have new names
	w := incidentWriter{Emitter: e, inc: inc, object: e.rootObject(inc)}
	out := IncidentText{Name: w.kind(), Text: w.explain(inc.Culprit(e.sym)), Object: w.object}
	if inc.Deadlock != nil {
		out.Object = e.cycleObjects(inc.Deadlock)
	}
	if w.object != "" && inc.Kind != incident.Deadlock {
		out.Name += " " + w.object
	}
	order := make([]*incident.Hold, len(inc.Holds))
	for i := range inc.Holds {
		order[i] = &inc.Holds[i]
	}
	slices.SortStableFunc(order, func(a, b *incident.Hold) int { return cmp.Compare(b.Blocked, a.Blocked) })
	for _, h := range order[:min(len(order), holds)] {
		object := w.objectOf(h)
		out.Holds = append(out.Holds, HoldText{h, e.threadName(h.Thread), object, w.explainHold(h, object), w.holderStack(h)})
	}
	for i := range inc.Waits[:min(len(inc.Waits), waits)] {
		wt := &inc.Waits[i]
		iv := &wt.Interval
		out.Waits = append(out.Waits, WaitText{wt, e.threadName(iv.Thread), e.object(iv.Wait, iv.Lock.Class, iv.Stack), w.explainWait(wt)})
	}
	return out
}
