// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/corpus/spantest"
)

// checkJoins checks that a critical path is known to its end where a window ends within a join, although the joined thread may have ended, or
// have started too late for this window.
func checkJoins(t spantest.T, r *run) {
	t.Helper()
	segments := 0
	for _, s := range r.Spans {
		if kind := s.Text("weft.critical_path.kind"); kind != "" {
			segments++
			assert.NotEqual(t, "unknown", kind, s.Text("weft.explanation"))
			spantest.CheckSegment(t, r.Output, s)
		}
	}
	assert.Positive(t, segments)
	assert.NotEmpty(t, r.Of(r.service, func(s *spantest.Span) bool {
		return s.Text("weft.state") == "joining" && s.Has("weft.interval.start")
	}), "joins that began in an earlier window")
}

// checkUnfolded checks that without a limit of spans none is folded: states tile the life of each thread.
func checkUnfolded(t spantest.T, r *run) {
	t.Helper()
	assert.Zero(t, foldedSpans(r))
}

// maxSpans is a limit below the number of states in a window.
const maxSpans = 100

// checkFolded checks that windows with more states have no more spans than their limit.
func checkFolded(t spantest.T, r *run) {
	t.Helper()
	assert.Positive(t, foldedSpans(r))
	perTrace := map[pcommon.TraceID]int{}
	for _, s := range r.Spans {
		perTrace[s.TraceID()]++
	}
	for id, spans := range perTrace {
		assert.LessOrEqual(t, spans, maxSpans, "trace %v", id)
	}
}

func foldedSpans(r *run) (folded int64) {
	for _, s := range r.Spans {
		folded += s.Number("weft.folded.count")
	}
	return folded
}
