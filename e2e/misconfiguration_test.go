// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/threadtest"
)

// TestConfigurationErrorsNameTheKeyAndTheRemedy starts collectors that must not start.
func TestConfigurationErrorsNameTheKeyAndTheRemedy(t *testing.T) {
	running := startCollector(t, setup{})
	long := "unix://" + filepath.Join(threadtest.SocketDir(t), strings.Repeat("long", 30), "weft.sock")
	for _, test := range []struct {
		name string
		s    setup
		want []string
	}{
		{"unknown key of the receiver", setup{more: []string{"yaml:receivers::jvm_thread::protocols::stream::endpont: x"}}, []string{"endpont", "jvm_thread"}},
		{"unknown key of the processor", setup{more: []string{"yaml:processors::thread_span::windw: 1s"}}, []string{"windw", "thread_span"}},
		{"unknown scheme", setup{endpoint: "ftp://localhost:1"}, []string{"endpoint", "ftp", "unix://", "tcp://"}},
		{"no port", setup{endpoint: "tcp://localhost"}, []string{"endpoint", "port"}},
		{"no connections", setup{more: []string{"yaml:receivers::jvm_thread::protocols::stream::max_connections: 0"}}, []string{"max_connections", "1"}},
		{"negative window", setup{env: []string{"WEFT_WINDOW=-1s"}}, []string{"window", "-1s"}},
		{"window without a unit", setup{env: []string{"WEFT_WINDOW=ten"}}, []string{"window", "invalid duration"}},
		{"negative budget", setup{engine: []string{"max_spans_per_window: -5"}}, []string{"max_spans_per_window", "-5"}},
		{"path of the socket too long", setup{endpoint: long}, []string{"endpoint", "107", "shorter"}},
		{"socket in use", setup{endpoint: running.endpoint}, []string{"endpoint", "in use", strings.TrimPrefix(running.endpoint, "unix://")}},
		{"folder of the socket missing", setup{endpoint: "unix:///no/such/folder/weft.sock"}, []string{"endpoint", "/no/such/folder"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, _ := launch(t, test.s)
			assert.NotZero(t, c.wait(t), "exit code")
			wrote := strings.Join(c.errLines(), "\n")
			for _, want := range test.want {
				assert.Contains(t, wrote, want)
			}
			t.Logf("%s", lastLine(c))
		})
	}
	assert.True(t, running.running(), "the first collector continues")
}

func lastLine(c *collector) string {
	for _, line := range slices.Backward(c.errLines()) {
		if strings.TrimSpace(line) != "" {
			return line
		}
	}
	return ""
}
