// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/weft-otel/weft/extension/threadengineextension"
	"github.com/weft-otel/weft/processor/threadspanprocessor"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver"
)

// windowLength makes a program last for some windows.
const windowLength = 2 * time.Second

type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

// run starts a component, which stops with the life, before those that run already.
func (l *life) run(c component.Component, err error, h component.Host) {
	if err == nil {
		err = c.Start(context.Background(), h)
	}
	if err != nil {
		panic(err)
	}
	l.stops = append([]func(context.Context) error{c.Shutdown}, l.stops...)
}

// receive adds the receiver of agents.
func (l *life) receive(send consumer.ConsumeTracesFunc) {
	next, err := consumer.NewTraces(send)
	if err != nil {
		panic(err)
	}
	factory := jvmthreadreceiver.NewFactory()
	cfg := factory.CreateDefaultConfig().(*jvmthreadreceiver.Config)
	cfg.Protocols.Stream.Listener = l.entry
	set := receivertest.NewNopSettings(factory.Type())
	set.ID = component.NewID(factory.Type())
	r, err := factory.CreateTraces(context.Background(), set, cfg, next)
	l.run(r, err, host{})
}

// analyze adds an engine with thread_span, and maybe with a second component. Without storage, what the engine has does not survive.
func (l *life) analyze(durable, shared bool, next consumer.Traces) consumer.ConsumeTracesFunc {
	engines := threadengineextension.NewFactory()
	cfg := engines.CreateDefaultConfig().(*threadengineextension.Config)
	cfg.Sessions.Window = windowLength
	h := host{storageID: l.store}
	if durable {
		cfg.Sessions.Storage = &storageID
	}
	id := component.NewID(engines.Type())
	of := extensiontest.NewNopSettings(engines.Type())
	of.ID = id
	engine, err := engines.Create(context.Background(), of, cfg)
	l.run(engine, err, h)
	h[id] = engine

	processors := threadspanprocessor.NewFactory()
	spans := processors.CreateDefaultConfig().(*threadspanprocessor.Config)
	spans.Sessions.Engine = id
	set := processortest.NewNopSettings(processors.Type())
	set.ID = component.NewID(processors.Type())
	p, err := processors.CreateTraces(context.Background(), set, spans, next)
	l.run(p, err, h)
	if shared {
		return l.validate(id, h, p)
	}
	return p.ConsumeTraces
}

// export adds an exporter whose queue is on the disk, as the durable configurations have it.
func (l *life) export(name string, change func(*exporterhelper.QueueBatchConfig), send consumer.ConsumeTracesFunc) consumer.Traces {
	queue := exporterhelper.NewDefaultQueueConfig()
	queue.StorageID = &storageID
	queue.Batch = configoptional.Some(exporterhelper.BatchConfig{
		FlushTimeout: 200 * time.Millisecond, Sizer: exporterhelper.RequestSizerTypeBytes, MinSize: 250_000,
	})
	change(&queue)
	retry := configretry.NewDefaultBackOffConfig()
	retry.InitialInterval, retry.MaxInterval, retry.MaxElapsedTime, retry.RandomizationFactor = 500*time.Millisecond, 5*time.Second, 0, 0
	set := exporter.Settings{ID: component.NewID(component.MustNewType(name)), TelemetrySettings: componenttest.NewNopTelemetrySettings()}
	e, err := exporterhelper.NewTraces(context.Background(), set, struct{}{}, send,
		exporterhelper.WithQueue(configoptional.Some(queue)), exporterhelper.WithRetry(retry),
		exporterhelper.WithTimeout(exporterhelper.TimeoutConfig{Timeout: 5 * time.Second}))
	l.run(e, err, host{storageID: l.store})
	return e
}

// deliver sends a request to another life, or to the backend, and returns its answer. The life may die at each moment.
func (l *life) deliver(ctx context.Context, to consumer.ConsumeTracesFunc, over *link, td ptrace.Traces) error {
	l.cross()
	if l.isDead() {
		return nil
	}
	if over.isDown() {
		return errDown
	}
	request := ptrace.NewTraces() // a request's memory is its receiver's
	td.CopyTo(request)
	err := to(ctx, request)
	l.cross()
	if l.isDead() {
		return nil
	}
	if err == nil && over.loses() {
		return errAnswer
	}
	return err
}
