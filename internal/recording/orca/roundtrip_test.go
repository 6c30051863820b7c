// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/orca"
	"github.com/weft-otel/weft/internal/threadtest"
)

// write encodes events in batches of 1000. The files are those of the growing log, or the final ones.
func write(events []jvmthread.Event, sym *symbols.Table, last bool) (log []byte, files map[string]string, stats recording.EncoderStats) {
	e := orca.NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true})
	log = e.Begin(nil, &recording.Session{})
	files = make(map[string]string)
	add := func(sides []recording.Sidecar) {
		for _, s := range sides {
			if s.Replace {
				files[s.Extension] = ""
			}
			files[s.Extension] += string(s.Text)
		}
	}
	for len(events) > 0 {
		n := min(len(events), 1000)
		log = e.Batch(log, &recording.Batch{Events: events[:n]})
		add(e.Sidecars(false))
		events = events[n:]
	}
	log = e.End(log, &recording.End{})
	if last {
		add(e.Sidecars(true))
	}
	return log, files, e.Stats()
}

func TestNamedLocksAreNoFrames(t *testing.T) {
	t.Parallel()
	sym := symbols.New(symbols.DefaultLimits())
	events := []jvmthread.Event{{
		Time: 5, Thread: 1, Kind: jvmthread.KindContendedEnter, Lock: jvmthread.LockID{Class: sym.InternClass("com.acme.A"), Hash: 7},
		Stack: sym.InternStack("at com.acme.A.b(A.java:1)\n- lock A.rw.readLock()\nat com.acme.A.main(A.java:2)"),
	}}
	named, namedFiles, _ := write(events, sym, true)
	events[0].Stack = sym.InternStack("at com.acme.A.b(A.java:1)\nat com.acme.A.main(A.java:2)")
	plain, plainFiles, _ := write(events, sym, true)
	same(t, "log", strings.Split(string(plain), "\n"), strings.Split(string(named), "\n"))
	for extension := range plainFiles {
		same(t, extension, strings.Split(plainFiles[extension], "\n"), strings.Split(namedFiles[extension], "\n"))
	}
}

// carrier has the stack of the begin of each wait: of a wait, sleep or join, and of a contended enter.
type carrier map[jvmthread.ThreadID][2]jvmthread.StackID

// carried returns an event as it is after a round trip. The object of a joined thread is its hash code, and the end of a wait has the stack
// of its begin (row O34).
func (c carrier) carried(ev jvmthread.Event) (jvmthread.Event, bool) {
	ev, ok := threadtest.Carry(&format.Carries, ev)
	begun := c[ev.Thread]
	switch ev.Kind {
	case jvmthread.KindWait, jvmthread.KindJoinStart, jvmthread.KindSleepStart:
		c[ev.Thread] = [2]jvmthread.StackID{ev.Stack, 0}
	case jvmthread.KindContendedEnter:
		c[ev.Thread] = [2]jvmthread.StackID{begun[0], ev.Stack}
	case jvmthread.KindContendedEntered:
		ev.Stack = begun[1]
	case jvmthread.KindWaitReturned, jvmthread.KindJoinEnd, jvmthread.KindSleepEnd:
		ev.Stack = begun[0]
	}
	if ev.Kind == jvmthread.KindJoinStart || ev.Kind == jvmthread.KindJoinEnd {
		ev.Lock.Hash = uint32(ev.Peer)
	}
	return ev, ok
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		events, sym := threadtest.Recorded(seed, 2+int(seed%9), 1+int(seed%5), 3000)
		log, files, written := write(events, sym, seed%2 == 0)
		var want []string
		carrier := make(carrier)
		for _, ev := range events {
			if ev, ok := carrier.carried(ev); ok {
				want = append(want, threadtest.EventText(ev, sym))
			}
		}
		if written.Written != uint64(len(want)) || written.TotalOmitted() != uint64(len(events)-len(want)) {
			t.Fatalf("seed %d: %d written and %d omitted of %d", seed, written.Written, written.TotalOmitted(), len(events))
		}
		read := symbols.New(symbols.DefaultLimits())
		c, stats, err := threadtest.Decode(&format, recording.Options{
			Symbols: read, Reorder: 10 + int(seed), Sidecar: sidecar(files),
		}, log, 1+int(seed)*100)
		threadtest.CheckDecoded(t, "log", c, stats, err)
		if len(c.Problems) > 0 {
			t.Fatalf("seed %d: got problems %v", seed, c.Problems)
		}
		var got []string
		for _, ev := range c.Events {
			got = append(got, threadtest.EventText(ev, read))
		}
		same(t, "events", want, got)
		for id, th := range c.Threads {
			if want := threadtest.CarryThread(&format.Carries, sym.Thread(id)); th != want {
				t.Errorf("thread %+v, want %+v", th, want)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// Rows O7 and O9: the classes come first, then the methods, and each has one line. The files of LENS have one part each.
func TestMetadataHasTwoParts(t *testing.T) {
	t.Parallel()
	sym := symbols.New(symbols.DefaultLimits())
	var events []jvmthread.Event
	for i, stack := range []string{
		"at java.lang.Object.wait0(Native Method)\nat com.acme.Main.run(Main.java:7)",
		"at java.lang.Object.wait(Object.java:338)\nat com.acme.Main.run(Main.java:9)",
		"at com.acme.Main.main(Main.java:3)\n...",
	} {
		events = append(events, jvmthread.Event{Time: jvmthread.Time(i), Thread: 1, Kind: jvmthread.KindSleepStart, Stack: sym.InternStack(stack)})
	}
	_, files, _ := write(events, sym, true)
	const classes = "Lcom/acme/Main;,Main.java\nLjava/lang/Object;,Object.java\n"
	const methods = `00000001,wait0,,Ljava/lang/Object;,-1
00000002,run,,Lcom/acme/Main;,2,00000007,7,00000009,9
00000003,wait,,Ljava/lang/Object;,1,00000152,338
00000004,main,,Lcom/acme/Main;,1,00000003,3
`
	if diff := cmp.Diff(map[string]string{".meta": classes + methods, ".classtable": classes, ".method": methods}, files); diff != "" {
		t.Errorf("want - got +:\n%s", diff)
	}
}
