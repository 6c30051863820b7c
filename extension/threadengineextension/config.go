// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadengineextension

import (
	"fmt"
	"reflect"
	"strings"

	"go.opentelemetry.io/collector/component"

	"github.com/weft-otel/weft/internal/sessions"
)

// Config is the configuration of the extension: the options of the components that name it.
type Config struct {
	Sessions sessions.Options `mapstructure:",squash"`
	// HeapGrowth is the part by which the heap of the process may grow between garbage collections, in percent, for heaps above 64 MiB;
	// 0 leaves it at 100, or GOGC.
	HeapGrowth int `mapstructure:"heap_growth"`
	// MemoryLimitMiB is how much memory the process may use, in MiB, the same as limit_mib of memory_limiter. The soft limit of the Go runtime
	// is set to 75 % of it, but at least 128 MiB less, down to half of it. The parts that count their memory share 75 % of that. 0 leaves the
	// soft limit alone, as does GOMEMLIMIT.
	MemoryLimitMiB int `mapstructure:"memory_limit_mib"`

	_ struct{} // prevents unkeyed literals
}

// Validate reports numbers that are out of range.
func (c *Config) Validate() error {
	if m := c.MemoryLimitMiB; m != 0 && (m < leastMiB || m > mostMiB) {
		return fmt.Errorf("memory_limit_mib: %d is out of range, use %d to %d, or 0 to leave the limit of the runtime alone", m, leastMiB, mostMiB)
	}
	if c.HeapGrowth < 0 || c.HeapGrowth > usualGrowth {
		return fmt.Errorf("heap_growth: %d is out of range, use 1 to %d, or 0 to leave it alone", c.HeapGrowth, usualGrowth)
	}
	return nil
}

func createDefaultConfig() component.Config { return &Config{Sessions: sessions.DefaultOptions()} }

// Options are the options of a component for sessions and their windows: its own, or those of an engine.
type Options struct {
	sessions.Options `mapstructure:",squash"`

	// Engine is the thread_engine extension to use; empty: the component has an engine of its own.
	Engine component.ID `mapstructure:"engine"`

	_ struct{} // prevents unkeyed literals
}

// DefaultOptions are those of a component with an engine of its own.
func DefaultOptions() Options { return Options{Options: sessions.DefaultOptions()} }

// Shared reports whether the component names an engine.
func (o *Options) Shared() bool { return o.Engine != component.ID{} }

// Validate reports options that belong to the engine.
func (o *Options) Validate() error {
	if !o.Shared() {
		return nil
	}
	var set []string
	have, normal := reflect.ValueOf(o.Options), reflect.ValueOf(sessions.DefaultOptions())
	for i := range have.NumField() {
		key := have.Type().Field(i).Tag.Get("mapstructure")
		if key != "" && !reflect.DeepEqual(have.Field(i).Interface(), normal.Field(i).Interface()) {
			set = append(set, key)
		}
	}
	if len(set) == 0 {
		return nil
	}
	return fmt.Errorf("%s: has no effect with engine: %s; set it in that extension", strings.Join(set, ", "), o.Engine)
}
