// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// random creates a small graph with every kind of input, most of it inconsistent: causes after effects, locks owned by threads that wait
// for them, unknown threads, empty intervals.
func random(rng *rand.Rand) *world {
	const end = 40
	w := &world{threads: []string{"a", "b", "c", "d", "e"}, locks: []string{"K", "L"}}
	threads := 1 + rng.IntN(5)
	for id := range threads {
		var list []jvmthread.Interval
		at := jvmthread.Time(rng.IntN(5) * rng.IntN(5))
		for at < end && len(list) < 12 {
			iv := jvmthread.Interval{
				Start: at, End: at + jvmthread.Time(rng.IntN(10)), Thread: jvmthread.ThreadID(id + 1), Seq: jvmthread.Seq(len(list) + 1),
				State: jvmthread.State(rng.IntN(jvmthread.NumStates)), Stack: jvmthread.StackID(rng.IntN(3)),
			}
			if rng.IntN(3) > 0 {
				iv.State = []jvmthread.State{jvmthread.StateRunnable, jvmthread.StateBlocked, jvmthread.StateWaiting}[rng.IntN(3)]
			}
			if iv.State != jvmthread.StateRunnable {
				iv.Lock = w.lock(w.locks[rng.IntN(2)])
				iv.Peer = jvmthread.ThreadID(rng.IntN(threads + 2))
				iv.Marks = jvmthread.Marks([]int{0, 0, 0, 1, 2}[rng.IntN(5)])
				if (iv.State == jvmthread.StateWaiting || iv.State == jvmthread.StateParked) && rng.IntN(4) == 0 {
					iv.Wait = []jvmthread.Wait{jvmthread.WaitIdle, jvmthread.WaitTimer}[rng.IntN(2)]
				}
			}
			at = iv.End
			list = append(list, iv)
		}
		w.lanes = append(w.lanes, list)
	}
	for id, list := range w.lanes {
		for i, iv := range list {
			start := i == 0 && rng.IntN(2) == 0
			if !start && (iv.State == jvmthread.StateRunnable || rng.IntN(4) == 0) {
				continue
			}
			ia := jvmthread.Interaction{
				Kind: jvmthread.InteractionNotify, EffectTime: iv.End, To: jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq},
				From: jvmthread.IntervalRef{Thread: jvmthread.ThreadID(1 + (id+1+rng.IntN(threads+1))%(threads+1))},
			}
			if start {
				ia.Kind, ia.EffectTime = jvmthread.InteractionStart, iv.Start
			}
			ia.CauseTime = ia.EffectTime - jvmthread.Time(rng.IntN(6)*rng.IntN(3))
			if from, ok := w.interval(ia.From.Thread, ia.CauseTime); ok {
				ia.From.Seq = from.Seq
			}
			w.interactions = append(w.interactions, ia)
		}
	}
	for _, name := range w.locks {
		at := jvmthread.Time(0)
		for at < end && rng.IntN(12) > 0 {
			h := jvmthread.Hold{Lock: w.lock(name), Start: at + jvmthread.Time(rng.IntN(4)*rng.IntN(2)), Thread: jvmthread.ThreadID(1 + rng.IntN(threads+1))}
			h.End = h.Start + 1 + jvmthread.Time(rng.IntN(8))
			h.Marks = jvmthread.HoldMarks(rng.IntN(8) * rng.IntN(2))
			w.holds = append(w.holds, h)
			at = h.End
		}
	}
	return w
}

func window(rng *rand.Rand) (lo, hi jvmthread.Time) {
	lo = jvmthread.Time(rng.IntN(20))
	return lo, lo + jvmthread.Time(rng.IntN(30))
}

func TestBoundedMatchesReference(t *testing.T) {
	t.Parallel()
	g, p := criticalpath.New(criticalpath.Limits{MaxDepth: 4}), new(criticalpath.Path)
	for seed := range uint64(20_000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		w := random(rng)
		w.fill(g)
		for range 4 {
			lo, hi := window(rng)
			g.Bounded(jvmthread.ThreadID(1+rng.IntN(len(w.lanes)+1)), lo, hi, p)
			validate(t, w, p)
			w.checkReference(t, p, 4)
			if t.Failed() {
				t.Fatalf("seed %d: %+v", seed, w)
			}
		}
	}
}

