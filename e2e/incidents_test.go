// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// searched is a trace in the result of a search, in the order of the page's "longest first".
type searched struct {
	root  *span
	spans []*span
}

// search finds the traces that have an operation, as the search form does, longest first.
func (j *jaeger) search(t *testing.T, service, operation string) (found []searched) {
	t.Helper()
	var answer v1Answer
	j.get(t, "/api/traces?limit=1500&lookback=1h&service="+url.QueryEscape(service)+"&operation="+url.QueryEscape(operation), &answer)
	o := j.spans(t, service)
	length := func(s searched) int64 { return int64(s.root.EndTimestamp() - s.root.StartTimestamp()) }
	for _, trace := range answer.Data {
		var next searched
		for _, s := range trace.Spans {
			in := o.ByID[idOf(t, s.TraceID, s.SpanID)]
			require.NotNil(t, in)
			next.spans = append(next.spans, in)
			if in.IsRoot() {
				next.root = in
			}
		}
		require.NotNil(t, next.root)
		found = append(found, next)
	}
	slices.SortFunc(found, func(a, b searched) int { return cmp.Compare(length(b), length(a)) })
	return found
}
