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
				checkOwners(t, j, flags+withChecks, "Owners", "many", "2400", "0")
				checkOwners(t, j, flags+withChecks, "Owners", "one", "1000", "0")
			})
		}
	})
}

// TestOwnersDuringCollections lets other threads start, end and make garbage meanwhile.
func TestOwnersDuringCollections(t *testing.T) {
	for _, flags := range []string{
		"-XX:+UseG1GC", "-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseZGC", "-XX:+UseShenandoahGC",
		"-XX:+UnlockDiagnosticVMOptions -XX:+UseObjectMonitorTable", layoutOf27,
	} {
		t.Run(flags, func(t *testing.T) { checkOwners(t, jdks[len(jdks)-1], flags+withChecks, "Owners", "churn", "200", "2") })
	}
}

// TestOwnersThatVirtualThreadsWaitFor has 1,000 virtual threads wait for a lock that was never contended for, whose owner they know.
func TestOwnersThatVirtualThreadsWaitFor(t *testing.T) {
	j := newestWithBlocking(t)
	for _, flags := range []string{"-XX:+UseG1GC", layoutOf27} {
		for _, owner := range []string{"platform", "mounted", "unmounted"} {
			t.Run(flags+"/"+owner, func(t *testing.T) { checkOwners(t, j, flags, "VirtualOwners", "held", owner, "1000", "5") })
		}
	}
}

// withChecks are flags of a small heap and of JNI's checks.
const withChecks = " -Xmx64m -Xcheck:jni"

// checkOwners runs a program with flags. No owner is wrong. One may be missing if a collection moved the lock, or if the owner released it
// before the agent looked.
func checkOwners(t *testing.T, j jdk, flags string, program ...string) {
	t.Helper()
	var truth owners
	got := recordOwners(t, j, flags, &truth, program...)
	require.Len(t, got, len(truth.Owners)*truth.Each, program)
	found, unknown := 0, 0
	for i, ev := range got {
		switch {
		case ev.Peer == truth.Owners[i/truth.Each]:
			found++
		case ev.Peer != jvmthread.NoThread:
			assert.Failf(t, "wrong owner", "%v: contention %d: %d, not %d", program, i, ev.Peer, truth.Owners[i/truth.Each])
		case ev.Flags&jvmthread.FlagOwnerUnknown != 0:
			unknown++
		}
	}
	t.Logf("%v: %d of %d owners, %d unknown", program, found, len(got), unknown)
	assert.GreaterOrEqual(t, found, len(got)*99/100, program)
}

// recordOwners runs a program with a recording and returns the contentions for its locks.
func recordOwners(t *testing.T, j jdk, flags string, truth any, program ...string) []jvmthread.Event {
	t.Helper()
	command := strings.Fields(flags)
	if start(t, nil, filepath.Join(j.Home, "bin", "java"), append(command, "-version")...).wait(t) != 0 {
		t.Skipf("%v has no %s", j, flags)
	}
	file := filepath.Join(t.TempDir(), "owners.weft")
	runJava(t, j, "file://"+file, "owners", truth, append(command, program...)...)
	return contentions(t, file, program[0]+"$Lock")
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
