// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadviewexporter

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
	"golang.org/x/net/netutil"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/archive"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/incidents"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/metadata"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/server"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/extension/threadengineextension"
	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/printable/logs"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/web"
)

// threadView keeps the events of carriers, and serves the page that shows them.
type threadView struct {
	cfg       *Config
	set       exporter.Settings
	telemetry *metadata.TelemetryBuilder
	store     *store.Store
	budget    *budget.Budget   // of the store, once started
	queries   *budget.Budget   // of the page, once started; not closed, because a query may last longer than the page
	sessions  *sessions.Member // once started

	misplaced atomic.Bool // spans of thread_span arrived, and no carriers before them

	archive *archive.Archive // once started; nil: sessions are lost on a restart

	view    *server.View // once started
	server  *http.Server
	address net.Addr
	serving sync.WaitGroup
}

func newExporter(cfg *Config, set exporter.Settings) (*threadView, error) {
	set.Logger = logs.Guarded(set.Logger)
	tb, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	e := &threadView{cfg: cfg, set: set, telemetry: tb, store: store.New(cfg.MaxBytes, nil)}
	observe := func(value func(store.Stats) int64) metric.Int64Callback {
		return func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(value(e.store.Stats()))
			return nil
		}
	}
	return e, errors.Join(
		tb.RegisterExporterThreadViewStoreSizeCallback(observe(func(s store.Stats) int64 { return s.Bytes })),
		tb.RegisterExporterThreadViewStoreSessionsCallback(observe(func(s store.Stats) int64 { return int64(s.Sessions) })),
		tb.RegisterExporterThreadViewStoreEvictedCallback(observe(func(s store.Stats) int64 { return int64(s.Evicted) })),
		tb.RegisterExporterThreadViewStoreIncidentsCallback(observe(func(s store.Stats) int64 { return int64(s.Incidents) })),
		tb.RegisterExporterThreadViewStoreIncidentsDroppedCallback(observe(func(s store.Stats) int64 { return int64(s.Dropped) })),
	)
}

// consume takes carriers, and ignores other spans.
func (e *threadView) consume(ctx context.Context, td ptrace.Traces) error {
	if err := e.sessions.Consume(ctx, td); err != nil {
		return err
	}
	if !e.misplaced.Load() && hasSpans(td) && e.store.Stats().Sessions == 0 && e.misplaced.CompareAndSwap(false, true) {
		e.set.Logger.Warn("The page stays empty: " + misplaced)
	}
	return nil
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
func (e *threadView) notice() string {
	if e.misplaced.Load() && e.store.Stats().Sessions == 0 {
		return "No sessions: " + misplaced + "."
	}
	return ""
}

// maxConnections limits the connections to the page, so that clients who open many and send nothing cannot take all file descriptors of the
// collector. Further ones wait in the backlog, at most until read_header_timeout or idle_timeout ends some of them.
const maxConnections = 512

func (e *threadView) start(ctx context.Context, host component.Host) error {
	analyzer, err := threadengineextension.Analyzer(ctx, host, threadengineextension.Owner{Kind: component.KindExporter, ID: e.set.ID}, e.cfg.sessions(), e.set.Logger)
	if err != nil {
		return err
	}
	e.store.SetRules(analyzer.Options.Frames.Rules())
	e.budget = budget.Process.New(budget.Store, e.cfg.MaxBytes).Choose(e.cfg.MaxBytes != store.DefaultMaxBytes)
	e.queries = budget.Process.New(budget.Queries, 0)
	e.store.SetBudget(e.budget)
	if err := e.restore(analyzer); err != nil {
		return err
	}
	var agents agentcontrolextension.Registry
	if e.cfg.Control {
		var err error
		if agents, err = agentcontrolextension.Find(host, e.cfg.AgentControl); err != nil {
			return fmt.Errorf("control: %w", err)
		}
	}
	listener, err := e.cfg.HTTP.ToListener(ctx)
	if err != nil {
		return fmt.Errorf("endpoint: cannot serve the page at %s, use another address: %w", e.cfg.HTTP.NetAddr.Endpoint, err)
	}
	listener = netutil.LimitListener(listener, maxConnections)
	traceWindow := e.cfg.Trace.Window
	if e.cfg.sessions().Shared() {
		traceWindow = analyzer.Options.Window
	}
	e.view = server.New(e.store, server.Config{
		Version: e.set.BuildInfo.Version, Prefix: e.cfg.PathPrefix, Page: web.Page(), TraceURL: e.cfg.Trace.URL, TraceWindow: traceWindow,
		Hosts: e.hosts(), Agents: agents, Notice: e.notice, PathIntervals: pathIntervals(e.cfg.MaxBytes), Memory: e.queries,
		Log: func(message string, err error) { e.set.Logger.Debug(message, zap.Error(err)) }, // usually a browser went away
	})
	compressed := []string{"text/html", "text/css", "text/javascript", "application/json", "image/svg+xml"} // no events, each of which must arrive at once
	compress, err := gzhttp.NewWrapper(gzhttp.ContentTypes(compressed))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	e.server, err = e.cfg.HTTP.ToServer(ctx, host.GetExtensions(), e.set.TelemetrySettings, compress(e.view.Handler()))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	e.address = listener.Addr()
	e.join(analyzer)
	e.set.Logger.Info("Serving the page", zap.String("url", e.url()))
	if tcp, ok := e.address.(*net.TCPAddr); ok && e.cfg.Control && !e.cfg.HTTP.Auth.HasValue() && !tcp.IP.IsLoopback() {
		e.set.Logger.Warn("Everyone who can reach the page can change agents; set auth, an endpoint on localhost, or control: false", zap.Stringer("address", e.address))
	}
	e.serving.Go(func() {
		if err := e.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			e.set.Logger.Error("Server of the page failed", zap.Error(err))
		}
	})
	return nil
}

