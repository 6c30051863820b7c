// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// world is a parsed graph. Its lines are:
//
//	A0 0 run 2 blocked(L,peer=B) 6 run 8    a thread: times, and its activity between them
//	unpark B@3 -> A0@6                      an interaction: the cause, and the effect at the end of an interval (for a start: its beginning)
//	hold L B 0..6 inferred                  a thread owns a lock
//	bounded A0 0..8                         a query
type world struct {
	threads      []string // by id - 1
	locks        []string // by class - 1
	lanes        [][]jvmthread.Interval
	packed       []jvmthread.Intervals // the same, for the graph
	interactions []jvmthread.Interaction
	holds        []jvmthread.Hold
	queries      [][]string
	steps        map[jvmthread.IntervalRef]int // of a program: the step that each blocked interval belongs to
}

func parse(t *testing.T, text string) *world {
	t.Helper()
	w := new(world)
	var edges [][]string
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "hold":
			w.hold(t, f)
		case slices.Contains([]string{"bounded", "unbounded", "whatif", "slack", "idle"}, f[0]):
			w.queries = append(w.queries, f)
		case len(f) == 4 && f[2] == "->":
			edges = append(edges, f)
		default:
			w.thread(t, f)
		}
	}
	for _, f := range edges {
		w.interaction(t, f)
	}
	slices.SortStableFunc(w.holds, func(a, b jvmthread.Hold) int { return int(a.Lock.Class) - int(b.Lock.Class) })
	return w
}

func intern(list *[]string, name string) int {
	if i := slices.Index(*list, name); i >= 0 {
		return i + 1
	}
	*list = append(*list, name)
	return len(*list)
}

func (w *world) id(name string) jvmthread.ThreadID {
	return jvmthread.ThreadID(intern(&w.threads, name))
}

func (w *world) lock(name string) jvmthread.LockID {
	n := intern(&w.locks, name)
	return jvmthread.LockID{Class: jvmthread.ClassID(n), Hash: uint32(n)}
}

func number(t *testing.T, text string) jvmthread.Time {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return jvmthread.Time(n)
}

func span(t *testing.T, text string) (from, to jvmthread.Time) {
	t.Helper()
	a, b, ok := strings.Cut(text, "..")
	require.True(t, ok, text)
	return number(t, a), number(t, b)
}

func (w *world) thread(t *testing.T, f []string) {
	t.Helper()
	id := w.id(f[0])
	var list []jvmthread.Interval
	for i := 1; i+2 < len(f); i += 2 {
		iv := jvmthread.Interval{Thread: id, Seq: jvmthread.Seq(len(list) + 1), Start: number(t, f[i]), End: number(t, f[i+2])}
		name, rest, _ := strings.Cut(strings.TrimSuffix(f[i+1], ")"), "(")
		if name == "run" {
			name = "runnable"
		}
		for iv.State.String() != name {
			iv.State++
			require.NotEqual(t, "invalid", iv.State.String(), name)
		}
		for option := range strings.SplitSeq(rest, ",") {
			key, value, _ := strings.Cut(option, "=")
			switch key {
			case "":
			case "peer":
				iv.Peer = w.id(value)
			case "stack":
				iv.Stack = jvmthread.StackID(number(t, value))
			case "idle":
				iv.Wait = jvmthread.WaitIdle
			case "timedOut":
				iv.Marks |= jvmthread.MarkTimedOut
			case "interrupted":
				iv.Marks |= jvmthread.MarkInterrupted
			default:
				iv.Lock = w.lock(key)
			}
		}
		list = append(list, iv)
	}
	for len(w.lanes) < int(id) {
		w.lanes = append(w.lanes, nil)
	}
	w.lanes[id-1] = list
}

func (w *world) interaction(t *testing.T, f []string) {
	t.Helper()
	ia := jvmthread.Interaction{}
	for ia.Kind.String() != f[0] {
		ia.Kind++
		require.NotEqual(t, "invalid", ia.Kind.String(), f[0])
	}
	ends := [2]jvmthread.IntervalRef{}
	times := [2]jvmthread.Time{}
	for i, text := range []string{f[1], f[3]} {
		name, at, _ := strings.Cut(text, "@")
		ends[i].Thread, times[i] = w.id(name), number(t, at)
		for int(ends[i].Thread) <= len(w.lanes) && ends[i].Seq == 0 {
			list := w.lanes[ends[i].Thread-1]
			start := ia.Kind == jvmthread.InteractionStart && i == 1
			at := slices.IndexFunc(list, func(iv jvmthread.Interval) bool {
				if ia.Kind == jvmthread.InteractionJoin && i == 1 && iv.Peer != ends[0].Thread {
					return false
				}
				return start && iv.Start == times[i] || !start && iv.Start <= times[i] && times[i] <= iv.End && (i == 0 || iv.End == times[i])
			})
			if at >= 0 {
				ends[i].Seq = list[at].Seq
				if i == 1 {
					ia.Lock = list[at].Lock
				}
			}
			break
		}
	}
	ia.From, ia.To, ia.CauseTime, ia.EffectTime = ends[0], ends[1], times[0], times[1]
	w.interactions = append(w.interactions, ia)
}

func (w *world) hold(t *testing.T, f []string) {
	t.Helper()
	h := jvmthread.Hold{Lock: w.lock(f[1]), Thread: w.id(f[2])}
	h.Start, h.End = span(t, f[3])
	for _, mark := range f[4:] {
		h.Marks |= map[string]jvmthread.HoldMarks{
			"since_before": jvmthread.HoldSinceBefore, "inferred": jvmthread.HoldInferred, "open": jvmthread.HoldOpen,
		}[mark]
	}
	w.holds = append(w.holds, h)
}

// fill adds the world to a graph.
func (w *world) fill(g *criticalpath.Graph) {
	g.Reset()
	w.packed = slices.Grow(w.packed, len(w.lanes)-len(w.packed))[:len(w.lanes)]
	for i, list := range w.lanes {
		if list == nil {
			continue
		}
		packed := &w.packed[i]
		packed.Reset()
		for k := range list {
			if !list[k].Wait.Idle() { // which depends on the stack
				list[k].Wait = (*waits.Classifier)(nil).Wait(&list[k])
			}
			packed.Append(&list[k])
		}
		g.AddLane(jvmthread.ThreadID(i+1), packed)
	}
	g.AddInteractions(w.interactions)
	g.AddHolds(w.holds)
}

func (w *world) name(id jvmthread.ThreadID) string {
	if id >= 1 && int(id) <= len(w.threads) {
		return w.threads[id-1]
	}
	return fmt.Sprintf("#%d", id)
}

func (w *world) lockName(id jvmthread.LockID) string {
	if id.Class >= 1 && int(id.Class) <= len(w.locks) {
		return w.locks[id.Class-1]
	}
	return "-"
}

// segment prints a segment with the chain of waits that led to it.
func (w *world) segment(p *criticalpath.Path, s criticalpath.Segment) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d..%d %s %s", s.Start, s.End, w.name(s.Thread), s.Kind)
	for wait := range p.Chain(s) {
		fmt.Fprintf(&b, " <- %s %s", w.name(wait.Ref.Thread), wait.State)
		if !wait.Lock.IsZero() {
			b.WriteString(" " + w.lockName(wait.Lock))
		}
	}
	return b.String()
}
