// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

type directKey struct{}

// Direct returns the context of a request with carriers from their receiver. No queue on disk, which may still have carriers of an earlier
// life, preserves it, and no network.
func Direct(ctx context.Context) context.Context { return context.WithValue(ctx, directKey{}, true) }

// IsDirect reports whether the carriers of a request come from a receiver in this process, in its order.
func IsDirect(ctx context.Context) bool { return ctx.Value(directKey{}) != nil }

// DropFirst makes the span of a carrier say that the first batch of its sender is not known.
func DropFirst(span ptrace.Span) {
	span.Attributes().RemoveIf(func(key string, _ pcommon.Value) bool { return key == attrRawFirst }) // Remove leaves a second one
}
