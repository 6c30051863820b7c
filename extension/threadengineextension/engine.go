// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadengineextension

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/extension/threadengineextension/internal/metadata"
	"github.com/weft-otel/weft/internal/printable/logs"
	"github.com/weft-otel/weft/internal/sessions"
)

// threadEngine is the extension. It starts before the components that name it, and stops after them.
type threadEngine struct {
	analyzer *sessions.Analyzer
	heap     *heapGrowth // nil: left alone
}

func newThreadEngine(cfg *Config, set extension.Settings) *threadEngine {
	return &threadEngine{sessions.NewAnalyzer(cfg.Sessions, logs.Escaped(set.Logger)), newHeapGrowth(cfg.HeapGrowth)}
}

// Start does not start the analysis: the first component that joins does.
func (e *threadEngine) Start(context.Context, component.Host) error {
	e.heap.start()
	return nil
}

// Shutdown ends the analysis, unless a component already did.
func (e *threadEngine) Shutdown(ctx context.Context) error {
	e.analyzer.Shutdown(ctx)
	e.heap.end()
	return nil
}

// Analyzer returns the analyzer that a component's options select: that of the extension they name, or a new one.
func Analyzer(host component.Host, options *Options, logger *zap.Logger) (*sessions.Analyzer, error) {
	if !options.Shared() {
		return sessions.NewAnalyzer(options.Options, logger), nil
	}
	e, err := find(host, options.Engine)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	return e.analyzer, nil
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
