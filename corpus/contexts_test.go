// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/e2e/runtimes"
)

// withSDK compiles and runs a program of e2e/otel, which uses OpenTelemetry's SDK without its Java agent.
func withSDK(t *testing.T, j runtimes.JDK, args []string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	recorder, command := cutAtClassPath(args)
	jars, classes := filepath.Join(root, "build/otel/*"), t.TempDir()
	compile := exec.CommandContext(ctx, filepath.Join(j.Home, "bin/javac"), "--release", "11", "-cp", jars, "-d", classes,
		filepath.Join(root, "e2e/otel", command[2]+".java"), filepath.Join(root, runtimes.BlockedJava))
	if out, err := compile.CombinedOutput(); err != nil {
		return "", fmt.Errorf("javac: %w\n%s", err, out)
	}
	path := jars + ":" + filepath.Join(root, "build/weft-otel-only.jar") + ":" + classes
	return alone(true)(t, j, slices.Concat(recorder, []string{"-cp", path}, command[2:]))
}

// encounter is two spans of the application: one held what the other waited for.
type encounter struct {
	Holder spantest.Request `json:"holder"`
	Waiter spantest.Request `json:"waiter"`
}

// checkContexts checks a program with OpenTelemetry's SDK, in which requests contend for a monitor and for a lock.
func checkContexts(t spantest.T, r *run) {
	t.Helper()
	var truth struct{ Monitor, Lock encounter }
	r.know(t, &truth)
	checkContext(t, r, "blocked", "Requests$Account", truth.Monitor)
	checkContext(t, r, "parked", "java.util.concurrent.locks.ReentrantLock$NonfairSync", truth.Lock)
}

func checkContext(t spantest.T, r *run, state, class string, truth encounter) {
	t.Helper()
	waits := r.Of(r.service, func(s *spantest.Span) bool {
		return s.Text("weft.state") == state && s.Text("weft.lock.class") == class && s.Text("thread.name") == "waiter"
	})
	require.Len(t, waits, 1, "%s", class)
	s := waits[0]
	own := spantest.Request{Trace: s.Text("weft.context.trace.id"), Span: s.Text("weft.context.span.id")}
	owner := spantest.Request{Trace: s.Text("weft.lock.owner.trace.id"), Span: s.Text("weft.lock.owner.span.id")}
	seen := encounter{Holder: owner, Waiter: own}
	assert.Equal(t, truth, seen)
	assert.Contains(t, s.Text("weft.lock.owner.stacktrace"), "at Requests.", "stack of the owner")
	assert.Equal(t, []spantest.Request{truth.Waiter}, linked(s.Links(), "context"))
	assert.Equal(t, []spantest.Request{truth.Holder}, linked(s.Links(), "owner_context"))
	ran := r.Of(r.service, func(before *spantest.Span) bool {
		return before.Text("weft.state") == "runnable" && before.Number("thread.id") == s.Number("thread.id") && before.End() == s.Begin()
	})
	require.Len(t, ran, 1)
	assert.Positive(t, ran[0].Number("weft.cpu.time"), "it spun until the lock was held")
}
