// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package fill answers: how does what an engine sees become the history of a session? Live sessions, archives and recordings are stored alike.
package fill

import (
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadview/incidents"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// Session stores the events and windows of one engine. One goroutine owns it.
type Session struct {
	*store.Session

	symbols *symbols.Table
	worst   *incidents.Keeper
}

// Open opens a session of a store, and watches the events of its engine. The caller passes on the windows.
func Open(to *store.Store, id jvmthread.SessionID, meta store.Meta, from *engine.Engine, sym *symbols.Table) *Session {
	s := &Session{Session: to.Open(id, meta), symbols: sym}
	s.worst = incidents.New(id, s.Session, sym, from.Waits())
	from.FindLostNotifies()
	from.Watch(func(events []jvmthread.Event) { s.Events(events, sym) })
	return s
}

// Window stores a window, and its incidents.
func (s *Session) Window(w *window.Window) {
	s.Append(w, s.symbols)
	s.worst.Window(w)
}

// Held estimates the bytes of incidents that are not over.
func (s *Session) Held() int { return s.worst.Held() }
