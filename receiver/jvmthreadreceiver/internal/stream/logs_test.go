// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/metadata"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

// Clients that are refused again and again do not fill the disk with logs.
func TestRefusalsDoNotFloodTheLog(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	set := receivertest.NewNopSettings(metadata.Type)
	set.Logger = zap.New(core)
	out, err := outlet.New(set, "", outlettest.NewSink())
	require.NoError(t, err)
	r := start(t, out, nil)
	began := time.Now()
	for range 300 {
		for _, text := range []string{
			"preamble version=2\n",
			"preamble version=1\nend reason=1\n",
			hello + "end reason=1\n",
		} {
			a := dial(t, r)
			a.send(text)
			for err := error(nil); err == nil; {
				_, err = a.reader.Next()
			}
			require.NoError(t, a.conn.Close())
		}
	}
	r.stop()
	periods := int(time.Since(began)/(10*time.Second)) + 1
	for _, message := range []string{
		"Refused a connection", "Closed a connection that violates the stream protocol", "Session started", "Session ended",
	} {
		lines := logs.FilterMessageSnippet(message).Len()
		assert.GreaterOrEqual(t, lines, 10, message)
		assert.LessOrEqual(t, lines, 10+periods, message)
	}
}
