// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
)

// TestAgentRecordingOfAKilledJVM kills the JVM with SIGKILL: its recording is read, even if truncated within a frame.
func TestAgentRecordingOfAKilledJVM(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		const service = "victim"
		whole, torn := filepath.Join(t.TempDir(), "whole.weft"), filepath.Join(t.TempDir(), "torn.weft")
		jvm := java(t, j, "file://"+whole, service, "Idle")
		poll(t, "the players are at work", func() bool { return jvm.counter() >= 50 })
		atLeast := jvm.counter()
		poll(t, "those handoffs are in the file", func() bool {
			entered := 0
			for _, event := range recordedEvents(t, whole) {
				if strings.Contains(event, " contendedEntered ") && strings.Contains(event, "lock=Idle$Ball/") {
					entered++
				}
			}
			return entered >= atLeast
		})
		jvm.stop(t, syscall.SIGKILL)
		assert.Empty(t, jvm.errLines(), "the agent is silent")

		text, err := os.ReadFile(whole)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(torn, text[:len(text)-5], 0o600))
		all := len(victimsHandoffs(t, whole, service))
		assert.GreaterOrEqual(t, all, atLeast)
		fewer := len(victimsHandoffs(t, torn, service))
		t.Logf("%d handoffs, %d without the last frame", all, fewer)
		assert.LessOrEqual(t, fewer, all)
		assert.Positive(t, fewer, "only the last frame is missing")
	})
}

// victimsHandoffs replays a truncated recording and returns its handoffs.
func victimsHandoffs(t *testing.T, recording, service string) []link {
	t.Helper()
	c := startCollector(t, setup{config: "replay.yaml", env: []string{"WEFT_RECORDINGS=" + recording, "WEFT_STATE=" + t.TempDir()}})
	c.waitForCut(t, service, "lost")
	c.terminate(t)
	o := c.spans(t)
	spantest.CheckStructure(t, o)
	spantest.CheckNothingLost(t, o)
	return spantest.Keep(o.Links(service, "handoff"), func(l link) bool { return l.From.Text("weft.lock.class") == "Idle$Ball" })
}
