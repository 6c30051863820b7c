// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/spantest"
	"github.com/weft-otel/weft/internal/threadtest"
)

// runDemo runs the command of make demo and returns its output.
func runDemo(t *testing.T, options ...string) *process {
	t.Helper()
	p := start(t, []string{"DEMO_ONCE=1", "TMPDIR=" + threadtest.SocketDir(t)}, filepath.Join(root, "e2e/demo.sh"), options...)
	t.Cleanup(func() { // SIGTERM before the kill, so that the demo stops its programs
		if p.running() {
			_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may just have ended
			p.within(time.Minute)
		}
	})
	require.Equal(t, 0, p.wait(t), "exit code of the demo")
	return p
}

func TestDemo(t *testing.T) {
	p := runDemo(t)
	assert.Regexp(t, `exchange: \d+ orders, \d+ trades`, strings.Join(p.outLines(), "\n"))
	said := strings.Join(p.errLines(), "\n")
	assert.Regexp(t, `com\.acme\.orders\.OrderBook +lock +[\d,]+ +[\d,]+ `, said)
	assert.Regexp(t, `\d+ handoffs? of \S`, said)
	assert.Contains(t, said, "See more with: weft view ")
	for _, line := range append(p.outLines(), p.errLines()...) {
		assert.LessOrEqual(t, len([]rune(line)), 100, line)
	}
}

// TestSummaryAgreesWithSpans compares the sums that weft summary prints with those of the spans that it reads.
func TestSummaryAgreesWithSpans(t *testing.T) {
	c := startCollector(t, setup{})
	jvm := java(t, jdks[0], c.endpoint, "exchange", "com.acme.orders.Exchange", "5")
	require.Zero(t, jvm.wait(t), "exit code")
	c.finish(t, "exchange")
	checkSummary(t, filepath.Join(c.out, "spans.json"))
}

// checkSummary compares weft summary with the spans.
func checkSummary(t *testing.T, file string) {
	t.Helper()
	o := spantest.Read(t, file)
	spantest.CheckStructure(t, o)
	out, err := exec.Command(built("weft"), "summary", "--format", "json", file).Output()
	require.NoError(t, err)
	var summary struct {
		Spans int `json:"spans"`
		Locks []struct {
			Class       string `json:"class"`
			Contentions int64  `json:"contentions"`
			Handoffs    int64  `json:"handoffs"`
			Blocked     int64  `json:"blocked_time"`
		} `json:"locks"`
		Chain struct {
			Length int64 `json:"length"`
		} `json:"longest_chain"`
	}
	require.NoError(t, json.Unmarshal(out, &summary))
	require.NotEmpty(t, summary.Locks)
	hottest := summary.Locks[0]
	for _, lock := range summary.Locks {
		assert.LessOrEqual(t, lock.Blocked, hottest.Blocked, "%s comes after %s", lock.Class, hottest.Class)
	}
	assert.Positive(t, o.LockTotal("exchange", "com.acme.orders.OrderBook", "weft.lock.contentions"), "contentions of the demo's lock")
	assert.Equal(t, o.LockTotal("exchange", hottest.Class, "weft.lock.contentions"), hottest.Contentions)
	assert.Equal(t, o.LockTotal("exchange", hottest.Class, "weft.lock.handoffs"), hottest.Handoffs)
	assert.Equal(t, o.LockTotal("exchange", hottest.Class, "weft.lock.blocked.time"), hottest.Blocked)
	assert.Len(t, o.Spans, summary.Spans)
	assert.Positive(t, summary.Chain.Length)
}

// TestDemoWithJaeger runs the command of make demo-jaeger, which itself checks that the trace has arrived.
func TestDemoWithJaeger(t *testing.T) {
	p := runDemo(t, "--jaeger")
	assert.Regexp(t, `http://localhost:\d+/trace/[0-9a-f]{32}`, strings.Join(p.outLines(), "\n"))
}
