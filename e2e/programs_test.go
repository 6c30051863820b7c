// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/runtimes"
)

// serve puts a web server under load and stops it. It returns how long the server's threads waited, in nanoseconds.
func serve(t *testing.T, jvm *process, address string, l runtimes.Load) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("the server is too slow"))
	defer cancel()
	go func() {
		select {
		case <-jvm.exited:
			cancel()
		case <-ctx.Done():
		}
	}()
	body, err := l.Run(ctx, address)
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

// withJars compiles the programs of a folder, which use jars. It returns their class path.
func withJars(t *testing.T, folder string) string {
	t.Helper()
	classpath, err := runtimes.ClassPath(root, jdks[0].Home, folder, classes, t.TempDir())
	require.NoError(t, err)
	return classpath
}

// wholeRun keeps all spans of a run in one window, so that no wait is cut.
var wholeRun = setup{engine: []string{"max_spans_per_window: 0"}, env: []string{"WEFT_WINDOW=1h"}}
