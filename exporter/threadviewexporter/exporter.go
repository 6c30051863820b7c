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

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
	"golang.org/x/net/netutil"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/metadata"
	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/extension/threadengineextension"
	"github.com/weft-otel/weft/internal/entrance"
	"github.com/weft-otel/weft/internal/printable/logs"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadview"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// threadView serves a View of the carriers.
type threadView struct {
	cfg       *Config
	set       exporter.Settings
	telemetry *metadata.TelemetryBuilder
	view      *threadview.View

	server  *http.Server // once started
	address net.Addr
	serving sync.WaitGroup
}

func newExporter(cfg *Config, set exporter.Settings) (*threadView, error) {
	set.Logger = logs.Guarded(set.Logger)
	tb, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	e := &threadView{cfg: cfg, set: set, telemetry: tb, view: threadview.New(cfg.MaxBytes)}
	observe := func(value func(store.Stats) int64) metric.Int64Callback {
		return func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(value(e.view.Stats()))
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

func (e *threadView) consume(ctx context.Context, td ptrace.Traces) error {
	return e.view.Consume(ctx, td)
}

// maxConnections limits the connections to the page, so that clients who open many and send nothing cannot take all file descriptors of the
// collector. Further ones wait in the backlog, at most until read_header_timeout or idle_timeout ends some of them.
const maxConnections = 512

func (e *threadView) start(ctx context.Context, host component.Host) error {
	analyzer, err := threadengineextension.Analyzer(ctx, host, threadengineextension.Owner{Kind: component.KindExporter, ID: e.set.ID}, e.cfg.sessions(), e.set.Logger)
	if err != nil {
		return err
	}
	page, err := e.page(host, analyzer)
	if err != nil {
		return err
	}
	listener, err := e.cfg.HTTP.ToListener(ctx)
	if err != nil {
		return fmt.Errorf("endpoint: cannot serve the page at %s, use another address: %w", e.cfg.HTTP.NetAddr.Endpoint, err)
	}
	listener = netutil.LimitListener(listener, maxConnections)
	if err := e.serve(ctx, host, listener, threadview.Config{
		Page: page, Directory: e.cfg.Directory, Window: e.cfg.Window, Metrics: e.metrics(), Logger: e.set.Logger,
	}, analyzer); err != nil {
		return errors.Join(err, listener.Close())
	}
	e.set.Logger.Info("Serving the page", zap.String("url", e.url()))
	return nil
}

// page returns the options of the page.
func (e *threadView) page(host component.Host, analyzer *sessions.Analyzer) (server.Config, error) {
	page := server.Config{
		Version: e.set.BuildInfo.Version, Prefix: e.cfg.PathPrefix, Hosts: e.hosts(), TraceURL: e.cfg.Trace.URL, TraceWindow: e.cfg.Trace.Window,
		Entrance: entrance.Process,
	}
	if e.cfg.sessions().Shared() {
		page.TraceWindow = analyzer.Options.Window
	}
	if !e.cfg.Control {
		return page, nil
	}
	var err error
	if page.Agents, err = agentcontrolextension.Find(host, e.cfg.AgentControl); err != nil {
		return page, fmt.Errorf("control: %w", err)
	}
	return page, nil
}

// serve starts the view, and its server at the listener.
func (e *threadView) serve(ctx context.Context, host component.Host, listener net.Listener, cfg threadview.Config, analyzer *sessions.Analyzer) error {
	if err := e.view.Start(cfg, analyzer); err != nil {
		return err
	}
	handler, err := e.view.Handler()
	if err != nil {
		return err
	}
	if e.server, err = e.cfg.HTTP.ToServer(ctx, host.GetExtensions(), e.set.TelemetrySettings, handler, confighttp.WithErrorHandler(e.refuse)); err != nil {
		return err
	}
	e.address = listener.Addr()
	e.serving.Go(func() {
		if err := e.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			e.set.Logger.Error("Server of the page failed", zap.Error(err))
		}
	})
	return nil
}

// refuse answers requests that do not reach the page. Without a challenge, a browser requests no name and password.
func (e *threadView) refuse(w http.ResponseWriter, _ *http.Request, message string, status int) {
	if status == http.StatusUnauthorized {
		challenge := "Bearer"
		if e.cfg.HTTP.Auth.Get().AuthenticatorID.Type().String() == "basicauth" {
			challenge = `Basic realm="Weft"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
	}
	http.Error(w, message, status)
}

func (e *threadView) metrics() sessions.Metrics {
	tb := e.telemetry
	return sessions.Metrics{
		Events: tb.ExporterThreadViewEvents, EventsLost: tb.ExporterThreadViewEventsLost, Anomalies: tb.ExporterThreadViewAnomalies,
		Reordered: tb.ExporterThreadViewBatchesReordered, Unknown: tb.ExporterThreadViewIntervalsUnknown,
		Sessions: tb.ExporterThreadViewSessions, Failed: tb.ExporterThreadViewSessionsFailed, Held: tb.ExporterThreadViewHeld,
	}
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
	e.view.End(ctx)
	var err error
	if e.server != nil {
		last, cancel := context.WithTimeout(ctx, farewell)
		defer cancel()
		if e.server.Shutdown(last) != nil { // a download could take minutes
			err = e.server.Close()
		}
		e.serving.Wait()
		e.server = nil
	}
	e.view.Close()
	e.telemetry.Shutdown()
	return err
}
