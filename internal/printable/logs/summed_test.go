// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package logs_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/internal/printable/logs"
)

// observed returns a guarded logger in front of a sampler like that of a collector.
func observed() (*zap.Logger, *observer.ObservedLogs) {
	to, lines := observer.New(zap.InfoLevel)
	return logs.Guarded(zap.New(zapcore.NewSamplerWithOptions(to, 10*time.Second, 10, 100))), lines
}

func TestFloodsAreSummedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, lines := observed()
		for i := range 100_000 {
			logger.With(zap.Int("peer", i)).Warn("Refused", zap.String("why", "no"))
		}
		logger.Warn("Another reason")
		logger.Debug("Not logged")
		assert.Len(t, lines.TakeAll(), 11)
		time.Sleep(12*time.Second + 500*time.Millisecond) // no line below is at the end of a period
		all := lines.TakeAll()
		require.Len(t, all, 1)
		assert.Equal(t, "Refused (repeated)", all[0].Message)
		assert.Equal(t, zap.WarnLevel, all[0].Level)
		assert.Equal(t, map[string]any{"peer": int64(99_999), "why": "no", "count": int64(99_990)}, all[0].ContextMap())

		for range 60 { // a minute
			for range 1000 {
				logger.Warn("Refused")
			}
			time.Sleep(time.Second)
		}
		assert.Len(t, lines.TakeAll(), 6)
		time.Sleep(time.Minute)
		assert.Len(t, lines.TakeAll(), 1, "the rest")
		logger.Warn("Refused", zap.String("why", "again"))
		assert.Len(t, lines.TakeAll(), 1, "as it is, after a time without")
	})
}

// Each line is either written or counted.
func TestNoLineIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, lines := observed()
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i := range 1000 {
					logger.Info("x")
					time.Sleep(time.Duration(i) * time.Millisecond)
				}
			})
		}
		wg.Wait()
		time.Sleep(time.Minute)
		total := int64(0)
		for _, line := range lines.All() {
			if n, ok := line.ContextMap()["count"].(int64); ok {
				total += n
			} else {
				total++
			}
		}
		assert.EqualValues(t, 4000, total)
	})
}

// Go's HTTP server has the address of the client in its messages.
func TestAddressesAreNoReasons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, lines := observed()
		for i := range 10_000 {
			logger.Error(fmt.Sprintf("http: TLS handshake error from 127.0.0.1:%d: EOF", i))
		}
		assert.Len(t, lines.TakeAll(), 10)
		for i := range 10_000 { // as many reasons
			logger.Error("x" + strings.Repeat("x", i))
		}
		assert.Len(t, lines.TakeAll(), 63+10)
		time.Sleep(time.Minute)
		assert.Len(t, lines.TakeAll(), 2)
	})
}

func TestTheEndOfTheProcessIsAlwaysWritten(t *testing.T) {
	logger, lines := observed()
	for range 20 {
		assert.Panics(t, func() { logger.Panic("bug") })
	}
	assert.GreaterOrEqual(t, lines.Len(), 10)
}
