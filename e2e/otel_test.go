// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/e2e/runtimes"
	"github.com/weft-otel/weft/e2e/spantest"
)

// request is a span of the application.
type request struct {
	Trace string `json:"trace"`
	Span  string `json:"span"`
}

type contended struct {
	Holder request `json:"holder"`
	Waiter request `json:"waiter"`
}

// TestBlockedRequestLinksToOwnerRequest runs a program with OpenTelemetry's SDK, in which requests contend.
func TestBlockedRequestLinksToOwnerRequest(t *testing.T) {
	jars := filepath.Join(built("otel"), "*")
	require.True(t, exists(built("weft-otel.jar")), "run make build/weft-otel.jar")
	programs := t.TempDir()
	out, err := exec.Command(filepath.Join(jdks[0].home, "bin", "javac"), "--release", "11", "-cp", jars, "-d", programs,
		filepath.Join(root, "e2e/otel/Requests.java"), filepath.Join(root, runtimes.BlockedJava)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	onEachJDK(t, func(t *testing.T, j jdk) {
		c := startCollector(t, setup{env: []string{"WEFT_WINDOW=1h"}}) // so that no wait is in two windows, however slow the machine
		service := "requests-" + j.String()
		var truth struct {
			Monitor contended `json:"monitor"`
			Lock    contended `json:"lock"`
		}
		classpath := jars + ":" + built("weft-otel.jar") + ":" + programs
		runJava(t, j, c.endpoint+",cpu=on,owner-stacks=on", service, &truth, "-cp", classpath, "Requests")
		o := c.finish(t, service)
		checkRequest(t, o, service, "blocked", "Requests$Account", truth.Monitor)
		checkRequest(t, o, service, "parked", "java.util.concurrent.locks.ReentrantLock$NonfairSync", truth.Lock)
		spantest.CheckNothingLost(t, o)
	})
}

func checkRequest(t *testing.T, o *output, service, state, class string, truth contended) {
	t.Helper()
	waits := o.Of(service, func(s *span) bool {
		return s.Text("weft.state") == state && s.Text("weft.lock.class") == class && s.Text("thread.name") == "waiter" &&
			s.Text("weft.context.trace.id") != "" // not the one in the request's own trace
	})
	require.Len(t, waits, 1, "%s", class)
	s := waits[0]
	own := request{s.Text("weft.context.trace.id"), s.Text("weft.context.span.id")}
	owners := request{s.Text("weft.lock.owner.trace.id"), s.Text("weft.lock.owner.span.id")}
	assert.Contains(t, s.Text("weft.lock.owner.stacktrace"), "at Requests.", "stack of the owner")
	ran := o.Of(service, func(r *span) bool {
		return r.Text("weft.state") == "runnable" && r.Number("thread.id") == s.Number("thread.id") && r.End() == s.Begin()
	})
	require.Len(t, ran, 1)
	assert.Positive(t, ran[0].Number("weft.cpu.time"), "it spun until the lock was held")
	assert.Equal(t, truth.Waiter, own)
	assert.Equal(t, truth.Holder, owners)
	assert.Equal(t, []request{truth.Waiter}, linked(s.Links(), "context"))
	assert.Equal(t, []request{truth.Holder}, linked(s.Links(), "owner_context"))
}

// linked returns the spans that links of a kind refer to.
func linked(links ptrace.SpanLinkSlice, kind string) (found []request) {
	for _, l := range links.All() {
		if value, _ := l.Attributes().Get("weft.link.kind"); value.AsString() == kind {
			found = append(found, request{l.TraceID().String(), l.SpanID().String()})
		}
	}
	return found
}
