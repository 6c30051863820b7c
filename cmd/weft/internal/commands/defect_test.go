// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/failure"
)

// defective is a stream whose end makes the program panic.
type defective struct{ io.Reader }

func (d defective) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if err != nil {
		panic("bug")
	}
	return n, nil
}

func runDefective(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	failure.ContainIn(t)
	var out, errs strings.Builder
	code = Run(&Program{Version: "1.2.3", In: defective{strings.NewReader(stdin)}, Out: &out, Err: &errs}, args)
	return code, out.String(), errs.String()
}

// A command that panics says in a line that this is a defect, and then what to report.
func TestDefectOfACommand(t *testing.T) {
	code, _, stderr := runDefective(t, "", "summary", "-")
	assert.Equal(t, exitDefect, code)
	assert.Regexp(t, `^weft: a defect in Weft: panic: bug \(defect_test.go:\d+\)\n`+
		`Please report these lines: weft 1.2.3, `+runtime.GOOS+"/"+runtime.GOARCH+`, arguments \["summary" "-"\]\n  .*commands.defective.Read`, stderr)
}

// If the panic comes from a recording, the line has the position, and what precedes it is shown.
func TestDefectInARecording(t *testing.T) {
	var lines strings.Builder
	lines.WriteString("1.0,ThreadStarted,00000001,main\n")
	for second := 2; second < 40_000; second += 2 {
		fmt.Fprintf(&lines, "%d.0,ThreadSleep,00000001\n%d.0,ThreadSlept,00000001\n", second, second+1)
	}
	const where = `standard input: \(byte \d+\): a defect in Weft; please report it with the file: panic: bug \(defect_test.go:\d+\)\nPlease report`
	code, stdout, stderr := runDefective(t, lines.String(), "summary", "-")
	assert.Equal(t, exitDefect, code)
	assert.Regexp(t, `^weft: summary: `+where, stderr)
	assert.Contains(t, stdout, "1 thread")
}
