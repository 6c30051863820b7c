// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/threadtest"
)

// TestExactWithOpenTelemetryAgent has OpenTelemetry's Java agent transform classes in the same JVM, VirtualThread among those that it sees:
// each unpark of a virtual thread is still recorded once, and the JVM verifies all bytecode.
func TestExactWithOpenTelemetryAgent(t *testing.T) {
	newest := newestWithBlocking(t)
	file := filepath.Join(t.TempDir(), "wakers.weft")
	var truth struct {
		Turns int `json:"turns"`
		Pairs []struct {
			Way        string `json:"way"`
			WakerKind  string `json:"waker_kind"`
			WaiterKind string `json:"waiter_kind"`
			Waiter     int64  `json:"waiter"`
			Wakers     []any  `json:"wakers"`
		} `json:"pairs"`
	}
	runJava(t, newest, "file://"+file+",virtual=exact,file-size=1g", "wakers", &truth, "-javaagent:"+javaAgent(t), "-Dotel.traces.exporter=none",
		"-Dotel.metrics.exporter=none", "-Dotel.logs.exporter=none", "-Dotel.javaagent.logging=none", "--sun-misc-unsafe-memory-access=allow",
		"-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal",
		"-Djdk.virtualThreadScheduler.parallelism=4", "Wakers", "100")
	unparks := unparksOfVirtual(t, file)
	checked := 0
	for _, p := range truth.Pairs {
		if p.Way != "Park" || p.WaiterKind != "virtual" {
			continue
		}
		name := fmt.Sprintf("%s: %s by %s", p.Way, p.WaiterKind, p.WakerKind)
		waker, ok := p.Wakers[0].(float64)
		require.True(t, ok, name)
		assert.Equal(t, truth.Turns, unparks[[2]jvmthread.ThreadID{jvmthread.ThreadID(waker), jvmthread.ThreadID(p.Waiter)}], name)
		checked++
	}
	assert.Equal(t, 2, checked, "by a platform and by a virtual thread")
}

// unparksOfVirtual counts the unparks of virtual threads in a recording, by who unparked whom.
func unparksOfVirtual(t *testing.T, file string) map[[2]jvmthread.ThreadID]int {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	format := native.Format()
	got, stats, err := threadtest.Decode(&format, recording.Options{File: file, Symbols: symbols.New(symbols.DefaultLimits())}, data, 0)
	threadtest.CheckDecoded(t, file, got, stats, err)
	unparks := map[[2]jvmthread.ThreadID]int{}
	for _, ev := range got.Events {
		if ev.Kind == jvmthread.KindUnpark && ev.Flags&jvmthread.FlagVirtualPeer != 0 {
			unparks[[2]jvmthread.ThreadID{ev.Thread, ev.Peer}]++
		}
	}
	return unparks
}
