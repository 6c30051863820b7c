// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/threadtest"
)

// TestDemo runs what make demo runs, shorter.
func TestDemo(t *testing.T) {
	p := start(t, []string{"DEMO_SECONDS=3", "TMPDIR=" + threadtest.SocketDir(t)}, filepath.Join(root, "e2e/demo.sh"))
	require.Equal(t, 0, p.wait(t), "exit code of the demo")
	wrote := strings.Join(p.outLines(), "\n")
	assert.Regexp(t, `exchange: \d+ orders, \d+ trades`, wrote)
	assert.Regexp(t, `com\.acme\.orders\.OrderBook +[\d,]+ +[\d,]+ `, wrote)
	assert.Regexp(t, `\d+ handoffs? of com\.acme\.orders\.`, wrote)
	for _, line := range p.outLines() {
		assert.LessOrEqual(t, len([]rune(line)), 100, line)
	}
	assert.Regexp(t, `The page shows the same: threads were blocked for com\.acme\.orders\.OrderBook `, wrote)
	assert.Regexp(t, `http://localhost:\d+/\n`, wrote+"\n")
	file := regexp.MustCompile(`\S+/spans\.json`).FindString(wrote)
	require.NotEmpty(t, file, "where the spans are")
	assert.True(t, exists(file), file)
	checkSummary(t, file)
}

// checkSummary compares what weft summary adds up with the spans themselves.
func checkSummary(t *testing.T, file string) {
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
	assert.Equal(t, "com.acme.orders.OrderBook", hottest.Class)
	assert.Equal(t, o.lockTotal("exchange", hottest.Class, "weft.lock.contentions"), hottest.Contentions)
	assert.Equal(t, o.lockTotal("exchange", hottest.Class, "weft.lock.handoffs"), hottest.Handoffs)
	assert.Equal(t, o.lockTotal("exchange", hottest.Class, "weft.lock.blocked.time"), hottest.Blocked)
	assert.Len(t, o.spans, summary.Spans)
	assert.Positive(t, summary.Chain.Length)
}

// TestDemoWithJaeger runs what make demo-jaeger runs, shorter, and lets it check by itself that the trace is there.
func TestDemoWithJaeger(t *testing.T) {
	p := start(t, []string{"DEMO_SECONDS=3", "DEMO_ONCE=1", "TMPDIR=" + threadtest.SocketDir(t)}, filepath.Join(root, "e2e/demo.sh"), "--jaeger")
	require.Equal(t, 0, p.wait(t), "exit code of the demo")
	assert.Regexp(t, `http://localhost:\d+/trace/[0-9a-f]{32}`, strings.Join(p.outLines(), "\n"))
}
