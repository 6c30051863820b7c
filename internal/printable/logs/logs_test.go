// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package logs_test

import (
	"bytes"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/printable/logs"
)

const hostile = "x\x1b[2J\u009b2J\u202e\u2066\ufeff\x7f\ny"

func TestNoFieldIsHidden(t *testing.T) {
	for name, encoder := range map[string]zapcore.Encoder{
		"console": zapcore.NewConsoleEncoder(zap.NewProductionEncoderConfig()),
		"json":    zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()),
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			logger := logs.Escaped(zap.New(zapcore.NewCore(encoder, zapcore.AddSync(&out), zap.InfoLevel)))
			logger = logger.With(zap.String("with", hostile))
			logger.Debug("not logged")
			assert.Empty(t, out.String())
			logger.Info(hostile, zap.String("text", hostile), zap.Strings("list", []string{"a", hostile}), zap.Error(errors.New(hostile)),
				zap.Stringer("stringer", &url.URL{Opaque: hostile}), zap.Int("count", 7), zap.Error(nil))
			line, found := strings.CutSuffix(out.String(), "\n")
			require.True(t, found)
			assert.Equal(t, line, strings.ReplaceAll(printable.Text(line), `\t`, "\t")) // between columns of the console
			assert.Equal(t, 6, strings.Count(line, "u202e"))
			assert.Contains(t, line, "7")
		})
	}
}

// Samplers count each question whether to log an entry.
func TestSamplerIsAskedOnce(t *testing.T) {
	var out bytes.Buffer
	to := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&out), zap.InfoLevel)
	logger := logs.Escaped(zap.New(zapcore.NewSamplerWithOptions(to, 1<<40, 3, 0)))
	for range 5 {
		logger.Info("x")
	}
	assert.Equal(t, 3, strings.Count(out.String(), "\n"))
}
