// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// TestVirtualThreadsThatWereParkedBefore has virtual threads park while nothing is recorded. From then on, a snapshot shows that they are parked,
// and for whose lock, until they continue.
func TestVirtualThreadsThatWereParkedBefore(t *testing.T) {
	const count = 200
	for _, j := range jres(t) {
		t.Run(j.String(), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "parked.weft")
			jvm := java(t, j, "file://"+file+",pause=on", "parked", "VirtualParked", strconv.Itoa(count))
			poll(t, "the threads are parked", func() bool { return jvm.counter() >= 1 })
			weft := start(t, nil, built("weft"), "attach", strconv.Itoa(jvm.cmd.Process.Pid), "pause=off")
			require.Zero(t, weft.wait(t), "exit code of weft attach")
			jvm.advance(t, 5)
			from := jvmthread.Time(time.Now().UnixNano())
			jvm.advance(t, 2)
			require.NoError(t, writeLine(jvm))
			require.Zero(t, jvm.wait(t), "exit code")
			var truth struct {
				Owner               jvmthread.ThreadID
				Acquirers, Sleepers []jvmthread.ThreadID
				Released            jvmthread.Time
			}
			jvm.truth(t, &truth)

			h := readHistory(t, file)
			kinds := map[jvmthread.InteractionKind]int{}
			for _, id := range slices.Concat(truth.Acquirers, truth.Sleepers) {
				iv := h.at(id, from)
				assert.Equal(t, jvmthread.StateParked, iv.State, "thread %d", id)
				assert.GreaterOrEqual(t, iv.End, truth.Released, "thread %d", id)
				last := h.intervals[id][len(h.intervals[id])-1]
				assert.Greater(t, last.End, iv.End, "thread %d continues", id)
				stack := h.symbols.Stack(iv.Stack)
				if slices.Contains(truth.Sleepers, id) {
					assert.Contains(t, stack, "at VirtualParked.sleep(", "thread %d", id)
					continue
				}
				assert.Contains(t, stack, "at VirtualParked.acquire(", "thread %d", id)
				assert.Equal(t, truth.Owner, iv.Peer, "owner for thread %d", id)
				for _, ia := range h.causesOf(&iv) {
					kinds[ia.Kind]++
					if ia.Kind == jvmthread.InteractionHandoff {
						assert.Contains(t, append(truth.Acquirers, truth.Owner), ia.From.Thread, "thread %d", id)
					}
				}
			}
			assert.Equal(t, map[jvmthread.InteractionKind]int{jvmthread.InteractionHandoff: count}, kinds)
		})
	}
}
