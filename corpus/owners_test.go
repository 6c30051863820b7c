// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"cmp"
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
)

// owners are those of the locks that a program contended for, in order: each of so many waits.
type owners struct {
	Owners []int64
	Each   int
}

// checkOwners checks contention for locks that were never contended for before: each wait names the owner. The first waiter, or the only one, gets
// the lock from it.
func checkOwners(t spantest.T, r *run) {
	t.Helper()
	var truth owners
	r.know(t, &truth)
	waits := r.Of(r.service, func(s *spantest.Span) bool {
		return s.Text("weft.state") == "blocked" && s.Text("weft.lock.class") == r.service+"$Lock"
	})
	require.Len(t, waits, len(truth.Owners)*truth.Each)
	for i, owner := range truth.Owners {
		named := 0
		of := waits[i*truth.Each : (i+1)*truth.Each]
		for _, s := range of {
			// The span has the owner's id unless that is the thread that held the lock longest, which it names.
			if s.Has("weft.lock.owner.thread.id") {
				assert.Equal(t, owner, s.Number("weft.lock.owner.thread.id"), "owner %d", i)
				named++
			} else if slices.Contains([]string{"main", "owner"}, s.Text("weft.lock.holder.thread.name")) {
				named++
			}
		}
		assert.Equal(t, truth.Each, named, "owner %d", i)
		first := slices.MinFunc(of, func(a, b *spantest.Span) int { return cmp.Compare(a.End(), b.End()) })
		if assert.Equal(t, []string{"handoff"}, first.LinkKinds(), "owner %d", i) {
			l := first.Links().At(0)
			to := r.ByID[spantest.ID{Trace: l.TraceID(), Span: l.SpanID()}]
			if assert.NotNil(t, to, "owner %d", i) {
				assert.Equal(t, owner, to.Number("thread.id"), "owner %d", i)
			}
		}
	}
}
