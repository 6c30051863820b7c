// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package threadview answers: how do carriers become a page? A View follows the sessions of an analyzer, keeps their windows in a store, and
// serves the page and its API over them. It opens no port: the exporter thread_view and the command weft do.
package threadview

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/assistant"
	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/jvmthread"
	pageclient "github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadview/archive"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/web"
)

// Config configures a View.
type Config struct {
	// Page configures the server of the page. Start sets Page, Notice, PathIntervals, Memory, Assistant and Log.
	Page server.Config
	// Directory keeps sessions across restarts, up to the bytes of the store. Empty: they are lost.
	Directory string
	// Window is the delay of the page.
	Window time.Duration
	// Metrics count what the sessions do.
	Metrics sessions.Metrics
	Logger  *zap.Logger
}

// View keeps the events of carriers, and serves the page that shows them.
type View struct {
	cfg      Config
	maxBytes int64
	store    *store.Store
	budget   *budget.Budget   // of the store, once started
	queries  *budget.Budget   // of the page, once started; not closed, because a query may last longer than the page
	sessions *sessions.Member // once started
	archive  *archive.Archive // once started; nil: sessions are lost on a restart
	unlock   func() error     // the directory of the archive; nil: there is none
	page     *server.View     // once started

	misplaced atomic.Bool // spans of thread_span arrived, and no carriers before them
}

// New returns a View whose store takes at most maxBytes.
func New(maxBytes int64) *View { return &View{maxBytes: maxBytes, store: store.New(maxBytes, nil)} }

// Stats describes the store.
func (v *View) Stats() store.Stats { return v.store.Stats() }

// Session returns a session of the store, nil if there is none.
func (v *View) Session(id jvmthread.SessionID) *store.Session { return v.store.Session(id) }

// Start restores the sessions in the directory, and follows those of an analyzer.
func (v *View) Start(cfg Config, analyzer *sessions.Analyzer) error {
	v.cfg = cfg
	v.store.SetRules(analyzer.Options.Frames.Rules())
	v.budget = budget.Process.New(budget.Store, v.maxBytes).Choose(v.maxBytes != store.DefaultMaxBytes)
	v.queries = budget.Process.New(budget.Queries, 0)
	v.store.SetBudget(v.budget)
	if err := v.restore(analyzer); err != nil {
		return err
	}
	page := cfg.Page
	page.Page, page.Notice, page.PathIntervals, page.Memory = web.Page(), v.notice, pathIntervals(v.maxBytes), v.queries
	page.Assistant = func(api http.Handler, path string) http.Handler {
		return assistant.Handler(page.Version, pageclient.At(api, path), path)
	}
	page.Log = func(message string, err error) {
		if p := (*failure.Panic)(nil); errors.As(err, &p) {
			cfg.Logger.Error(message, zap.Error(p), zap.Strings("stack", p.Stack))
			return
		}
		cfg.Logger.Debug(message, zap.Error(err)) // usually a browser went away
	}
	v.page = server.New(v.store, page)
	v.sessions = analyzer.Join(sessions.MemberSettings{Metrics: cfg.Metrics, Window: cfg.Window, Follow: v.follow})
	return nil
}

// Handler serves the page and its API, compressed where the client accepts that. Valid once started.
func (v *View) Handler() (http.Handler, error) {
	compressed := []string{"text/html", "text/css", "text/javascript", "application/json", "image/svg+xml"} // no events, each of which must arrive at once
	compress, err := gzhttp.NewWrapper(gzhttp.ContentTypes(compressed))
	if err != nil {
		return nil, err
	}
	return compress(v.page.Handler()), nil
}

// Consume takes carriers, and ignores other spans. Valid once started.
func (v *View) Consume(ctx context.Context, td ptrace.Traces) error {
	if err := v.sessions.Consume(ctx, td); err != nil {
		return err
	}
	if !v.misplaced.Load() && hasSpans(td) && v.store.Stats().Sessions == 0 && v.misplaced.CompareAndSwap(false, true) {
		v.cfg.Logger.Warn("The page stays empty: " + misplaced)
	}
	return nil
}

// Finish closes all sessions, whose windows are then complete. The page stays.
func (v *View) Finish(ctx context.Context) {
	if v.sessions != nil {
		v.sessions.Shutdown(ctx)
	}
}

// End closes all sessions, and ends the requests that wait for changes. The Handler still answers others.
func (v *View) End(ctx context.Context) {
	v.Finish(ctx)
	if v.page != nil {
		v.page.Close()
	}
}

// Close gives back the memory of the store and the directory, after End and after the last request.
func (v *View) Close() {
	if v.unlock != nil {
		_ = v.unlock() // the end of the process does that, too
		v.unlock = nil
	}
	v.budget.Close()
	v.budget = nil
}

const misplaced = "this exporter gets the spans of thread_span, but needs the carriers of the receiver; " +
	"use it in a traces pipeline of its own, without thread_span"

// hasSpans reports whether there are spans of thread_span, which replace the carriers.
func hasSpans(td ptrace.Traces) bool {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			if ss.Scope().Name() == threadpdata.ScopeSpans {
				return true
			}
		}
	}
	return false
}

// notice is what the page says while it has no sessions; empty for its own text.
func (v *View) notice() string {
	if v.misplaced.Load() && v.store.Stats().Sessions == 0 {
		return "No sessions: " + misplaced + "."
	}
	return ""
}

// pathIntervals is how many intervals a critical path may have, so that its search takes half as much memory as the store.
func pathIntervals(maxBytes int64) int {
	const least, most = 250_000, 2_000_000
	return int(max(least, min(most, maxBytes/2/server.PerPathInterval)))
}

// restore loads the sessions in the directory into the store.
func (v *View) restore(analyzer *sessions.Analyzer) (err error) {
	if v.cfg.Directory == "" {
		return nil
	}
	if v.unlock, err = archive.Lock(v.cfg.Directory); err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	if v.archive, err = archive.Open(v.cfg.Directory, v.maxBytes); err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	found, err := v.archive.Restore(v.store, v.engine(analyzer))
	if err != nil {
		v.cfg.Logger.Warn("Some sessions could not be read", zap.Error(err))
	}
	v.cfg.Logger.Info("Restored sessions", zap.Int("sessions", found.Sessions), zap.Int("files", found.Files),
		zap.Uint64("events", found.Events), zap.Int("problems", found.Problems))
	return nil
}

// engine returns the configuration of the engine that follows sessions for the page.
func (v *View) engine(analyzer *sessions.Analyzer) engine.Config {
	cfg := analyzer.Options.Config().Engine
	cfg.Window = v.cfg.Window
	return cfg
}
