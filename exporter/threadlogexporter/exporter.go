// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadlogexporter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/exporter/threadlogexporter/internal/metadata"
	"github.com/weft-otel/weft/internal/printable/logs"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/sessions"
)

// threadLog writes the events in carriers to files, separate ones for each session. It ignores other spans.
type threadLog struct {
	cfg       *Config
	format    recording.Format
	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder
	sessions  *sessions.Set
}

func newThreadLog(cfg *Config, set exporter.Settings) (*threadLog, error) {
	format, err := formats.Find(cfg.Format)
	if err != nil {
		return nil, err
	}
	set.Logger = logs.Guarded(set.Logger)
	tb, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	t := &threadLog{cfg: cfg, format: format, logger: set.Logger, telemetry: tb}
	t.sessions = sessions.New(sessions.Settings{
		Config: sessions.Config{MaxSessions: cfg.MaxSessions, SessionTimeout: cfg.SessionTimeout, ReorderTimeout: cfg.ReorderTimeout, AckWithin: ackWithin},
		Logger: set.Logger,
		Metrics: sessions.Metrics{
			Anomalies: tb.ExporterThreadLogAnomalies, EventsLost: tb.ExporterThreadLogEventsLost, Sessions: tb.ExporterThreadLogSessions, Failed: tb.ExporterThreadLogSessionsFailed,
		},
		Open: t.open,
	})
	return t, nil
}

// ackWithin makes senders wait until their events are in the file.
const ackWithin = time.Hour

// start creates the directory, so that a bad one is reported before the first JVM connects.
func (t *threadLog) start(context.Context, component.Host) error {
	if err := tryDirectory(t.cfg.Directory); err != nil {
		return fmt.Errorf("directory: %w; use a writable one", err)
	}
	keys, err := t.cfg.Carriers.Load()
	if err != nil {
		return err
	}
	t.sessions.Trust(keys)
	t.logger.Info("Recording thread events to files",
		zap.String("format", t.format.Name), zap.String("directory", t.cfg.Directory), zap.Strings("left_out", t.format.Carries.Missing()))
	t.sessions.Start()
	return nil
}

// tryDirectory creates a directory if necessary and checks that files can be created in it.
func tryDirectory(path string) error {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return err
	}
	file, err := os.CreateTemp(path, ".weft-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// shutdown writes all events that are held and closes the files. Sessions may continue in other files.
func (t *threadLog) shutdown(ctx context.Context) error {
	t.sessions.Shutdown(ctx)
	t.telemetry.Shutdown()
	return nil
}

// push records the carriers in td. Write failures are counted and logged, not returned: the sender would repeat everything.
func (t *threadLog) push(ctx context.Context, td ptrace.Traces) error {
	return t.sessions.Consume(ctx, td)
}

// Where events are lost.
const (
	whereAgent  = "agent"
	whereMissed = "missed"
	whereWrite  = "write"
	whereFailed = "failed"
)

func (t *threadLog) lost(where string, n uint64) {
	if n > 0 {
		t.telemetry.ExporterThreadLogEventsLost.Add(context.Background(), int64(n), metric.WithAttributes(attribute.String("where", where)))
	}
}

func (t *threadLog) leftOut(kind string, n int) {
	if n > 0 {
		t.telemetry.ExporterThreadLogEventsLeft.Add(context.Background(), int64(n), metric.WithAttributes(attribute.String("kind", kind)))
	}
}