// pathIntervals is how many intervals a critical path may have, so that its search takes half as much memory as the store.
func pathIntervals(maxBytes int64) int {
	const least, most = 250_000, 2_000_000
	return int(max(least, min(most, maxBytes/2/server.PerPathInterval)))
}

// join follows the sessions of an analyzer, in windows as long as the delay of the page.
func (e *threadView) join(analyzer *sessions.Analyzer) {
	tb := e.telemetry
	e.sessions = analyzer.Join(sessions.MemberSettings{
		Metrics: sessions.Metrics{
			Events: tb.ExporterThreadViewEvents, EventsLost: tb.ExporterThreadViewEventsLost, Anomalies: tb.ExporterThreadViewAnomalies,
			Reordered: tb.ExporterThreadViewBatchesReordered, Unknown: tb.ExporterThreadViewIntervalsUnknown,
			Sessions: tb.ExporterThreadViewSessions, Held: tb.ExporterThreadViewHeld,
		},
		Window: e.cfg.Window, Follow: e.follow,
	})
}

// restore loads the sessions in the directory into the store.
func (e *threadView) restore(analyzer *sessions.Analyzer) (err error) {
	if e.cfg.Directory == "" {
		return nil
	}
	if e.archive, err = archive.Open(e.cfg.Directory, e.cfg.MaxBytes); err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	found, err := e.archive.Restore(e.store, e.engine(analyzer))
	if err != nil {
		e.set.Logger.Warn("Some sessions could not be read", zap.Error(err))
	}
	e.set.Logger.Info("Restored sessions", zap.Int("sessions", found.Sessions), zap.Int("files", found.Files),
		zap.Uint64("events", found.Events), zap.Int("problems", found.Problems))
	return nil
}

// engine returns the configuration of the engine that follows sessions for the page.
func (e *threadView) engine(analyzer *sessions.Analyzer) engine.Config {
	cfg := analyzer.Options.Config().Engine
	cfg.Window = e.cfg.Window
	return cfg
}

// url is the address of the page.
func (e *threadView) url() string {
	scheme := "http://"
	if e.cfg.HTTP.TLS.HasValue() {
		scheme = "https://"
	}
	return scheme + e.address.String() + e.cfg.PathPrefix
}

// hosts are the allowed host names, including that of the endpoint.
func (e *threadView) hosts() []string {
	hosts := e.cfg.AllowedHosts
	if host, _, err := net.SplitHostPort(e.cfg.HTTP.NetAddr.Endpoint); err == nil && host != "" {
		hosts = append([]string{host}, hosts...)
	}
	return hosts
}

// farewell is how long responses in progress may take on shutdown before they are cut off.
const farewell = 2 * time.Second

func (e *threadView) shutdown(ctx context.Context) error {
	if e.sessions != nil {
		e.sessions.Shutdown(ctx)
	}
	var err error
	if e.server != nil {
		e.view.Close()
		last, cancel := context.WithTimeout(ctx, farewell)
		defer cancel()
		if e.server.Shutdown(last) != nil { // a download could take minutes
			err = e.server.Close()
		}
		e.serving.Wait()
		e.server = nil
	}
	e.budget.Close()
	e.budget = nil
	e.telemetry.Shutdown()
	return err
}

// follower stores the windows of one session.
type follower struct {
	*sessions.Session

	exporter *threadView
	stored   *store.Session
	worst    *incidents.Keeper
	kept     *archive.Writer // nil: the session is lost on a restart
	failed   bool            // to write to the archive; that was logged
}

func (e *threadView) follow(s *sessions.Session) sessions.Follower {
	meta := metaOf(s.Resource)
	f := &follower{Session: s, exporter: e, stored: e.store.Open(s.ID, meta)}
	f.worst = incidents.New(s.ID, f.stored, s.Symbols, s.Engine.Waits())
	if e.archive != nil {
		f.kept = e.archive.Session(s.ID, meta, s.Symbols)
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
	if f.kept != nil {
		f.check(f.kept.Write(events))
	}
}

// check logs the first error of the archive.
func (f *follower) check(err error) {
	if err != nil && !f.failed {
		f.failed = true
		f.exporter.set.Logger.Error("Cannot write session to directory; it will be lost on a restart", zap.Stringer("session", f.ID), zap.Error(err))
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
	reason := ""
	if why == window.CutEnd {
		reason = threadpdata.EndExit
	}
	f.check(f.kept.Close(reason, f.Engine.Now()))
}

// Take returns nothing, since there is no next consumer.
func (*follower) Take() sessions.Delivery { return nil }
