// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

func TestLossesListOnlyWhatWasThere(t *testing.T) {
	c := recording.Capabilities{Notes: []string{"times are rounded"}}
	c.Events[jvmthread.KindWait] = recording.Carried{Fields: recording.FieldKind | recording.FieldTime}
	c.Events[jvmthread.KindWaited] = recording.Carried{Fields: recording.FieldKind | recording.FieldTime}
	l := recording.NewLosses(&c)
	l.See(&recording.Batch{
		Threads: []jvmthread.Thread{{ID: 1, Name: "a", Virtual: true}},
		Events: []jvmthread.Event{
			{Kind: jvmthread.KindWait, Thread: 1, Arg: 5, Stack: 3},
			{Kind: jvmthread.KindWaited, Thread: 1, Flags: jvmthread.FlagTimedOut},
			{Kind: jvmthread.KindYield, Thread: 1},
		},
	})
	l.See(&recording.Batch{Aggregate: &jvmthread.Aggregate{Series: make([]jvmthread.Series, 2)}})
	omitted := [jvmthread.NumKinds]uint64{jvmthread.KindYield: 1}
	want := []string{
		"timeout, stack of wait", "timedOut of waited", "yield (1 event)", "name, virtual of threads", "aggregates (2 series)", "times are rounded",
	}
	if diff := cmp.Diff(want, l.Lines(&omitted)); diff != "" {
		t.Errorf("want - got +:\n%s", diff)
	}
}
