// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	wrote := strings.Join(p.outLines(), "\n")
	assert.Regexp(t, `exchange: \d+ orders, \d+ trades`, wrote)
	for _, line := range p.outLines() {
		assert.LessOrEqual(t, len([]rune(line)), 100, line)
	}
	assert.Regexp(t, `http://localhost:\d+/\n`, wrote+"\n")
	file := regexp.MustCompile(`\S+/spans\.json`).FindString(wrote)
	require.NotEmpty(t, file, "path of the spans")
	assert.True(t, exists(file), file)
	hottest := regexp.QuoteMeta(checkSummary(t, file))
	assert.Regexp(t, hottest+` +lock +[\d,]+ +[\d,]+ `, wrote)
	assert.Regexp(t, `The page shows the same: threads were blocked on `+hottest+` for `, wrote)
	assert.Regexp(t, `\d+ handoffs? of \S`, wrote)
}

// checkSummary compares weft summary with the spans, and returns the most expensive class.
func checkSummary(t *testing.T, file string) string {
	t.Helper()
	o := readSpans(t, file)
	checkStructure(t, o)
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
	assert.Positive(t, o.lockTotal("exchange", "com.acme.orders.OrderBook", "weft.lock.contentions"), "contentions of the demo's lock")
	assert.Equal(t, o.lockTotal("exchange", hottest.Class, "weft.lock.contentions"), hottest.Contentions)
	assert.Equal(t, o.lockTotal("exchange", hottest.Class, "weft.lock.handoffs"), hottest.Handoffs)
	assert.Equal(t, o.lockTotal("exchange", hottest.Class, "weft.lock.blocked.time"), hottest.Blocked)
	assert.Len(t, o.spans, summary.Spans)
	assert.Positive(t, summary.Chain.Length)
	return hottest.Class
}

// TestDemoWithJaeger runs the command of make demo-jaeger, which itself checks that the trace has arrived.
func TestDemoWithJaeger(t *testing.T) {
	p := runDemo(t, "--jaeger")
	assert.Regexp(t, `http://localhost:\d+/trace/[0-9a-f]{32}`, strings.Join(p.outLines(), "\n"))
}
