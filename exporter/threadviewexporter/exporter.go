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
	"time"

	"github.com/klauspost/compress/gzhttp"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/archive"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/metadata"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/server"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/web"
)

// threadView keeps what carriers tell, and serves the page that shows it.
type threadView struct {
	cfg       *Config
	set       exporter.Settings
	telemetry *metadata.TelemetryBuilder
	store     *store.Store
	sessions  *sessions.Set[struct{}]

	archive *archive.Archive // once started; nil: nothing is kept over a restart

	view    *server.View // once started
	server  *http.Server
	address net.Addr
	serving sync.WaitGroup
}

func newExporter(cfg *Config, set exporter.Settings) (*threadView, error) {
	tb, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	e := &threadView{cfg: cfg, set: set, telemetry: tb, store: store.New(cfg.MaxBytes)}
	e.sessions = sessions.New(sessions.Settings[struct{}]{
		Config: cfg.sessions(), Logger: set.Logger,
		Metrics: sessions.Metrics{
			Events: tb.ExporterThreadViewEvents, EventsLost: tb.ExporterThreadViewEventsLost, Anomalies: tb.ExporterThreadViewAnomalies,
			Reordered: tb.ExporterThreadViewBatchesReordered, Unknown: tb.ExporterThreadViewIntervalsUnknown,
			Sessions: tb.ExporterThreadViewSessions, Held: tb.ExporterThreadViewHeld,
		},
		Follow: e.follow, Deliver: func(context.Context, []struct{}) {},
	})
	return e, errors.Join(
		tb.RegisterExporterThreadViewStoreSizeCallback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(e.store.Stats().Bytes)
			return nil
		}),
		tb.RegisterExporterThreadViewStoreSessionsCallback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(int64(e.store.Stats().Sessions))
			return nil
		}),
		tb.RegisterExporterThreadViewStoreEvictedCallback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(int64(e.store.Stats().Evicted))
			return nil
		}),
	)
}

// consume takes the carriers in. Other spans are none of its business.
func (e *threadView) consume(ctx context.Context, td ptrace.Traces) error {
	e.sessions.Consume(ctx, td)
	return nil
}

// compressed is what is sent as gzip to those who take it. What follows a live session is not: each event has to come at once.
func compressed() []string {
	return []string{"text/html", "text/css", "text/javascript", "application/json", "image/svg+xml"}
}

func (e *threadView) start(ctx context.Context, host component.Host) error {
	if err := e.restore(); err != nil {
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
		return fmt.Errorf("endpoint: the page cannot be served at %s; give another address: %w", e.cfg.HTTP.NetAddr.Endpoint, err)
	}
	e.view = server.New(e.store, server.Config{
		Version: e.set.BuildInfo.Version, Prefix: e.cfg.PathPrefix, Page: web.Page(), TraceURL: e.cfg.Trace.URL, TraceWindow: e.cfg.Trace.Window,
		Hosts: e.hosts(), Agents: agents, Log: e.log,
	})
	compress, err := gzhttp.NewWrapper(gzhttp.ContentTypes(compressed()))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	e.server, err = e.cfg.HTTP.ToServer(ctx, host.GetExtensions(), e.set.TelemetrySettings, compress(e.view.Handler()))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	e.address = listener.Addr()
	e.sessions.Start()
	e.set.Logger.Info("the page is served", zap.String("url", e.url()))
	if tcp, ok := e.address.(*net.TCPAddr); ok && e.cfg.Control && !e.cfg.HTTP.Auth.HasValue() && !tcp.IP.IsLoopback() {
		e.set.Logger.Warn("whoever reaches the page may change agents; set auth, or an endpoint on localhost, or control: false", zap.Stringer("address", e.address))
	}
	e.serving.Go(func() {
		if err := e.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			e.set.Logger.Error("the page is not served any more", zap.Error(err))
		}
	})
	return nil
}

// restore puts what was kept over a restart into the store.
func (e *threadView) restore() (err error) {
	if e.cfg.Directory == "" {
		return nil
	}
	if e.archive, err = archive.Open(e.cfg.Directory, e.cfg.MaxBytes); err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	found, err := e.archive.Restore(e.store, e.cfg.sessions().Engine)
	if err != nil {
		e.set.Logger.Warn("not all sessions could be read; the others are shown", zap.Error(err))
	}
	e.set.Logger.Info("sessions of before are shown", zap.Int("sessions", found.Sessions), zap.Int("files", found.Files),
		zap.Uint64("events", found.Events), zap.Int("problems", found.Problems))
	return nil
}

// log tells of answers that could not be given: mostly, a browser has gone away.
func (e *threadView) log(message string, err error) { e.set.Logger.Debug(message, zap.Error(err)) }

// url is where the page is.
func (e *threadView) url() string {
	scheme := "http://"
	if e.cfg.HTTP.TLS.HasValue() {
		scheme = "https://"
	}
	return scheme + e.address.String() + e.cfg.PathPrefix
}

// hosts are the names under which the server is known: also the one that it listens on, whose owner is who configured it.
func (e *threadView) hosts() []string {
	hosts := e.cfg.AllowedHosts
	if host, _, err := net.SplitHostPort(e.cfg.HTTP.NetAddr.Endpoint); err == nil && host != "" {
		hosts = append([]string{host}, hosts...)
	}
	return hosts
}

// farewell is how long answers that are on their way may take when the collector stops; then they are cut off.
const farewell = 2 * time.Second

func (e *threadView) shutdown(ctx context.Context) error {
	e.sessions.Shutdown(ctx)
	var err error
	if e.server != nil {
		e.view.Close()
		last, cancel := context.WithTimeout(ctx, farewell)
		defer cancel()
		if e.server.Shutdown(last) != nil { // somebody reads a file, and could take as long as writing one may take
			err = e.server.Close()
		}
		e.serving.Wait()
		e.server = nil
	}
	e.telemetry.Shutdown()
	return err
}

// follower puts the windows of one session into the store.
type follower struct {
	*sessions.Session

	exporter *threadView
	stored   *store.Session
	kept     *archive.Writer // nil: nothing is kept over a restart
	failed   bool            // to keep it; that was logged
}

func (e *threadView) follow(s *sessions.Session) sessions.Follower[struct{}] {
	meta := metaOf(s.Resource)
	f := &follower{Session: s, exporter: e, stored: e.store.Open(s.ID, meta)}
	if e.archive != nil {
		f.kept = e.archive.Session(s.ID, meta, s.Symbols)
	}
	s.Engine.Watch(f.events)
	return f
}

// metaOf is what a resource says of its JVM.
func metaOf(res pcommon.Resource) store.Meta {
	meta := make(store.Meta, res.Attributes().Len())
	for key, value := range res.Attributes().All() {
		meta[key] = value.AsString()
	}
	return meta
}

// events keeps events.
func (f *follower) events(events []jvmthread.Event) {
	f.stored.Events(events, f.Symbols)
	if f.kept != nil {
		f.check(f.kept.Write(events))
	}
}

// check logs the first error of keeping a session.
func (f *follower) check(err error) {
	if err != nil && !f.failed {
		f.failed = true
		f.exporter.set.Logger.Error("a session is not kept over a restart any more", zap.Stringer("session", f.ID), zap.Error(err))
	}
}

// Window keeps a window.
func (f *follower) Window(w *window.Window) { f.stored.Append(w, f.Symbols) }

// Advanced has nothing to do: what was not cut is not shown.
func (*follower) Advanced() {}

// Closed says that nothing more will come.
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

// Take returns nothing: there is nobody to send it to.
func (*follower) Take() []struct{} { return nil }
