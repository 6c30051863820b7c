// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package otlp_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadtest"
)

// heap returns the bytes in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// What is held back takes memory for each span, and not more however long the file is.
func TestMemory(t *testing.T) {
	const spans, limit, window = 60_000, 20_000, 500
	var text bytes.Buffer
	d := format.New(recording.Options{Reorder: limit}, &threadtest.Discard{})
	before := heap()
	peak := int64(0)
	for i := range spans {
		if i%window == 0 {
			text.WriteString(`{"resourceSpans":[{"resource":{"attributes":[{"key":"weft.session.id","value":{"stringValue":"01000000000000000000000000000000"}}]},"scopeSpans":[{"spans":[`)
		}
		fmt.Fprintf(&text, `{"traceId":"%032x","spanId":"%016x","startTimeUnixNano":"%d","attributes":[{"key":"weft.state","value":{"stringValue":"blocked"}},`+
			`{"key":"thread.id","value":{"intValue":"%d"}},{"key":"thread.name","value":{"stringValue":"t%d"}},{"key":"weft.interval.time","value":{"intValue":"9"}},`+
			`{"key":"weft.lock.class","value":{"stringValue":"C"}},{"key":"weft.lock.id","value":{"intValue":"3"}}]}`,
			i/window+1, i+1, began+jvmthread.Time(i*10), i%50+1, i%50+1)
		if i%window < window-1 {
			text.WriteByte(',')
			continue
		}
		text.WriteString("]}]}]}\n")
		_, err := d.Write(text.Bytes())
		require.NoError(t, err)
		text.Reset()
		if i%(10*window) == 10*window-1 {
			peak = max(peak, heap()-before)
		}
	}
	require.NoError(t, d.Close())
	require.EqualValues(t, 2*spans, d.Stats().Events)
	assert.Less(t, peak/limit, int64(400), "bytes for each span")
	t.Logf("%d bytes for each span", peak/limit)
}
