// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strconv"
	"testing"
)

// TestWaitMatrix compares each kind of wait with what the program knows about it: from the agent and from a flight recording, on each JDK.
func TestWaitMatrix(t *testing.T) {
	checkWaits(t, classes, "Matrix", "testdata/wait-matrix-gaps.txt")
}

// TestPoolMatrix does the same with the pools of libraries.
func TestPoolMatrix(t *testing.T) {
	checkWaits(t, withJars(t, "pools"), "MatrixPools", "testdata/pool-matrix-gaps.txt")
}

// checkWaits runs a program that waits and knows how.
func checkWaits(t *testing.T, classpath, program, gapFile string) {
	t.Helper()
	gaps := readGaps(t, gapFile)
	onEachJDK(t, func(t *testing.T, j jdk) {
		t.Run("agent", func(t *testing.T) {
			var truth []waitCase
			c := startCollector(t, pathOfMain)
			runJava(t, j, c.endpoint, program, &truth, "-cp", classpath, program)
			checkMatrix(t, c.finish(t, program), program, source{"agent", j.major}, truth, gaps)
		})
		t.Run("jfr", func(t *testing.T) {
			var truth []waitCase
			dir := t.TempDir()
			record(t, j, filepath.Join(dir, "waits.jfr"), &truth, "-cp", classpath, program)
			s := pathOfMain
			s.config = "replay.yaml"
			s.env = append([]string{"WEFT_RECORDINGS=" + filepath.Join(dir, "*.jfr"), "WEFT_STATE=" + t.TempDir()}, s.env...)
			checkMatrix(t, startCollector(t, s).finish(t, program), program, source{"jfr", j.major}, truth, gaps)
		})
	})
}

// wholeRun keeps all spans of a run in one window, so that no wait is cut.
var wholeRun = setup{engine: []string{"max_spans_per_window: 0"}, env: []string{"WEFT_WINDOW=1h"}}

// pathOfMain is the same, with the critical path of the main thread, which waits for all others.
var pathOfMain = setup{engine: append([]string{"critical_path::thread: ^main$"}, wholeRun.engine...), env: wholeRun.env}

// source is where the events of a run came from.
type source struct {
	kind string // agent, jfr
	jdk  int
}

func (s source) String() string { return s.kind + strconv.Itoa(s.jdk) }
