// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package historyfuzz

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	failed      = "../../../../build/failed" // where failures are kept
	maxFailures = 20                         // after which a run ends
)

// TestDamagedHistories passes damaged histories to all that reads histories. It does so in another process: a panic in any goroutine ends that,
// and the next one continues after the mutation that failed.
func TestDamagedHistories(t *testing.T) {
	if *scratch != "" {
		t.Skip("this is the other process")
	}
	end := time.Now().Add(*period)
	for failures, next := 0, 0; failures < maxFailures; {
		dir := t.TempDir()
		output, err := tryFrom(dir, next, time.Until(end))
		if err == nil {
			t.Logf("seed %d: %s", *seed, output)
			if *period == 0 || time.Now().After(end) {
				return
			}
			*seed, next = *seed+1, 0
			continue
		}
		current, missing := os.ReadFile(filepath.Join(dir, state))
		require.NoError(t, missing, "no trial went on: %v\n%s", err, output)
		number, flags, _ := strings.Cut(string(current), " ")
		_, err = fmt.Sscan(number, &next)
		require.NoError(t, err)
		failures++
		t.Errorf("%s\nrepeat it with: go test ./cmd/weft/internal/historyfuzz %s\nfiles are in: %s", shorten(output), flags, keep(t, dir, flags, output))
	}
	t.Errorf("ended after %d failures", maxFailures)
}

// tryFrom runs the trials after a number of them in another process, until one fails.
func tryFrom(dir string, number int, remaining time.Duration) (output []byte, err error) {
	args := []string{"-test.run=^TestTrials$", "-test.timeout=0", "-scratch=" + dir, fmt.Sprintf("-skip=%d", number)}
	args = append(args, fmt.Sprintf("-seed=%d", *seed), fmt.Sprintf("-mutations=%d", *mutations), "-file="+*file, "-mutation="+*single)
	if *period > 0 {
		args = append(args, fmt.Sprintf("-for=%v", max(remaining, 1)))
	}
	return exec.Command(os.Args[0], args...).CombinedOutput()
}

// keep moves the files of a failure to where failures are kept.
func keep(t *testing.T, dir, flags string, output []byte) string {
	t.Helper()
	to, err := filepath.Abs(filepath.Join(failed, "history"+strings.NewReplacer(" -", "-", "=", "-", "/", "-").Replace(" "+flags)))
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(to))
	require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
	require.NoError(t, os.WriteFile(filepath.Join(to, "output"), output, 0o600))
	return to
}

// shorten returns the start and the end of an output: a panic, or what failed.
func shorten(output []byte) string {
	const part = 2000
	if len(output) <= 2*part {
		return string(output)
	}
	return string(output[:part]) + "\n...\n" + string(output[len(output)-part:])
}
