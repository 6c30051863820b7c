// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"slices"
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

// owners are those of the locks that Owners contended for, in order: each of so many locks.
type owners struct {
	Owners []jvmthread.ThreadID
	Each   int
}

// layoutOf27 is how JDK 27 keeps monitors and headers by default.
const layoutOf27 = "-XX:+UnlockDiagnosticVMOptions -XX:+UseObjectMonitorTable -XX:+UseCompactObjectHeaders"

// TestOwnersOfNewLocks has threads contend for locks that were never contended for, much faster than the agent may ask JVMTI for owners.
func TestOwnersOfNewLocks(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		for _, flags := range []string{"-XX:+UseG1GC", "-XX:-UseCompressedOops", "-XX:+UseCompactObjectHeaders", layoutOf27} {
			t.Run(flags, func(t *testing.T) {
				checkOwners(t, j, flags, "many", "2400", "0")
				checkOwners(t, j, flags, "one", "1000", "0")
			})
		}
	})
}

// TestOwnersDuringCollections lets other threads start, end and make garbage meanwhile.
func TestOwnersDuringCollections(t *testing.T) {
	newest := jdks[len(jdks)-1]
	for _, flags := range []string{
		"-XX:+UseG1GC", "-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseZGC", "-XX:+UseShenandoahGC",
		"-XX:+UnlockDiagnosticVMOptions -XX:+UseObjectMonitorTable", layoutOf27,
	} {
		t.Run(flags, func(t *testing.T) { checkOwners(t, newest, flags, "churn", "200", "2") })
	}
}

// checkOwners runs the program. No owner is wrong. One may be missing if a collection moved the lock, or if the owner released it before the
// agent looked.
func checkOwners(t *testing.T, j jdk, flags string, program ...string) {
	t.Helper()
	command := append(strings.Fields(flags), "-Xmx64m", "-Xcheck:jni")
	if start(t, nil, filepath.Join(j.home, "bin", "java"), append(command, "-version")...).wait(t) != 0 {
		t.Skipf("%v has no %s", j, flags)
	}
	command = append(append(command, "Owners"), program...)
	var truth owners
	file := filepath.Join(t.TempDir(), "owners.weft")
	runJava(t, j, "file://"+file, "owners", &truth, command...)
	got := contentions(t, file, "Owners$Lock")
	require.Len(t, got, len(truth.Owners)*truth.Each, command)
	found, unknown := 0, 0
	for i, ev := range got {
		switch {
		case ev.Peer == truth.Owners[i/truth.Each]:
			found++
		case ev.Peer != 0:
			assert.Failf(t, "wrong owner", "%v: contention %d: %d, not %d", command, i, ev.Peer, truth.Owners[i/truth.Each])
		case ev.Flags&jvmthread.FlagOwnerUnknown != 0:
			unknown++
		}
	}
	t.Logf("%v: %d of %d owners, %d unknown", command, found, len(got), unknown)
	assert.GreaterOrEqual(t, found, len(got)*99/100, command)
}

// contentions are the contentions for locks of a class, in the order of time.
func contentions(t *testing.T, file, class string) (events []jvmthread.Event) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	format, sym := native.Format(), symbols.New(symbols.DefaultLimits())
	got, stats, err := threadtest.Decode(&format, recording.Options{File: file, Symbols: sym}, data, 0)
	threadtest.CheckDecoded(t, file, got, stats, err)
	for _, ev := range got.Events {
		if ev.Kind == jvmthread.KindContendedEnter && sym.Class(ev.Lock.Class) == class {
			events = append(events, ev)
		}
	}
	slices.SortStableFunc(events, func(a, b jvmthread.Event) int { return int(a.Time - b.Time) })
	return events
}
