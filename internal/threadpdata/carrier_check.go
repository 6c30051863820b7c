// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Check returns the error that Parse would, without a session: before anything is made for one.
func Check(span ptrace.Span) error {
	var c Carrier
	return Parse(span, symbols.New(symbols.DefaultLimits()), &c)
}
