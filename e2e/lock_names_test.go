// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/threadtest"
)

// TestLocksHaveTheSourcesNamesIfAttached attaches the agent to a program whose threads are named after the locks that they wait for, two of them
// since before. Programs with the agent from their start are in the recorded corpus.
func TestLocksHaveTheSourcesNamesIfAttached(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		file := filepath.Join(t.TempDir(), "names.weft")
		p := start(t, nil, filepath.Join(j.Home, "bin", "java"), "-XX:+EnableDynamicAgentLoading", "-cp", classes, "LockNames", "attach")
		poll(t, "the program is ready", func() bool { return len(p.outLines()) == 1 })
		weft := start(t, nil, built("weft"), "attach", strconv.Itoa(p.cmd.Process.Pid), "file="+file)
		require.Zero(t, weft.wait(t), "exit code of weft attach")
		// What the snapshot found is dropped if the thread continues before the sender has merged it.
		poll(t, "the snapshot is in the file", func() bool {
			stuck := slices.DeleteFunc(recordedEvents(t, file), func(event string) bool { return !strings.Contains(event, "at LockNames.enter") })
			return len(stuck) == 2
		})
		_, err := io.WriteString(p.stdin, "\n")
		require.NoError(t, err)
		checkLockNames(t, p, file)
	})
}

// checkLockNames waits for the end of LockNames and checks its recording.
func checkLockNames(t *testing.T, p *process, file string) {
	t.Helper()
	require.Zero(t, p.wait(t), "exit code")
	var truth struct {
		Cases int `json:"cases"`
	}
	p.truth(t, &truth)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	format, sym := native.Format(), symbols.New(symbols.DefaultLimits())
	got, stats, err := threadtest.Decode(&format, recording.Options{File: file, Symbols: sym}, data, 0)
	threadtest.CheckDecoded(t, file, got, stats, err)

	names, locks, waits := map[string]map[string]bool{}, map[string]string{}, map[string]string{}
	for _, ev := range got.Events {
		if ev.Kind != jvmthread.KindContendedEnter && ev.Kind != jvmthread.KindPark && ev.Kind != jvmthread.KindWait {
			continue
		}
		thread, class := sym.Thread(ev.Thread).Name, sym.Class(ev.Lock.Class)
		if class == "[I" {
			continue // threads contend to initialize a class
		}
		if names[thread] == nil {
			names[thread] = map[string]bool{}
		}
		names[thread][symbols.LockName(sym.Stack(ev.Stack))] = true
		locks[thread] = class
		waits[thread] += "\n" + threadtest.EventText(ev, sym)
	}
	cases := 0
	for thread, have := range names {
		_, want, isCase := strings.Cut(thread, ":")
		if !isCase {
			continue
		}
		cases++
		assert.Equal(t, []string{strings.TrimPrefix(want, " ")}, slices.Sorted(maps.Keys(have)), "%s waited:%s", thread, waits[thread])
	}
	assert.Equal(t, truth.Cases, cases, "threads that waited")
	for _, thread := range []string{"class:", "static method:", "stuck at a class:"} {
		assert.Equal(t, "java.lang.Class<LockNames>", locks[thread], thread)
	}
}
