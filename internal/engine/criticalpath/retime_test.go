// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// retimed answers whatif and slack queries.
func retimed(t *testing.T, w *world, g *criticalpath.Graph, f []string) string {
	t.Helper()
	var b strings.Builder
	r := new(criticalpath.Retiming)
	lo, hi := span(t, f[2])
	g.Retime(lo, hi, r)
	if f[0] == "whatif" {
		for _, s := range r.AppendSavings(nil, w.id(f[1]), criticalpath.ByLock) {
			fmt.Fprintf(&b, "  %s: drag %d, bound %d\n", w.lockName(s.Lock), s.Drag, s.Bound)
		}
		return b.String()
	}
	r.Slacks(w.id(f[1]))
	for _, list := range w.lanes {
		for _, iv := range list {
			if slack, ok := r.Slack(jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}); ok {
				fmt.Fprintf(&b, "  %s %s %d..%d: %d\n", w.name(iv.Thread), iv.State, iv.Start, iv.End, slack)
			}
		}
	}
	return b.String()
}
