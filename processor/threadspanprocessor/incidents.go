// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"context"
	"errors"
	"time"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/sessions"
)

// IncidentOptions select which episodes of contention get a trace of their own.
type IncidentOptions struct {
	// Enabled writes such traces.
	Enabled bool `mapstructure:"enabled"`
	// MinTime is the least time that threads waited, all together; deadlocks are always reported.
	MinTime time.Duration `mapstructure:"min_time"`
	// MaxPerWindow bounds the incidents that are reported when a window ends: the costliest ones.
	MaxPerWindow int `mapstructure:"max_per_window"`

	_ struct{}
}

// Validate reports limits that are out of range.
func (o *IncidentOptions) Validate() error {
	return errors.Join(
		sessions.Within("min_time", o.MinTime, 0, time.Hour),
		sessions.AtLeast("max_per_window", o.MaxPerWindow, 1, "; for none, use enabled: false"),
	)
}

// finder returns a finder for a session with the classifier of its engine, nil if incidents are not wanted.
func (o *IncidentOptions) finder(classifier *waits.Classifier) *incident.Finder {
	if !o.Enabled {
		return nil
	}
	return sessions.NewIncidents(incident.Options{MinTime: o.MinTime, MaxPerWindow: o.MaxPerWindow}, classifier)
}

// findIncidents finds the incidents that ended in a window; nil if they are off.
func (s *session) findIncidents(w *window.Window) *incident.Found {
	if s.incidents == nil {
		return nil
	}
	found := s.incidents.Find(w)
	s.proc.telemetry.ProcessorThreadSpanIncidents.Add(context.Background(), int64(found.Reported.Count))
	s.proc.telemetry.ProcessorThreadSpanIncidentsFolded.Add(context.Background(), int64(found.Rest.Count))
	return found
}
