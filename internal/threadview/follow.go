// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadview

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadview/archive"
	"github.com/weft-otel/weft/internal/threadview/fill"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// follower stores the windows of one session.
type follower struct {
	*fill.Session

	of     *sessions.Session
	view   *View
	kept   *archive.Writer // nil: the session is lost on a restart
	failed bool            // to write to the archive; that was logged
}

func (v *View) follow(s *sessions.Session) sessions.Follower {
	meta := metaOf(s.Resource)
	f := &follower{of: s, view: v, Session: fill.Open(v.store, s.ID, meta, s.Engine, s.Symbols)}
	if v.archive != nil {
		f.kept = v.archive.Session(s.ID, meta, s.Symbols)
		s.Engine.Watch(func(events []jvmthread.Event) { f.check(f.kept.Write(events)) })
	}
	return f
}

// Record stores a session of a recording with the attributes of a resource. The caller drives the engine, passes on its windows, and closes the
// session.
func (v *View) Record(id jvmthread.SessionID, res pcommon.Resource, from *engine.Engine, sym *symbols.Table) *fill.Session {
	return fill.Open(v.store, id, metaOf(res), from, sym)
}

// metaOf returns the attributes of a resource.
func metaOf(res pcommon.Resource) store.Meta {
	meta := make(store.Meta, res.Attributes().Len())
	for key, value := range res.Attributes().All() {
		meta[key] = value.AsString()
	}
	return meta
}

// check logs the first error of the archive.
func (f *follower) check(err error) {
	if err != nil && !f.failed {
		f.failed = true
		f.view.cfg.Logger.Error("Cannot write session to directory; it will be lost on a restart", zap.Stringer("session", f.of.ID), zap.Error(err))
	}
}

// Advanced does nothing: only windows that are cut are shown.
func (*follower) Advanced() {}

// Closed ends the session.
func (f *follower) Closed(why window.Cut) {
	f.Session.Close(why) //nolint:staticcheck // not the one of the archive
	if f.kept == nil {
		return
	}
	switch why {
	case window.CutFailed:
		f.check(f.kept.Close("", jvmthread.NoTime)) // up to the last events
	case window.CutEnd:
		f.check(f.kept.Close(threadpdata.EndExit, f.of.Engine.Now()))
	default:
		f.check(f.kept.Close("", f.of.Engine.Now()))
	}
}

// Take returns nothing, since there is no next consumer.
func (*follower) Take() sessions.Delivery { return nil }
