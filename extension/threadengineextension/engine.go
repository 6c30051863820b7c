// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadengineextension

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensioncapabilities"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/extension/threadengineextension/internal/metadata"
	"github.com/weft-otel/weft/extension/threadengineextension/internal/stored"
	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/printable/logs"
	"github.com/weft-otel/weft/internal/sessions"
)

// threadEngine is the extension. It starts before the components that name it, and stops after them.
type threadEngine struct {
	id       component.ID
	analyzer *sessions.Analyzer
	heap     *heapGrowth  // nil: left alone
	memory   *memoryLimit // nil: left alone
	parts    int64        // limit of the parts of the process before

	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder

	keeping sync.Once
	unkept  error // why there is no storage
}

func newThreadEngine(cfg *Config, set extension.Settings) (*threadEngine, error) {
	tb, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	memory, options := newMemoryLimit(cfg.MemoryLimitMiB), cfg.Sessions
	if memory != nil && options.SessionsLimitMiB == 0 {
		options.SessionsLimitMiB = int(sessions.ShareOfGo * float64(memory.bytes>>20))
	}
	logger := logs.Guarded(set.Logger)
	return &threadEngine{
		id: set.ID, analyzer: sessions.NewAnalyzer(options, logger), heap: newHeapGrowth(cfg.HeapGrowth), memory: memory, logger: logger, telemetry: tb,
	}, nil
}

// Start does not start the analysis: the first component that joins does.
func (e *threadEngine) Start(context.Context, component.Host) error {
	if err := e.analyzer.Trust(); err != nil {
		return err
	}
	e.heap.start()
	e.memory.start()
	e.parts = limitParts()
	return errors.Join(
		e.telemetry.RegisterExtensionThreadEngineMemoryHeldCallback(observeHeld),
		e.telemetry.RegisterExtensionThreadEngineMemoryLimitCallback(observeLimit),
	)
}

// NotifyConfigSnapshot is called when all extensions have started, and no other component. It sets damaged files of storages aside, which would
// end the collector at each start: its own journal, and the queues of exporters.
func (e *threadEngine) NotifyConfigSnapshot(ctx context.Context, config extensioncapabilities.ConfigSnapshot) error {
	for _, dir := range storageFolders(config.Effective()) {
		if damaged := stored.SetAside(dir, e.logger); damaged > 0 {
			e.telemetry.ExtensionThreadEngineStorageDamaged.Add(ctx, int64(damaged))
		}
	}
	return nil
}

// storageFolders returns the directories of the file_storage extensions in a configuration. What is not a name is somebody else's error.
func storageFolders(config *confmap.Conf) (dirs []string) {
	names, _ := config.Get("service::extensions").([]any)
	for _, name := range names {
		text, _ := name.(string)
		var id component.ID
		if id.UnmarshalText([]byte(text)) != nil || id.Type().String() != "file_storage" {
			continue
		}
		if dir, _ := config.Get("extensions::" + text + "::directory").(string); dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Ready is called when all components have started. It warns about limits that cannot be reached.
func (e *threadEngine) Ready() error {
	warnOfMisfit(budget.Process, e.logger)
	return nil
}

// NotReady is called before components stop.
func (*threadEngine) NotReady() error { return nil }

// Shutdown ends the analysis, unless a component already did.
func (e *threadEngine) Shutdown(ctx context.Context) error {
	e.analyzer.Shutdown(ctx)
	e.heap.end()
	e.memory.end()
	budget.Process.SetLimit(e.parts)
	e.telemetry.Shutdown()
	return nil
}

// Owner is a component that has an engine.
type Owner struct {
	Kind component.Kind
	ID   component.ID
}

// Analyzer returns the analyzer that a component's options select: that of the extension they name, or a new one.
func Analyzer(ctx context.Context, host component.Host, owner Owner, options *Options, logger *zap.Logger) (*sessions.Analyzer, error) {
	if !options.Shared() {
		analyzer := sessions.NewAnalyzer(options.Options, logger)
		return analyzer, errors.Join(analyzer.Trust(), keep(ctx, host, owner, analyzer))
	}
	e, err := find(host, options.Engine)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	// Not in Start: the storage may start later than this extension.
	e.keeping.Do(func() { e.unkept = keep(ctx, host, Owner{component.KindExtension, e.id}, e.analyzer) })
	if e.unkept != nil {
		return nil, fmt.Errorf("engine: %s: %w", e.id, e.unkept)
	}
	return e.analyzer, nil
}

// keep gives an analyzer the storage that its options name.
func keep(ctx context.Context, host component.Host, owner Owner, analyzer *sessions.Analyzer) error {
	id := analyzer.Options.Storage
	if id == nil {
		return nil
	}
	extension, ok := host.GetExtensions()[*id].(storage.Extension)
	if !ok {
		return fmt.Errorf("storage: extension %q not found, or not a storage such as file_storage; configure it and add it to service::extensions", id)
	}
	client, err := extension.GetClient(ctx, owner.Kind, owner.ID, "journal")
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	analyzer.Keep(client)
	return nil
}

func find(host component.Host, id component.ID) (*threadEngine, error) {
	switch found := host.GetExtensions()[id].(type) {
	case *threadEngine:
		return found, nil
	case nil:
		return nil, fmt.Errorf("extension %q not found; configure it under extensions and add it to service::extensions", id)
	default:
		return nil, fmt.Errorf("extension %q is not a %s extension; name one that is", id, metadata.Type)
	}
}
