// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package incidents answers: what stays of an episode of contention when its windows are gone? It finds incidents in the windows of the page, as
// the thread_span processor does in its own, and keeps them in the store in words.
package incidents

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadview/store"
)

const (
	minTime      = 10 * time.Millisecond // that threads waited, all together, as the default of thread_span
	maxPerWindow = 5                     // the store keeps few of a session
)

// Keeper keeps the incidents of one session. One goroutine owns it.
type Keeper struct {
	session *store.Session
	symbols *symbols.Table
	finder  *incident.Finder
	emitter *threadpdata.Emitter
}

// New returns a Keeper for a session of a store, with the symbols and the classifier of waits of the engine that cuts its windows.
func New(id jvmthread.SessionID, session *store.Session, sym *symbols.Table, classifier *waits.Classifier) *Keeper {
	return &Keeper{
		session: session, symbols: sym, emitter: threadpdata.NewEmitter(id, sym, classifier),
		finder: sessions.NewIncidents(incident.Options{MinTime: minTime, MaxPerWindow: maxPerWindow}),
	}
}

// Window keeps the incidents that ended in a window.
func (k *Keeper) Window(w *window.Window) {
	for _, inc := range k.finder.Find(w).Incidents {
		k.session.AddIncident(k.textOf(inc))
	}
}

// Held estimates the bytes of the incidents that are not over.
func (k *Keeper) Held() int { return k.finder.Held() + k.emitter.Held() }

func (k *Keeper) textOf(inc *incident.Incident) store.Incident {
	texts := k.emitter.IncidentText(inc, store.MaxIncidentHolds, store.MaxIncidentWaits)
	out := store.Incident{
		IncidentID: store.IncidentID{Start: inc.Start, First: inc.First, Rest: inc.Rest}, End: inc.End, Deadlock: inc.Kind == incident.Deadlock, Open: inc.Open,
		Name: texts.Name, Text: texts.Text, Blocked: inc.Blocked, Longest: inc.Longest, Count: inc.Count, Threads: inc.Threads, TimedOut: inc.TimedOut,
	}
	for i := range texts.Holds {
		h := &texts.Holds[i]
		out.Holds = append(out.Holds, store.IncidentPart{
			Start: h.Start, End: h.End, Thread: h.Hold.Thread, Name: h.Thread, Object: h.Object, Blocked: h.Blocked, Text: h.Text, Frames: k.frames(h.Stack),
		})
	}
	for i := range texts.Waits {
		wt := &texts.Waits[i]
		part := store.IncidentPart{
			Start: wt.Start, End: wt.End, Thread: wt.Interval.Thread, Name: wt.Thread, Object: wt.Object, Text: wt.Text, Frames: k.frames(wt.Interval.Stack),
		}
		if span := wt.Detail.Span; !span.IsZero() {
			part.Trace, part.Span = hex.EncodeToString(span.TraceID[:]), hex.EncodeToString(span.SpanID[:])
		}
		out.Waits = append(out.Waits, part)
	}
	return out
}

// frames returns the innermost frames of a stack.
func (k *Keeper) frames(id jvmthread.StackID) (out []string) {
	for line := range strings.Lines(k.symbols.Stack(id)) {
		if len(out) == store.MaxIncidentFrames {
			break
		}
		out = append(out, strings.TrimPrefix(strings.TrimSpace(line), "at "))
	}
	return out
}
