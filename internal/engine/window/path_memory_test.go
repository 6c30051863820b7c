// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"reflect"
	"testing"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// memory lends one scratch.
type memory struct {
	scratch *window.Scratch
	lent    int
	times   int
}

func (m *memory) Borrow() *window.Scratch {
	m.lent++
	m.times++
	return m.scratch
}

func (m *memory) Return(*window.Scratch) { m.lent-- }

// A finder holds its memory from Find to Release, and only if there is a path. Memory that other windows have used gives the same answers.
func TestFinderBorrowsMemory(t *testing.T) {
	m := &memory{scratch: window.NewScratch()}
	for seed := range uint64(50) {
		withWindow(t, seed, 2+int(seed%30), 1500, func(w *window.Window) {
			own := window.NewFinder()
			own.Find(w)
			want := *w.Verdict
			first, second := window.NewFinder(), window.NewFinder()
			first.Memory, second.Memory = m, m
			second.Find(w) // gives back what it borrowed
			first.Find(w)
			if m.lent != 1 {
				t.Fatalf("program %d: %d are lent, want 1", seed, m.lent)
			}
			if have := w.Verdict; !reflect.DeepEqual(have.Path.Segments, want.Path.Segments) || !reflect.DeepEqual(have.Savings, want.Savings) {
				t.Fatalf("program %d: other answers in borrowed memory", seed)
			}
			w.Release()
			first.Wanted = func(jvmthread.ThreadID) bool { return false }
			first.Find(w)
			if m.lent != 0 || w.Verdict != nil {
				t.Fatalf("program %d: %d are lent, want 0; verdict %v", seed, m.lent, w.Verdict)
			}
		})
	}
	if m.times != 150 {
		t.Errorf("borrowed %d times, want 3 for each program", m.times)
	}
}

// Without what-if, the path is the same, and there are no savings and no slacks.
func TestFinderWithoutWhatIf(t *testing.T) {
	savings := 0
	for seed := range uint64(50) {
		withWindow(t, seed, 2+int(seed%30), 1500, func(w *window.Window) {
			f := window.NewFinder()
			f.Find(w)
			segments := w.Verdict.Path.Segments
			savings += len(w.Verdict.Savings)
			f = window.NewFinder()
			f.NoWhatIf = true
			f.Find(w)
			if !reflect.DeepEqual(w.Verdict.Path.Segments, segments) || len(w.Verdict.Savings) > 0 {
				t.Fatalf("program %d: another path, or %d savings", seed, len(w.Verdict.Savings))
			}
			w.Verdict.FindSlacks()
			for _, l := range w.Lanes {
				for _, iv := range l.Intervals.All() {
					if slack, ok := w.Slack(iv); ok {
						t.Fatalf("program %d: slack %v", seed, slack)
					}
				}
			}
		})
	}
	if savings == 0 {
		t.Error("no program has savings")
	}
}

// A panic must not keep the memory that all sessions share.
func TestFinderGivesMemoryBackAfterPanic(t *testing.T) {
	m := &memory{scratch: window.NewScratch()}
	withWindow(t, 1, 5, 1500, func(w *window.Window) {
		f := window.NewFinder()
		f.Memory, f.Wanted = m, func(jvmthread.ThreadID) bool { panic("defect") }
		func() {
			defer func() { _ = recover() }()
			f.Find(w)
			t.Fatal("no panic")
		}()
		if m.lent != 0 || m.times != 1 {
			t.Errorf("%d of %d are lent, want 0 of 1", m.lent, m.times)
		}
	})
}
