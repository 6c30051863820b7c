// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadview

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadview/archive"
	"github.com/weft-otel/weft/internal/threadview/incidents"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// follower stores the windows of one session.
type follower struct {
	*sessions.Session

	view   *View
	stored *store.Session
	worst  *incidents.Keeper
	kept   *archive.Writer // nil: the session is lost on a restart
	failed bool            // to write to the archive; that was logged
}

func (v *View) follow(s *sessions.Session) sessions.Follower {
	meta := metaOf(s.Resource)
	f := &follower{Session: s, view: v, stored: v.store.Open(s.ID, meta)}
	f.worst = incidents.New(s.ID, f.stored, s.Symbols, s.Engine.Waits())
	if v.archive != nil {
		f.kept = v.archive.Session(s.ID, meta, s.Symbols)
	}
	s.Engine.Watch(f.events)
	return f
}

// metaOf returns the attributes of a resource.
func metaOf(res pcommon.Resource) store.Meta {
	meta := make(store.Meta, res.Attributes().Len())
	for key, value := range res.Attributes().All() {
		meta[key] = value.AsString()
	}
	return meta
}

// events stores events.
func (f *follower) events(events []jvmthread.Event) {
	f.stored.Events(events, f.Symbols)
	f.worst.Events(events)
	if f.kept != nil {
		f.check(f.kept.Write(events))
	}
}

// check logs the first error of the archive.
func (f *follower) check(err error) {
	if err != nil && !f.failed {
		f.failed = true
		f.view.cfg.Logger.Error("Cannot write session to directory; it will be lost on a restart", zap.Stringer("session", f.ID), zap.Error(err))
	}
}

// Window stores a window, and its incidents.
func (f *follower) Window(w *window.Window) {
	f.stored.Append(w, f.Symbols)
	f.worst.Window(w)
}

// Held estimates the bytes of incidents that are not over.
func (f *follower) Held() int { return f.worst.Held() }

// Advanced does nothing: only windows that are cut are shown.
func (*follower) Advanced() {}

// Closed ends the session.
func (f *follower) Closed(why window.Cut) {
	f.stored.Close(why)
	if f.kept == nil {
		return
	}
	switch why {
	case window.CutFailed:
		f.check(f.kept.Close("", jvmthread.NoTime)) // up to the last events
	case window.CutEnd:
		f.check(f.kept.Close(threadpdata.EndExit, f.Engine.Now()))
	default:
		f.check(f.kept.Close("", f.Engine.Now()))
	}
}

// Take returns nothing, since there is no next consumer.
func (*follower) Take() sessions.Delivery { return nil }
