// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/wire"
)

func TestMissingFieldsAreDroppedAndListed(t *testing.T) {
	var c recording.Capabilities
	for i := range wire.Events {
		c.Events[wire.Events[i].Kind].Fields = ^recording.Fields(0)
	}
	c.Threads = ^recording.ThreadFields(0)
	c.Events[jvmthread.KindYield] = recording.Carried{}
	c.Events[jvmthread.KindWait] = recording.Carried{Fields: recording.FieldKind | recording.FieldTime | recording.FieldLock}
	c.Threads &^= recording.ThreadGroup
	c.Notes = []string{"times are rounded to microseconds"}

	want := []string{
		"no yield", "no class of the object, timeout, stack of wait", "no timedOut of waited", "no interrupted of waitReturned",
		"no interrupted of joinEnd", "no interrupted of sleepEnd", "no group of threads", "no aggregates", "times are rounded to microseconds",
	}
	if diff := cmp.Diff(want, c.Missing()); diff != "" {
		t.Errorf("want - got +:\n%s", diff)
	}
	full := jvmthread.Event{
		Kind: jvmthread.KindWait, Time: 5, Thread: 6, Peer: 7, Arg: 8, Lock: jvmthread.LockID{Class: 9, Hash: 10}, Stack: 11, Flags: 3,
	}
	kept, ok := threadtest.Carry(&c, full)
	if want := (jvmthread.Event{Kind: jvmthread.KindWait, Time: 5, Thread: 6, Lock: jvmthread.LockID{Hash: 10}}); !ok || kept != want {
		t.Errorf("kept %v, want %v", kept, want)
	}
	if _, ok := threadtest.Carry(&c, jvmthread.Event{Kind: jvmthread.KindYield, Thread: 6}); ok {
		t.Error("yield was kept, want it dropped")
	}
	th := jvmthread.Thread{ID: 1, Name: "a", Group: "b", Daemon: true, Virtual: true}
	if want := (jvmthread.Thread{ID: 1, Name: "a", Daemon: true, Virtual: true}); threadtest.CarryThread(&c, th) != want {
		t.Errorf("kept %v, want %v", threadtest.CarryThread(&c, th), want)
	}
}

func TestProblemIsOneLine(t *testing.T) {
	p := recording.Problem{File: "a.orca", Line: 3, Byte: 70, What: "invalid time \"x\"", Remedy: "write seconds, such as 12.5"}
	if want := `a.orca:3 (byte 70): invalid time "x"; write seconds, such as 12.5`; p.Error() != want {
		t.Errorf("got %s, want %s", p.Error(), want)
	}
	if p := (recording.Problem{File: "a.jfr", Byte: 7, What: "truncated"}); p.Error() != "a.jfr (byte 7): truncated" {
		t.Errorf("got %s", p.Error())
	}
}
