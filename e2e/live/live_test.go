// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tests is a program that lists and runs tests like a compiled Go test. A test fails as often as the file of its name has lines.
const tests = `#!/bin/sh
if [ "$1" = -test.list ]; then
	printf 'e2e: jdk17 is /jdk\nTestGood\nTestFlaky\nTestBad\nTestSkipped\n'
	exit 0
fi
test=${2#^}
test=${test%$}
echo "--- running $test with $6"
case $test in
TestSkipped) echo "--- SKIP: TestSkipped (0.00s)" ;;
TestHangs) echo truth >"$TMPDIR/truth"; exec sleep infinity ;;
esac
if [ -s "$test" ]; then
	sed 1d "$test" >"$test.left"
	mv "$test.left" "$test"
	echo spans >"$WEFT_E2E_KEEP/spans.json"
	printf '    x_test.go:1: \n        Error Trace: x_test.go:1\n        Error: not equal\n        Test: %s\n--- FAIL: %s (0.00s)\nFAIL\n' "$test" "$test"
	exit 1
fi
`

func newSuite(t *testing.T) (s *suite, out *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	out = new(bytes.Buffer)
	s = &suite{
		program: filepath.Join(dir, "e2e.test"), dir: dir, pattern: ".", count: 1, limit: time.Hour, failed: filepath.Join(dir, "failed"),
		file: filepath.Join(dir, "build", "ledger.json"), flags: []string{"-stress=1s"}, out: out,
	}
	require.NoError(t, os.WriteFile(s.program, []byte(tests), 0o755))
	return s, out
}

// failing makes a test fail as often as given.
func (s *suite) failing(t *testing.T, test string, times int) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, test), bytes.Repeat([]byte("\n"), times), 0o600))
}

func TestOnlyTestsThatFailTwiceAreFailures(t *testing.T) {
	s, out := newSuite(t)
	s.failing(t, "TestFlaky", 1)
	require.NoError(t, s.runAll(t.Context(), false))
	l, err := openLedger(s.file)
	require.NoError(t, err)
	for test, want := range map[string]entry{
		"TestGood": {Runs: 1, Passes: 1, Result: hasPassed}, "TestFlaky": {Runs: 3, Passes: 2, Flaky: 1, Result: isFlaky},
		"TestBad": {Runs: 1, Passes: 1, Result: hasPassed}, "TestSkipped": {Result: wasSkipped},
	} {
		got := l.entries[test]
		assert.Equal(t, want, entry{Runs: got.Runs, Passes: got.Passes, Flaky: got.Flaky, Result: got.Result}, test)
		assert.NotEmpty(t, got.Date)
	}
	assert.Contains(t, out.String(), "        2 of 3 runs passed; see "+filepath.Join(s.failed, "TestFlaky"))

	s.failing(t, "TestBad", 2) // it passes the third time
	require.ErrorContains(t, s.runAll(t.Context(), false), "1 failed: TestBad; see "+s.failed)
	l, err = openLedger(s.file)
	require.NoError(t, err)
	assert.Equal(t, 4, l.entries["TestBad"].Runs)
	assert.Equal(t, 2, l.entries["TestBad"].Passes)
	assert.Equal(t, 4, l.entries["TestFlaky"].Runs)
	assert.Equal(t, hasPassed, l.entries["TestFlaky"].Result)
}

func TestFailedRunsKeepTheirFiles(t *testing.T) {
	s, out := newSuite(t)
	s.failing(t, "TestBad", 3)
	require.Error(t, s.runAll(t.Context(), false))
	for run := range 3 {
		folder := filepath.Join(s.failed, "TestBad", "run-"+string(rune('1'+run)))
		assert.FileExists(t, filepath.Join(folder, "spans.json"))
		output, err := os.ReadFile(filepath.Join(folder, "output.txt"))
		require.NoError(t, err)
		assert.Contains(t, string(output), "--- running TestBad with -stress=1s\n")
	}
	assert.Contains(t, out.String(), "                Error: not equal\n        --- FAIL: TestBad (0.00s)\n")
	assert.NoDirExists(t, filepath.Join(s.failed, "TestGood"))

	require.NoError(t, s.runAll(t.Context(), false))
	assert.NoDirExists(t, filepath.Join(s.failed, "TestBad"), "files of an earlier failure")
}

func TestHangingTestIsEnded(t *testing.T) {
	s, _ := newSuite(t)
	s.limit = time.Millisecond
	v, err := s.judge(t.Context(), "TestHangs")
	require.NoError(t, err)
	assert.Equal(t, hasFailed, v.result())
	output, err := os.ReadFile(filepath.Join(s.failed, "TestHangs", "run-1", "output.txt"))
	require.NoError(t, err)
	assert.Contains(t, string(output), "--- FAIL: TestHangs hangs: it was ended after 1ms\n")
}

func TestListAndCount(t *testing.T) {
	s, out := newSuite(t)
	require.NoError(t, s.runAll(t.Context(), true))
	assert.Equal(t, "TestGood\nTestFlaky\nTestBad\nTestSkipped\n", out.String())
	assert.NoFileExists(t, s.file)
	s.count = 3
	require.NoError(t, s.runAll(t.Context(), false))
	l, err := openLedger(s.file)
	require.NoError(t, err)
	assert.Equal(t, 3, l.entries["TestGood"].Passes)
}

func TestLedgerNamesCandidatesForQuarantine(t *testing.T) {
	var out strings.Builder
	l := &ledger{entries: map[string]entry{
		"TestNew": {Runs: 199, Passes: 190, Flaky: 9, Slowest: 1.25, Result: isFlaky}, "TestOften": {Runs: 200, Passes: 197, Flaky: 3, Slowest: 61, Result: hasPassed},
		"TestRare": {Runs: 200, Passes: 198, Flaky: 2, Slowest: 9, Result: hasPassed}, "TestSkipped": {Result: wasSkipped},
	}}
	require.NoError(t, l.print(&out))
	assert.Equal(t, `
test         passed   rate    slowest  last     
TestNew      190/199  95.5 %  1.2 s    flaky    
TestOften    197/200  98.5 %  61.0 s   passed   quarantine candidate
TestRare     198/200  99.0 %  9.0 s    passed   
TestSkipped  0/0      –       0.0 s    skipped  
`, out.String())
}

func TestBrokenLedgerIsNotOverwritten(t *testing.T) {
	s, _ := newSuite(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(s.file), 0o755))
	require.NoError(t, os.WriteFile(s.file, []byte("{"), 0o600))
	require.ErrorContains(t, s.runAll(t.Context(), false), "ledger.json: unexpected end of JSON input: remove it to start a new one")
}

func TestTestsThatCannotStartAreReported(t *testing.T) {
	s, _ := newSuite(t)
	require.NoError(t, os.WriteFile(s.program, []byte("#!/bin/sh\necho e2e: build/weft is missing; exit 1\n"), 0o755))
	require.ErrorContains(t, s.runAll(t.Context(), false), "cannot list the tests: exit status 1\ne2e: build/weft is missing")
}