func TestUnboundedTilesWindow(t *testing.T) {
	t.Parallel()
	g, p := criticalpath.New(criticalpath.Limits{}), new(criticalpath.Path)
	for seed := range uint64(20_000) {
		rng := rand.New(rand.NewPCG(seed, 8))
		w := random(rng)
		w.fill(g)
		lo, hi := window(rng)
		g.Unbounded(g.Last(hi, nil), lo, hi, p)
		validate(t, w, p)
	}
}

// Events outside the window do not change its path, neither before nor after it.
func TestOutsideOfWindowIsIgnored(t *testing.T) {
	t.Parallel()
	g, p, q := criticalpath.New(criticalpath.Limits{}), new(criticalpath.Path), new(criticalpath.Path)
	for seed := range uint64(5_000) {
		rng := rand.New(rand.NewPCG(seed, 9))
		w := random(rng)
		lo, hi := window(rng)
		w.fill(g)
		g.Bounded(1, lo, hi, p)
		cut := *w
		cut.interactions = slices.DeleteFunc(slices.Clone(w.interactions), func(ia jvmthread.Interaction) bool { return ia.EffectTime > hi || ia.EffectTime < lo })
		cut.lanes = nil
		for _, list := range w.lanes {
			cut.lanes = append(cut.lanes, slices.DeleteFunc(slices.Clone(list), func(iv jvmthread.Interval) bool { return iv.Start > hi || iv.End < lo }))
		}
		cut.fill(g)
		g.Bounded(1, lo, hi, q)
		same(t, w, p, q)
	}
}

// Splitting running intervals only splits the segments of the path.
func TestSplittingRunsKeepsPath(t *testing.T) {
	t.Parallel()
	g, p, q := criticalpath.New(criticalpath.Limits{}), new(criticalpath.Path), new(criticalpath.Path)
	for seed := range uint64(5_000) {
		rng := rand.New(rand.NewPCG(seed, 10))
		w := random(rng)
		lo, hi := window(rng)
		w.fill(g)
		g.Bounded(1, lo, hi, p)
		split := w.split()
		split.fill(g)
		g.Bounded(1, lo, hi, q)
		same(t, w, p, q)
	}
}

func (w *world) split() *world {
	split := *w
	split.lanes = nil
	seqs := map[jvmthread.IntervalRef]jvmthread.Seq{}
	for id, list := range w.lanes {
		var out []jvmthread.Interval
		for _, iv := range list {
			old := jvmthread.IntervalRef{Thread: jvmthread.ThreadID(id + 1), Seq: iv.Seq}
			if mid := (iv.Start + iv.End) / 2; iv.State == jvmthread.StateRunnable && mid > iv.Start && len(out) > 0 {
				first := iv
				first.End, first.Seq, iv.Start = mid, jvmthread.Seq(len(out)+1), mid
				out = append(out, first)
			}
			iv.Seq = jvmthread.Seq(len(out) + 1)
			seqs[old] = iv.Seq
			out = append(out, iv)
		}
		split.lanes = append(split.lanes, out)
	}
	split.interactions = slices.Clone(w.interactions)
	for i := range split.interactions {
		ia := &split.interactions[i]
		ia.From.Seq, ia.To.Seq = seqs[ia.From], seqs[ia.To]
	}
	return &split
}

// same compares paths regardless of interval numbers.
func same(t *testing.T, w *world, p, q *criticalpath.Path) {
	t.Helper()
	plain := func(p *criticalpath.Path) (list []string) {
		type row struct {
			from, to jvmthread.Time
			text     string
		}
		var rows []row
		for _, s := range p.Segments {
			text := w.segment(p, criticalpath.Segment{Thread: s.Thread, Via: s.Via, Kind: s.Kind})
			if n := len(rows); n > 0 && rows[n-1].text == text {
				rows[n-1].to = s.End
				continue
			}
			rows = append(rows, row{s.Start, s.End, text})
		}
		for _, r := range rows {
			list = append(list, w.segment(p, criticalpath.Segment{Start: r.from, End: r.to, Via: criticalpath.NoWait})+r.text)
		}
		return list
	}
	if a, b := plain(p), plain(q); cmp.Compare(len(a), len(b)) != 0 || !slices.Equal(a, b) {
		t.Fatalf("over %d..%d:\n%q\n%q\n%+v", p.Start, p.End, a, b, w)
	}
}
