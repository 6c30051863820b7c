// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/connector/connectortest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/connector/contentionconnector"
	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/extension/threadengineextension"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadview"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/processor/threadspanprocessor"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver"
)

// played is what the components of a collector make of a recording.
type played struct {
	spans    consumertest.TracesSink   // of thread_span
	metrics  consumertest.MetricsSink  // of contention
	logs     consumertest.LogsSink     // of contention
	profiles consumertest.ProfilesSink // of contention
	page     http.Handler              // of thread_view
	file     string                    // the recording
	counts   *componenttest.Telemetry  // what the components count
}

// output returns the spans for the rules.
func (p *played) output() *spantest.Output {
	o := spantest.New()
	for _, td := range p.spans.AllTraces() {
		o.Add(td)
	}
	return o
}

// host is the collector that the components are in.
type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

// pipelines are those of a collector: a receiver whose carriers reach a processor, a connector and a page, which share an engine.
type pipelines struct {
	host     host
	engine   component.ID
	carriers []func(context.Context, ptrace.Traces) error
	running  []component.Component // in the order in which they are stopped
	out      *played
}

// play passes a recording through the components, with options of the engine. The caller calls done after the last request to the page.
func play(file string, options map[string]any) (out *played, done func(), err error) {
	ctx := context.Background()
	p := &pipelines{host: host{}, engine: component.MustNewID("thread_engine"), out: &played{counts: componenttest.NewTelemetry(), file: file}}
	var view *threadview.View
	for _, start := range []func() error{
		func() error { return p.startEngine(ctx, options) },
		func() error { return p.startProcessor(ctx) },
		func() error { return p.startConnector(ctx) },
		func() error { return p.startProfiles(ctx) },
		func() error { view, err = p.startPage(ctx); return err },
		func() error { return p.read(ctx, file) },
	} {
		if err := start(); err != nil {
			return nil, nil, err
		}
	}
	for _, c := range p.running {
		if err := c.Shutdown(ctx); err != nil {
			return nil, nil, err
		}
	}
	view.End(ctx)
	if err := p.host[p.engine].Shutdown(ctx); err != nil {
		return nil, nil, err
	}
	done = func() {
		view.Close()
		_ = p.out.counts.Shutdown(ctx) // nothing is exported
	}
	return p.out, done, nil
}

func (p *pipelines) startEngine(ctx context.Context, options map[string]any) error {
	f := threadengineextension.NewFactory()
	cfg := f.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(options).Unmarshal(cfg); err != nil {
		return err
	}
	engine, err := f.Create(ctx, extensiontest.NewNopSettings(f.Type()), cfg)
	if err != nil {
		return err
	}
	p.host[p.engine] = engine
	return engine.Start(ctx, p.host)
}

// shared are the options of a component that uses the engine.
func (p *pipelines) shared() threadengineextension.Options {
	options := threadengineextension.DefaultOptions()
	options.Engine = p.engine
	return options
}

func (p *pipelines) startProcessor(ctx context.Context) error {
	f := threadspanprocessor.NewFactory()
	cfg := f.CreateDefaultConfig().(*threadspanprocessor.Config)
	cfg.Sessions = p.shared()
	set := processortest.NewNopSettings(f.Type())
	set.TelemetrySettings = p.out.counts.NewTelemetrySettings()
	c, err := f.CreateTraces(ctx, set, cfg, &p.out.spans)
	if err != nil {
		return err
	}
	return p.start(ctx, c, c.ConsumeTraces)
}

// startConnector starts a connector that sends metrics once, at the end of a session: those before would depend on the clock.
func (p *pipelines) startConnector(ctx context.Context) error {
	f := contentionconnector.NewFactory()
	cfg := f.CreateDefaultConfig().(*contentionconnector.Config)
	cfg.Sessions, cfg.FlushInterval = p.shared(), time.Hour
	set := connectortest.NewNopSettings(f.Type())
	set.TelemetrySettings = p.out.counts.NewTelemetrySettings()
	metrics, err := f.CreateTracesToMetrics(ctx, set, cfg, &p.out.metrics)
	if err != nil {
		return err
	}
	logs, err := f.CreateTracesToLogs(ctx, set, cfg, &p.out.logs)
	if err != nil {
		return err
	}
	if err := p.start(ctx, metrics, metrics.ConsumeTraces); err != nil {
		return err
	}
	return p.start(ctx, logs, logs.ConsumeTraces)
}

// startProfiles starts another connector, for profiles.
func (p *pipelines) startProfiles(ctx context.Context) error {
	f := contentionconnector.NewFactory()
	cfg := f.CreateDefaultConfig().(*contentionconnector.Config)
	cfg.Sessions, cfg.FlushInterval = p.shared(), time.Hour
	cfg.Profiles.Types, cfg.Profiles.Interval = []string{"block", "mutex", "off_cpu"}, time.Hour
	c, err := f.CreateTracesToProfiles(ctx, connectortest.NewNopSettings(f.Type()), cfg, &p.out.profiles)
	if err != nil {
		return err
	}
	return p.start(ctx, c, c.ConsumeTraces)
}

func (p *pipelines) start(ctx context.Context, c component.Component, consume func(context.Context, ptrace.Traces) error) error {
	p.carriers, p.running = append(p.carriers, consume), append(p.running, c)
	return c.Start(ctx, p.host)
}

// startPage starts what the exporter thread_view serves, without a port.
func (p *pipelines) startPage(ctx context.Context) (*threadview.View, error) {
	options := p.shared()
	owner := threadengineextension.Owner{Kind: component.KindExporter, ID: component.MustNewID("thread_view")}
	analyzer, err := threadengineextension.Analyzer(ctx, p.host, owner, &options, zap.NewNop())
	if err != nil {
		return nil, err
	}
	view := threadview.New(store.DefaultMaxBytes)
	cfg := threadview.Config{
		Page: server.Config{Version: "test", Prefix: "/", TraceWindow: analyzer.Options.Window}, Window: time.Second, Metrics: sessions.Uncounted(), Logger: zap.NewNop(),
	}
	if err := view.Start(cfg, analyzer); err != nil {
		return nil, err
	}
	p.carriers = append(p.carriers, view.Consume)
	p.out.page, err = view.Handler()
	return view, err
}

// read has the receiver read a recording to its end.
func (p *pipelines) read(ctx context.Context, file string) error {
	next, err := consumer.NewTraces(func(ctx context.Context, td ptrace.Traces) error {
		td.MarkReadOnly()
		for _, consume := range p.carriers {
			if err := consume(ctx, td); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	f := jvmthreadreceiver.NewFactory()
	cfg := f.CreateDefaultConfig().(*jvmthreadreceiver.Config)
	protocols := map[string]any{"protocols": map[string]any{"file": map[string]any{"include": []any{file}}}}
	if err := confmap.NewFromStringMap(protocols).Unmarshal(cfg); err != nil {
		return err
	}
	set := receivertest.NewNopSettings(f.Type())
	set.TelemetrySettings = p.out.counts.NewTelemetrySettings()
	r, err := f.CreateTraces(ctx, set, cfg, next)
	if err != nil {
		return err
	}
	if err := r.Start(ctx, p.host); err != nil {
		return err
	}
	select {
	case <-r.(interface{ Finished() <-chan struct{} }).Finished():
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", file, ctx.Err())
	}
	return r.Shutdown(ctx)
}
