// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"testing"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

func TestWhosePath(t *testing.T) {
	const begin = "0 main threadStart\n0 worker threadStart\n0 http-1 threadStart\n0 Signal threadStart\n"
	tests := []struct {
		name, events string
		wanted       string // name of the only wanted thread; empty: no choice by name
		unbounded    bool
		want         string
	}{
		{"the one that waited longest", "10 worker contendedEnter lock=L owner=main\n50 worker contendedEntered lock=L", "", false, "worker"},
		{"a park at a lock counts", "10 worker park lock=R owner=main\n50 main unpark target=worker\n51 worker unparked", "", false, "worker"},
		{"who joined the worker waited longer", "5 main joinStart lock=T target=worker\n10 worker contendedEnter lock=L owner=http-1\n50 worker contendedEntered lock=L\n60 worker threadEnd\n61 main waited lock=T\n62 main joinEnd lock=T", "", false, "main"},
		{"who joins a thread that does not end", "5 main joinStart lock=T target=worker\n10 worker contendedEnter lock=L owner=http-1\n50 worker contendedEntered lock=L\n60 worker yield", "", false, "worker"},
		{"a daemon only if no other thread waited", "10 http-1 contendedEnter lock=L owner=main\n50 http-1 contendedEntered lock=L", "", false, "http-1"},
		{"a thread before a daemon that waited longer", "10 http-1 contendedEnter lock=L owner=main\n20 worker contendedEnter lock=M owner=main\n30 worker contendedEntered lock=M\n50 http-1 contendedEntered lock=L", "", false, "worker"},
		{"never one of the JVM", "10 Signal contendedEnter lock=L owner=main\n50 Signal contendedEntered lock=L", "", false, "main"},
		{"main if no thread waited for others", "10 worker sleepStart arg=50\n60 worker sleepEnd", "", false, "main"},
		{"a wanted thread that did not wait", "10 worker contendedEnter lock=L owner=main\n50 worker contendedEntered lock=L", "http-1", false, "http-1"},
		{"the last of the application ends the path of a program", "10 worker sleepStart\n40 worker sleepEnd\n50 main threadEnd\n60 http-1 yield\n70 Signal yield", "", true, "worker"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, err := threadtest.Parse(begin + test.events)
			if err != nil {
				t.Fatal(err)
			}
			f := window.NewFinder()
			f.Unbounded = test.unbounded
			f.About = func(id jvmthread.ThreadID) jvmthread.Thread {
				switch id {
				case h.Thread("main"):
					return jvmthread.Thread{Name: "main", Group: "main"}
				case h.Thread("http-1"):
					return jvmthread.Thread{Name: "http-1", Group: "main", Daemon: true}
				case h.Thread("Signal"):
					return jvmthread.Thread{Name: "Signal Dispatcher", Group: "system"}
				}
				return jvmthread.Thread{Group: "main"}
			}
			if test.wanted != "" {
				f.Wanted = func(id jvmthread.ThreadID) bool { return id == h.Thread(test.wanted) }
			}
			e := drive.New(engine.DefaultConfig(), nil)
			e.Add(ordering.Batch{Number: 1, Watermark: h.Events[len(h.Events)-1].Time + 1, Events: h.Events})
			e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) {
				f.Find(w)
				if w.Verdict == nil || w.Verdict.Path.Thread != h.Thread(test.want) {
					t.Errorf("have the path of %+v, want that of %s (%d)", w.Verdict, test.want, h.Thread(test.want))
				}
			})
		})
	}
}
