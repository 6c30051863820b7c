// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/incident"
)

// rootObject returns what the threads of an incident waited for: the name of the root in the source if one of the waits shows it.
func (e *Emitter) rootObject(inc *incident.Incident) string {
	l := inc.Root()
	for i := range inc.Waits {
		if iv := &inc.Waits[i].Interval; l.ID.Is(iv.Lock) && e.waits.Site(iv.Stack).Lock != "" {
			return e.object(iv.Wait, iv.Lock.Class, iv.Stack)
		}
	}
	return e.object(l.Kind, l.ID.Lock.Class, l.Stack)
}

// maxCycleObjects bounds the classes that cycleObjects lists.
const maxCycleObjects = 8

// cycleObjects lists the classes of the locks of a deadlock: OrderBook, Account.
func (e *Emitter) cycleObjects(f *deadlock.Found) string {
	var names []string
	for i := range f.Waits {
		name := e.simpleName(f.Waits[i].Lock.Class)
		if slices.Contains(names, name) {
			continue
		}
		if len(names) == maxCycleObjects {
			names = append(names, "...")
			break
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// name returns the name of the root.
func (w *incidentWriter) name() string {
	if w.inc.Kind == incident.Deadlock {
		return w.kind()
	}
	return w.rootNames.limit(maxRootNames, w.kind(), w.object, "")
}

// kind returns the first words of the name.
func (w *incidentWriter) kind() string {
	switch w.inc.Kind {
	case incident.Deadlock:
		return "deadlock"
	case incident.PoolExhausted:
		return "pool exhausted"
	case incident.CarriersStarved:
		return "carriers starved"
	default:
		return "contention"
	}
}

// A session's incidents have at most so many names with an object, apart from those in the traces of windows: of roots, and of holds.
const (
	maxRootNames = 16
	maxHoldNames = 8
)

// fewNames are the names with an object that are in use.
type fewNames map[string]bool

// limit returns a name with an object, or without if there are too many of them.
func (n fewNames) limit(most int, kind, object, rest string) string {
	if object == "" {
		return kind + rest
	}
	name := kind + " " + object + rest
	if !n[name] && len(n) >= most {
		return kind + rest
	}
	n[name] = true
	return name
}

// objectOf returns what a thread holds.
func (w *incidentWriter) objectOf(h *incident.Hold) string {
	if w.inc.Kind != incident.Deadlock || h.Of == w.inc.Root().ID {
		return w.object
	}
	for i := range w.inc.Locks {
		if l := &w.inc.Locks[i]; l.ID == h.Of {
			return w.Emitter.object(l.Kind, l.ID.Lock.Class, l.Stack)
		}
	}
	return w.simpleName(h.Of.Lock.Class)
}
