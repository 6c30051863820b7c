// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/internal/threadtest"
)

// replayed runs a collector on recordings until it has written the last window of each service.
func replayed(t *testing.T, recordings string, services ...string) *output {
	t.Helper()
	c := startCollector(t, setup{config: "replay.yaml", env: []string{"WEFT_RECORDINGS=" + recordings, "WEFT_STATE=" + t.TempDir()}})
	return c.finish(t, services...)
}

// TestReplayMatchesTheLiveRun records the bytes that an agent sends to a collector, and has another collector read them.
func TestReplayMatchesTheLiveRun(t *testing.T) {
	j := jdks[len(jdks)-1]
	live := startCollector(t, setup{})
	dir := t.TempDir()
	tap := tapped(t, live.endpoint, filepath.Join(dir, "run.weft"))
	var truth spantest.PingPong
	runJava(t, j, tap, "orders", &truth, "PingPong", "200")
	want := live.finish(t, "orders")

	got := replayed(t, filepath.Join(dir, "*.weft"), "orders")
	spantest.CheckPingPong(t, got, "orders", truth)
	spantest.CheckStructure(t, got)
	spantest.CheckNothingLost(t, got)
	if diff := cmp.Diff(described(want), described(got)); diff != "" {
		t.Errorf("live - replayed +:\n%s", clip(diff))
	}
}

// described prints all spans and links of a run, ordered by id.
func described(o *output) (lines []string) {
	for _, s := range o.Spans {
		attributes := s.Attributes().AsRaw()
		var line strings.Builder
		fmt.Fprint(&line, s.TraceID(), s.SpanID(), s.ParentSpanID(), " ", s.Name(), s.StartTimestamp(), s.EndTimestamp(), attributes)
		for _, l := range s.Links().All() {
			fmt.Fprint(&line, " -> ", l.TraceID(), l.SpanID(), l.Attributes().AsRaw())
		}
		lines = append(lines, line.String())
	}
	slices.Sort(lines)
	return lines
}

// tapped returns an endpoint that forwards to another and records what agents send.
func tapped(t *testing.T, endpoint, file string) string {
	t.Helper()
	path := filepath.Join(threadtest.SocketDir(t), "tap")
	listener, err := net.Listen("unix", path)
	require.NoError(t, err)
	out, err := os.Create(file)
	require.NoError(t, err)
	var copying sync.WaitGroup
	copying.Go(func() {
		for {
			agent, err := listener.Accept()
			if err != nil {
				return
			}
			collector, err := net.Dial("unix", strings.TrimPrefix(endpoint, "unix://"))
			if err != nil {
				t.Error(err)
				_ = agent.Close()
				return
			}
			copying.Go(func() {
				_, _ = io.Copy(agent, collector) // ends when either side closes
				_ = agent.Close()
			})
			copying.Go(func() {
				_, _ = io.Copy(io.MultiWriter(out, collector), agent) // see above
				_ = collector.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		copying.Wait()
		_ = out.Close()
	})
	return "unix://" + path
}

// TestReplayGoesOnAfterARestart keeps what was written before: the recordings of the first run are not read again.
func TestReplayGoesOnAfterARestart(t *testing.T) {
	recordings, state := t.TempDir(), t.TempDir()
	env := []string{"WEFT_RECORDINGS=" + recordings + "/*", "WEFT_STATE=" + state}
	record := func(service string) {
		t.Helper()
		var truth spantest.Sleeps
		runJava(t, jdks[0], "file://"+filepath.Join(recordings, service+".weft"), service, &truth, "Sleeps", "5")
	}
	record("first")
	c := startCollector(t, setup{config: "replay.yaml", env: env})
	before := len(c.finish(t, "first").Spans)
	record("second")
	again := startCollector(t, setup{config: "replay.yaml", env: append(env, "WEFT_OUT="+c.out)})
	c.waitForCut(t, "second", "end")
	again.terminate(t)
	o := c.spans(t)
	assert.Len(t, o.Of("first", func(*span) bool { return true }), before)
	spantest.CheckNothingLost(t, o)
}
