// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"cmp"
	"context"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/internal/page"
)

// bottleneck is what somebody who looks for the reason of a slow server wants to know, in words of its source.
type bottleneck struct {
	lock      string
	holder    string // pattern of the name of the thread that holds it
	doing     string // of the holder, meanwhile
	sufferers string // pattern of the pool of the threads that wait
}

// checkNewcomer opens the page as somebody would who has never seen it: the bottleneck is in the answer, in the first incident, and in the details
// of its longest wait.
func checkNewcomer(t spantest.T, r *run, b bottleneck) {
	t.Helper()
	ctx, client := context.Background(), page.Of(r.played.page)
	id := r.sessionOnPage(t)

	answer, err := client.Answer(ctx, id, nil)
	require.NoError(t, err)
	most := cmp.Or(answer.Second, answer.Most) // of locks, if clients waited longer for their servers
	require.NotNil(t, most)
	assert.Equal(t, b.lock, most.Name)
	assert.Regexp(t, b.sufferers, most.Who[0].Name)
	require.NotEmpty(t, most.Holders)
	assert.Regexp(t, b.holder, most.Holders[0].Thread.Name)
	doing := most.Holders[0].Text
	if most.Turns != nil {
		doing = most.Turns.Text
	}
	assert.Equal(t, b.doing, doing)

	incidents, err := client.Incidents(ctx, id, nil)
	require.NoError(t, err)
	require.NotEmpty(t, incidents.Incidents)
	first := incidents.Incidents[0]
	for i := range incidents.Incidents {
		assert.LessOrEqual(t, incidents.Incidents[i].Blocked, first.Blocked, "the costliest incident comes first")
	}
	assert.Equal(t, b.lock, first.Object)
	assert.Regexp(t, b.sufferers, first.Waiters)
	assert.Regexp(t, b.lock, first.Text)
	require.NotEmpty(t, first.Holds)
	assert.Regexp(t, b.holder, first.Holds[0].Thread.Name)
	require.NotEmpty(t, first.Cast)
	assert.Regexp(t, b.holder, r.threadName(first.Cast[0]), "the first lane is that of a holder")

	require.NotEmpty(t, first.Waits)
	wait := first.Waits[0]
	interval, err := client.Interval(ctx, id, wait.Thread.ID, wait.From)
	require.NoError(t, err)
	require.NotEmpty(t, interval.Holders)
	assert.Regexp(t, b.holder, interval.Holders[0].Thread.Name)
	for _, word := range []string{b.lock, b.holder} { // who suffers was clicked
		assert.Regexp(t, word, interval.Text)
	}
}

// threadName is the name of a thread in its spans.
func (r *run) threadName(id uint64) string {
	for _, s := range r.Spans {
		if s.Number("thread.id") == int64(id) && s.Has("thread.name") {
			return s.Text("thread.name")
		}
	}
	return ""
}
