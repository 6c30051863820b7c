// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest/golden"
)

// A golden file contains a description, the graph with its queries, the timeline and the answers. -update rewrites the timeline and the
// answers.
func TestGoldens(t *testing.T) {
	golden.Each(t, "testdata/*.txt", func(t *testing.T, file string) {
		t.Helper()
		_, bodies := golden.Read(t, file)
		w := parse(t, bodies["graph"])
		paths, answer := answers(t, w)
		bodies["timeline"], bodies["answer"] = draw(w, paths), answer
		golden.Compare(t, file, golden.Join([]string{"", "timeline", "graph", "answer"}, bodies))
	})
}

func answers(t *testing.T, w *world) (paths []*criticalpath.Path, answer string) {
	t.Helper()
	var b strings.Builder
	g := criticalpath.New(criticalpath.Limits{})
	w.fill(g)
	for _, f := range w.queries {
		fmt.Fprintln(&b, strings.Join(f, " "))
		p := new(criticalpath.Path)
		thread := w.id(f[1])
		switch f[0] {
		case "bounded", "unbounded":
			lo, hi := span(t, f[2])
			if f[0] == "bounded" {
				g.Bounded(thread, lo, hi, p)
			} else {
				g.Unbounded(thread, lo, hi, p)
			}
			validate(t, w, p)
			for _, s := range p.Segments {
				fmt.Fprintln(&b, "  "+w.segment(p, s))
			}
			for _, s := range p.AppendShares(nil, criticalpath.ByLock) {
				if !s.Group.Lock.IsZero() {
					fmt.Fprintf(&b, "  %s %s: %d of %d, %d times\n", s.Group.Kind, w.lockName(s.Group.Lock), s.Time, p.End-p.Start, s.Count)
				}
			}
			paths = append(paths, p)
		case "idle":
			for _, iv := range w.lanes[thread-1] {
				if g.Idle(jvmthread.IntervalRef{Thread: thread, Seq: iv.Seq}) {
					fmt.Fprintf(&b, "  %d..%d %s\n", iv.Start, iv.End, iv.State)
				}
			}
		default:
			b.WriteString(retimed(t, w, g, f))
		}
	}
	return paths, b.String()
}

var letters = map[jvmthread.State]byte{
	jvmthread.StateUnknown: '?', jvmthread.StateRunnable: '=', jvmthread.StateBlocked: 'B', jvmthread.StateWaiting: 'w',
	jvmthread.StateReentering: 'E', jvmthread.StateJoining: 'j', jvmthread.StateSleeping: 'z', jvmthread.StateParked: 'p',
	jvmthread.StateDeadlocked: 'X', jvmthread.StateSuspended: 's', jvmthread.StateDead: ' ',
}

// draw draws a row for each thread, and below them a row for each path that names the thread it leads through.
func draw(w *world, paths []*criticalpath.Path) string {
	const wide = 3
	var b strings.Builder
	end := jvmthread.Time(0)
	for _, list := range w.lanes {
		if len(list) > 0 {
			end = max(end, list[len(list)-1].End)
		}
	}
	row := func(name string, fill func(put func(from, to jvmthread.Time, text string))) {
		line := []byte(strings.Repeat(" ", int(end)*wide+wide))
		fill(func(from, to jvmthread.Time, text string) {
			for at := from * wide; at < to*wide; at++ {
				line[at] = text[min(len(text)-1, int(at-from*wide))]
			}
		})
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-6s %s", name, line), " ") + "\n")
	}
	row("", func(put func(from, to jvmthread.Time, text string)) {
		for at := range end + 1 {
			put(at, at+1, fmt.Sprintf("%-4d", at))
		}
	})
	for i, list := range w.lanes {
		row(w.threads[i], func(put func(from, to jvmthread.Time, text string)) {
			for _, iv := range list {
				put(iv.Start, iv.End, "|"+string(letters[iv.State]))
			}
		})
	}
	for _, p := range paths {
		row("path", func(put func(from, to jvmthread.Time, text string)) {
			for _, s := range p.Segments {
				mark := "-"
				if s.Kind != criticalpath.KindRun && s.Kind != criticalpath.KindSleep {
					mark = "~"
				}
				put(s.Start, s.End, w.name(s.Thread)+mark)
			}
		})
	}
	return b.String()
}
