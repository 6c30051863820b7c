// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadengineextension

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/budget"
)

func observeHeld(_ context.Context, o metric.Int64Observer) error {
	budget.Process.Parts(func(p budget.Part, held int64) {
		o.Observe(held, metric.WithAttributes(attribute.String("part", p.String())))
	})
	return nil
}

func observeLimit(_ context.Context, o metric.Int64Observer) error {
	o.Observe(budget.Process.Limit())
	return nil
}

// options are what limits the parts of the process.
var options = map[budget.Part]string{
	budget.Definitions: "jvm_thread::protocols::stream::max_definitions_mib",
	budget.Buffers:     "jvm_thread::protocols::stream::max_buffers_mib",
	budget.Store:       "thread_view::max_bytes",
}

// warnOfMisfit warns once if the limits that the user has chosen exceed the memory of the process. Components then get less, so nothing breaks.
func warnOfMisfit(root *budget.Root, logger *zap.Logger) {
	chosen, need := root.Misfit()
	if need == 0 {
		return
	}
	fields := []zap.Field{zap.Int64("limit_mib", root.Limit()>>20), zap.Int64("need_mib", need>>20)}
	for part, bytes := range chosen {
		fields = append(fields, zap.Int64(options[part]+" in MiB", bytes>>20))
	}
	wanted := need * 100 / partsPercent * 100 / softPercent
	logger.Warn("The chosen limits do not fit into the memory of the process, so parts get less; lower them, or raise memory_limit_mib",
		append(fields, zap.Int64("memory_limit_mib that is enough", wanted>>20+1))...)
}
