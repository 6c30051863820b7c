// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"errors"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/weft-otel/weft/extension/threadengineextension"
	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/sessions"
)

// Config is the configuration of the processor.
type Config struct {
	Sessions threadengineextension.Options `mapstructure:",squash"`

	// Calls shows what threads did to others without releasing one, as events of their spans.
	Calls bool `mapstructure:"calls"`

	// CompleteStacks shows the frames between those of the application. They can double the size of a trace.
	CompleteStacks bool `mapstructure:"complete_stacks"`

	// RequestSpans adds spans to the traces of the application.
	RequestSpans RequestOptions `mapstructure:"request_spans"`

	// Incidents selects which episodes of contention get a trace of their own.
	Incidents IncidentOptions `mapstructure:"incidents"`

	_ struct{} // prevents unkeyed literals
}

// RequestOptions select what the traces of requests show of their threads.
type RequestOptions struct {
	// Enabled adds a span for each wait of a thread that has a current span of the application, as its child.
	Enabled bool `mapstructure:"enabled"`
	// MinDuration is the duration of a wait with a span of its own. Shorter waits for the same lock have one together.
	MinDuration time.Duration `mapstructure:"min_duration"`
	// MinCaused is for how long others waited in sum while a request held a lock, for the hold to have a span.
	MinCaused time.Duration `mapstructure:"min_caused"`
	// MaxPerSpan bounds the waits of one span of the application that have a span of their own.
	MaxPerSpan int `mapstructure:"max_per_span"`
	// MaxPerSecond bounds the added spans of a JVM.
	MaxPerSecond int `mapstructure:"max_per_second"`

	_ struct{}
}

func createDefaultConfig() component.Config {
	r, i := requests.DefaultConfig(), incident.DefaultOptions()
	return &Config{
		Sessions: threadengineextension.DefaultOptions(),
		RequestSpans: RequestOptions{
			Enabled: true, MinDuration: r.MinDuration, MinCaused: r.MinCaused, MaxPerSpan: r.MaxPerSpan, MaxPerSecond: r.MaxPerSecond,
		},
		Incidents: IncidentOptions{Enabled: true, MinTime: i.MinTime, MaxPerWindow: i.MaxPerWindow},
	}
}

// leastPerSecond leaves room for a hold, which get a quarter.
const leastPerSecond = 4

// Validate checks the ranges.
func (o *RequestOptions) Validate() error {
	return errors.Join(
		sessions.Within("min_duration", o.MinDuration, 0, time.Hour),
		sessions.Within("min_caused", o.MinCaused, 0, time.Hour),
		sessions.AtLeast("max_per_span", o.MaxPerSpan, 1, ""),
		sessions.AtLeast("max_per_second", o.MaxPerSecond, leastPerSecond, ""),
	)
}

// config returns what the engine reports, nil for nothing.
func (o *RequestOptions) config() *requests.Config {
	if !o.Enabled {
		return nil
	}
	return &requests.Config{MinDuration: o.MinDuration, MinCaused: o.MinCaused, MaxPerSpan: o.MaxPerSpan, MaxPerSecond: o.MaxPerSecond}
}
