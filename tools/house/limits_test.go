// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package house_test

import (
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// limit is a figure of the table of limits, and where the code has it: a file, and a pattern with the expression.
type limit struct{ row, figure, file, pattern string }

func limits() []limit {
	symbols := "internal/jvmthread/symbols/symbols.go"
	ordering := "internal/engine/ordering/ordering.go"
	jfr := "internal/recording/jfr/decoder.go"
	queue := "internal/engine/requests/queue.go"
	lost := "internal/engine/lostnotify/lostnotify.go"
	flame := "internal/threadview/server/flame"
	return []limit{
		{"texts of a session", "65 536 classes and stacks", symbols, `Classes: (.+?),`},
		{"texts of a session", "65 536 classes and stacks", symbols, `Stacks: (.+?),`},
		{"texts of a session", "131 072 threads", symbols, `Threads: (.+?),`},
		{"texts of a session", "64 MiB", symbols, `Bytes: (.+?)\}`},
		{"texts of a session", "64 KiB", symbols, `const maxText = (.+)`},
		{"batches waiting for an earlier one", "1 024", ordering, `Batches: (.+?),`},
		{"events waiting for a watermark", "1 048 576", ordering, `Events: (.+?)\}`},
		{"batches waiting to be processed", "64 MiB", "internal/sessions/backlog.go", `maxBacklogs +=(.+)`},
		{"spans on their way", "16 workers", "internal/sessions/pool.go", `const maxSending = (.+)`},
		{"threads and locks followed", "131 072", "internal/engine/timeline/timeline.go", `DefaultMaxThreads = (.+)`},
		{"threads and locks followed", "262 144", "internal/engine/interaction/binder.go", `DefaultMaxLocks = (.+)`},
		{"causes waiting for their effect", "131 072", "internal/engine/interaction/causes.go", `const maxCauses = (.+)`},
		{"work on a critical path", "4 194 304", "internal/engine/window/path.go", `const maxPieces = (.+)`},
		{"holds and waiters", "65 536", queue, `maxQueues = (.+)`},
		{"holds and waiters", "4 096", queue, `maxHolds +=(.+)`},
		{"incidents that are not over", "33 waits", "internal/engine/incident/incident.go", `MaxWaits = (.+)`},
		{"incidents that are not over", "65 536 pairs", "internal/engine/incident/waits.go", `const maxThreads = (.+)`},
		{"lost notifies", "4 096 objects", lost, `maxLost +=(.+?)//`},
		{"lost notifies", "65 536 waiting threads", lost, `maxWaiters +=(.+?)//`},
		{"lost notifies", "64 places", "internal/threadview/incidents/hints.go", `maxCalls +=(.+?)//`},
		{"a chunk of a flight recording", "256 MiB of stacks", "internal/recording/jfr/constants.go", `maxStackBytes = (.+)`},
		{"a chunk of a flight recording", "256 MiB while", jfr, `maxPushed +=(.+?)//`},
		{"the window of zstd", "128 MiB", "internal/recording/formats/compression.go", `const maxWindow = (.+)`},
		{"events of a native recording", "1 048 576", "internal/recording/native/merge.go", `const maxHeld = (.+)`},
		{"intervals that `weft convert` holds", "500 000", "cmd/weft/internal/convert/writers.go", `maxWaiting = (.+?)//`},
		{"requests in progress on the page", "65 536 threads", "internal/threadview/store/requests.go", `maxOpenRequests = (.+)`},
		{"clients of the page", "512 connections", "exporter/threadviewexporter/exporter.go", `const maxConnections = (.+)`},
		{"clients of the page", "64 event streams", "internal/threadview/server/sessions.go", `maxStreams = (.+)`},
		{"clients of the page", "4 MiB", "internal/threadview/server/flights.go", `const recentBytes = (.+)`},
		{"a flame graph of the page", "131 072 intervals", flame + "split.go", `maxFlameSlice +=(.+?)//`},
		{"a flame graph of the page", "524 288 frames", flame + "tree.go", `const maxFlameNodes = (.+?)//`},
		{"lines of the log", "10,", "internal/printable/logs/summed.go", `burst = (.+)`},
	}
}

// TestLimitsAreDocumented compares the table of limits with the code.
func TestLimitsAreDocumented(t *testing.T) {
	text, err := os.ReadFile(architecture)
	require.NoError(t, err)
	for _, l := range limits() {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(l.row) + `.*`).FindString(string(text))
		assert.Contains(t, row, l.figure, "%s: %s", architecture, l.row)
		source, err := os.ReadFile(l.file)
		require.NoError(t, err)
		expression := regexp.MustCompile(l.pattern).FindStringSubmatch(string(source))
		require.NotNil(t, expression, "%s has no %s", l.file, l.pattern)
		value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, strings.TrimSpace(expression[1]))
		require.NoError(t, err, "%s: %s", l.file, l.pattern)
		got, exact := constant.Int64Val(constant.ToInt(value.Value))
		assert.True(t, exact)
		assert.Equal(t, amount(t, l.figure), got, "%s: %s, %s", l.file, l.row, l.figure)
	}
}

// amount returns the number at the beginning of a figure, in bytes if it is one of MiB or KiB.
func amount(t *testing.T, figure string) int64 {
	t.Helper()
	match := regexp.MustCompile(`^([\d ]*\d)( [MK]iB)?`).FindStringSubmatch(figure)
	require.NotNil(t, match, figure)
	n, err := strconv.ParseInt(strings.ReplaceAll(match[1], " ", ""), 10, 64)
	require.NoError(t, err)
	return n * map[string]int64{"": 1, " KiB": 1 << 10, " MiB": 1 << 20}[match[2]]
}
