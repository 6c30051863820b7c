// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/corpus/spantest"
)

// deadlocked is what Deadlock.java knows.
type deadlocked struct {
	Threads []int64 `json:"deadlocked"`
}

// checkDeadlock checks that two threads that wait for each other are deadlocked in every window from the first one on that says so, and that this
// is one incident, an error.
func checkDeadlock(t spantest.T, o *spantest.Output, service string, truth deadlocked) {
	t.Helper()
	require.Len(t, truth.Threads, 2)
	var id string
	var windows []spantest.ID // from the one on that reports the deadlock
	for _, root := range o.Roots(service) {
		for _, event := range root.Events().All() {
			if event.Name() == "weft.deadlock" {
				assert.Empty(t, id, "reported once")
				id = spantest.Text(event.Attributes(), "weft.deadlock.id")
			}
		}
		if id != "" {
			windows = append(windows, root.ID())
		}
	}
	assert.GreaterOrEqual(t, len(windows), 3)
	for _, thread := range truth.Threads {
		var in []spantest.ID
		for _, s := range o.States(service, thread, "deadlocked") {
			assert.Equal(t, id, s.Text("weft.deadlock.id"))
			in = append(in, o.ByID[s.Parent()].Parent())
		}
		assert.Equal(t, windows, in, "thread %d", thread)
	}
	checkDeadlockIncident(t, o, truth)
}

// checkRecordedDeadlock checks what is known of a deadlock from the thread dump of a flight recording.
func checkRecordedDeadlock(t spantest.T, o *spantest.Output, service string, truth deadlocked) {
	t.Helper()
	require.Len(t, truth.Threads, 2)
	reported := 0
	for _, root := range o.Roots(service) {
		for _, event := range root.Events().All() {
			if event.Name() == "weft.deadlock" {
				reported++
			}
		}
	}
	assert.Equal(t, 1, reported)
	for _, thread := range truth.Threads {
		assert.NotEmpty(t, o.States(service, thread, "deadlocked"), "thread %d", thread)
	}
}

// checkDeadlockIncident checks the incident, which is sent while it lasts, and once more at the end of the session.
func checkDeadlockIncident(t spantest.T, o *spantest.Output, truth deadlocked) {
	t.Helper()
	var roots []*spantest.Span
	waiters := map[pcommon.TraceID][]int64{}
	for _, s := range o.Incidents {
		if s.IsRoot() {
			roots = append(roots, s)
		}
		if s.Text("weft.incident.role") == "waiter" {
			waiters[s.TraceID()] = append(waiters[s.TraceID()], s.Number("thread.id"))
		}
	}
	require.Len(t, roots, 2)
	for _, root := range roots {
		assert.Equal(t, "deadlock", root.Text("weft.incident.kind"))
		assert.Equal(t, ptrace.StatusCodeError, root.Status().Code())
		assert.Equal(t, "deadlock", root.Text("error.type"))
		assert.Contains(t, root.Text("weft.explanation"), "deadlock: ")
		assert.ElementsMatch(t, truth.Threads, waiters[root.TraceID()])
		open, _ := root.Attributes().Get("weft.incident.open")
		assert.True(t, open.Bool(), "its threads did not continue")
	}
	assert.Empty(t, roots[0].Text("weft.incident.continues.trace.id"))
	assert.Equal(t, roots[0].TraceID().String(), roots[1].Text("weft.incident.continues.trace.id"))
}
