// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
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
	p := start(t, []string{"DEMO_ONCE=1", "TMPDIR=" + threadtest.SocketDir(t)}, filepath.Join(root, "demo/demo.sh"), options...)
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

// TestDemoWithJaeger runs the command of make demo-jaeger, which itself checks that the trace has arrived.
func TestDemoWithJaeger(t *testing.T) {
	p := runDemo(t, "--jaeger")
	assert.Regexp(t, `http://localhost:\d+/trace/[0-9a-f]{32}`, strings.Join(p.outLines(), "\n"))
}
