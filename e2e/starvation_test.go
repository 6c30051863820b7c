// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/spantest"
)

// starved is what the program Starved measured.
type starved struct {
	Hogs []struct {
		ID       int64  `json:"id"`
		Name     string `json:"name"`
		Class    string `json:"class"`
		Method   string `json:"method"`
		Duration int64  `json:"duration"`
	} `json:"hogs"`
	Carriers int   `json:"carriers"`
	Waiting  int   `json:"waiting"`
	Starved  bool  `json:"starved"`
	Count    int64 `json:"queued_count"`
	Sum      int64 `json:"queued_sum"`
	Longest  int64 `json:"queued_longest"`
}

// TestStarvedCarriers compares the incident with what a program measured: two threads computed on the only carriers while a thousand others
// waited for one. The incident names both, with their methods.
func TestStarvedCarriers(t *testing.T) {
	newest := newestJVM(t)
	c := startCollector(t, wholeRun)
	var truth starved
	runJava(t, newest, c.endpoint+",virtual=exact", "starved", &truth, "-Djdk.virtualThreadScheduler.parallelism=2", "-Djdk.virtualThreadScheduler.maxPoolSize=2",
		"Starved", "1000", "500")
	require.True(t, truth.Starved, "no other thread ran before all were started")
	o := c.finish(t, "starved")
	root := longestStarvation(o)
	require.NotNil(t, root, "an incident named carriers starved")
	words := root.Text("weft.explanation")
	t.Logf("%s: %d of %d threads waited %d, the program measured %d", words, root.Number("weft.incident.threads"), truth.Waiting,
		root.Number("weft.incident.blocked.time"), truth.Sum)
	assert.GreaterOrEqual(t, root.Number("weft.incident.threads"), int64(truth.Waiting))
	// The program reads its clock before a start and after a mount, and may lose its processor in between.
	for name, measured := range map[string]int64{"weft.incident.blocked.time": truth.Sum, "weft.incident.wait.max": truth.Longest} {
		assert.LessOrEqual(t, root.Number(name), measured, name)
		assert.GreaterOrEqual(t, root.Number(name), measured*9/10, name)
	}
	for _, hog := range truth.Hogs {
		assert.Contains(t, words, hog.Name+" kept one for ")
		assert.Contains(t, words, "running in "+hog.Class+"."+hog.Method)
		hold := holdOf(o, root, hog.ID)
		if assert.NotNil(t, hold, "a span for %s", hog.Name) {
			assert.Equal(t, hog.Class+"."+hog.Method, hold.Text("weft.lock.holder.function"), hog.Name)
			assert.InEpsilon(t, hog.Duration, hold.Number("weft.interval.time"), 0.2, "%s began to compute before others waited", hog.Name)
			assert.LessOrEqual(t, hold.Number("weft.interval.time"), hog.Duration*101/100, hog.Name)
		}
	}
	spantest.CheckStructure(t, o)
	spantest.CheckNothingLost(t, o)
}

func longestStarvation(o *output) (root *span) {
	for _, s := range o.Incidents {
		if s.IsRoot() && s.Text("weft.incident.kind") == "carriers_starved" &&
			(root == nil || s.Number("weft.incident.blocked.time") > root.Number("weft.incident.blocked.time")) {
			root = s
		}
	}
	return root
}

// holdOf returns the longest hold of a thread in the trace of an incident.
func holdOf(o *output, root *span, thread int64) (hold *span) {
	for _, s := range o.Incidents {
		if s.TraceID() == root.TraceID() && s.Text("weft.incident.role") == "holder" && s.Number("thread.id") == thread &&
			(hold == nil || s.Number("weft.interval.time") > hold.Number("weft.interval.time")) {
			hold = s
		}
	}
	return hold
}
