// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"go.opentelemetry.io/collector/component"

	"github.com/weft-otel/weft/internal/sessions"
)

// Config is the configuration of the processor.
type Config struct {
	Sessions sessions.Options `mapstructure:",squash"`

	_ struct{} // prevents unkeyed literals
}

func createDefaultConfig() component.Config { return &Config{Sessions: sessions.DefaultOptions()} }
