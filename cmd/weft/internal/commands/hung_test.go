// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weft-otel/weft/internal/threadtest/wiretext"
)

// hung is a recording of a JVM in which nothing happens any more: a thread sleeps and holds a lock for which another one waits. The last event is
// 3 ms after the first one, the recording ends 25 s after it.
const hung = `
preamble version=1
hello session=0a0b0c0d0e0f0102030405060708090a wall=1764000000000000000 monotonic=0 "service.name"="hung"
class id=1 name="com.acme.Rates"
class id=2 name="com.acme.Main"
class id=3 name="java.lang.Thread"
method id=1 class=2 name="refresh" file="Main.java" lines=0:7
method id=2 class=2 name="get" file="Main.java" lines=0:9
method id=3 class=3 name="sleep" file="Thread.java" lines=0:1
stack id=1 frames=3:0,1:0
stack id=2 frames=2:0
thread id=1 name="refresher" group="main"
thread id=2 name="request-1" group="main"
batch sequence=1 watermark=4000000 before=0
 section thread=1
  event threadStart time=1000000
  event sleepStart time=2000000 stack=1 arg=3600000000000
 section thread=2
  event threadStart time=1000000
  event contendedEnter time=4000000 lock=1/1a stack=2 peer=1
end time=25001000000 reason=2
`

// TestWaitsLastUntilTheEndOfARecording also counts the time after the last event, in each answer.
func TestWaitsLastUntilTheEndOfARecording(t *testing.T) {
	file := wiretext.File(t, hung)
	hour := wiretext.File(t, strings.Replace(hung, "end time=25001000000", "end time=3601000000000", 1))
	spans, perfetto := filepath.Join(t.TempDir(), "hung.spans.json"), filepath.Join(t.TempDir(), "hung.perfetto-trace")
	for _, out := range []string{spans, perfetto} {
		code, _, stderr := run(t, "", "convert", file, out)
		require.Zero(t, code, stderr)
	}
	trace, err := os.ReadFile(perfetto)
	require.NoError(t, err)
	const end = 1764000000000000000 + 25001000000
	assert.True(t, bytes.Contains(trace, protowire.AppendVarint(nil, end)), "the trace for Perfetto lasts until the end")
	for _, test := range []struct {
		name string
		args []string
		want []string
	}{
		{"summary", []string{"summary", file}, []string{"refresher slept 25 s in Main.refresh holding Rates; request-1 waited 25 s for it", "hung: 25 s, "}},
		{"summary of spans", []string{"summary", spans}, []string{"refresher slept 25 s in Main.refresh holding Rates; request-1 waited 25 s for it"}},
		{"summary of a part", []string{"summary", file, "--to", "2025-11-24T16:00:12Z"}, []string{"request-1 waited 12 s for it", "hung: 12 s, "}},
		{"summary of an hour", []string{"summary", hour}, []string{"request-1 waited 1 h 0 min for it", "hung: 1 h 0 min, "}},
		{"why", []string{"why", file, "--thread", "request-1"}, []string{"25 s: 25 s blocked Rates, which refresher held, asleep in Main.refresh"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := run(t, "", test.args...)
			assert.Zero(t, code, stderr)
			for _, want := range test.want {
				assert.Contains(t, stdout, want)
			}
		})
	}
}

// The signal that ends a recording early does not end its summary.
func TestSummaryAfterASignal(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	p := Program{Version: "1.2.3", Out: &out, Err: io.Discard}
	require.NoError(t, p.summarize(ctx, []string{wiretext.File(t, hung)}, &summaryOptions{top: 1, format: formatText}))
	assert.Contains(t, out.String(), "request-1 waited 25 s for it.\n")
}
