// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"go.opentelemetry.io/collector/component"

	"github.com/weft-otel/weft/extension/threadengineextension"
)

// Config is the configuration of the processor.
type Config struct {
	Sessions threadengineextension.Options `mapstructure:",squash"`

	// Calls shows what threads did to others without releasing one, as events of their spans.
	Calls bool `mapstructure:"calls"`

	// CompleteStacks shows the frames between those of the application. They can double the size of a trace.
	CompleteStacks bool `mapstructure:"complete_stacks"`

	_ struct{} // prevents unkeyed literals
}

func createDefaultConfig() component.Config {
	return &Config{Sessions: threadengineextension.DefaultOptions()}
}
