// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/runtimes"
)

// load is what clients ask of a web server, all at once.
type load struct {
	clients, requests int
	path              string                  // of a request; the number of the client follows
	want              func(client int) string // in the response
}

// serve waits until a web server answers, puts it under load, and stops it. It returns how long the server's threads waited, in nanoseconds,
// as the server states it at /waited.
func (l load) serve(t *testing.T, jvm *process, address string) int64 {
	t.Helper()
	poll(t, "the server answers", func() bool {
		require.True(t, jvm.running(), "the server ended: %s", clip(strings.Join(jvm.outLines(), "\n")))
		return answers(address + "/waited")
	})
	var all sync.WaitGroup
	for client := range l.clients {
		all.Go(func() {
			for range l.requests {
				body, err := get(fmt.Sprintf("http://%s%s%d", address, l.path, client))
				assert.Equal(t, l.want(client), body, "%v", err)
			}
		})
	}
	all.Wait()
	body, err := get("http://" + address + "/waited")
	require.NoError(t, err)
	waited, err := strconv.ParseInt(body, 10, 64)
	require.NoError(t, err)
	jvm.stop(t, syscall.SIGTERM)
	return waited
}

// get returns the body of a page.
func get(url string) (string, error) {
	client := http.Client{Timeout: patience}
	response, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// summaryOf returns the first sentence of weft summary, in one line, and all its text.
func summaryOf(t *testing.T, c *collector) (first, text string) {
	t.Helper()
	out, err := exec.Command(built("weft"), "summary", filepath.Join(c.out, "spans.json")).Output()
	require.NoError(t, err)
	first, _, _ = strings.Cut(string(out), "\n\n")
	return strings.Join(strings.Fields(first), " "), string(out)
}

// withJars compiles the programs of a folder, which use jars. It returns their class path.
func withJars(t *testing.T, folder string) string {
	t.Helper()
	classpath, err := runtimes.ClassPath(root, jdks[0].home, folder, classes, t.TempDir())
	require.NoError(t, err)
	return classpath
}

// wholeRun keeps all spans of a run in one window, so that no wait is cut.
var wholeRun = setup{engine: []string{"max_spans_per_window: 0"}, env: []string{"WEFT_WINDOW=1h"}}
