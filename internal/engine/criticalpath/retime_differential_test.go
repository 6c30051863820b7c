// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath_test

import (
	"math/rand/v2"
	"testing"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Savings and slacks equal those of the reference, for consistent and inconsistent input.
func TestRetimingEqualsReference(t *testing.T) {
	t.Parallel()
	d := differential{g: criticalpath.New(criticalpath.Limits{})}
	for seed := range uint64(10_000) {
		rng := rand.New(rand.NewPCG(seed, 20))
		lo, hi := window(rng)
		d.compare(t, seed, random(rng), lo, hi)
	}
	for seed := range uint64(2_000) {
		rng := rand.New(rand.NewPCG(seed, 21))
		w, _, end := replay(program(rng), [4][]int{}, -1)
		d.compare(t, seed, w, jvmthread.Time(rng.Int64N(int64(end)))*jvmthread.Time(rng.IntN(2)), end-jvmthread.Time(rng.IntN(5)))
	}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 22))
		w := contention(2+rng.IntN(20), 1+rng.IntN(100), 100+rng.IntN(5_000))
		if seed%2 == 0 {
			loosen(rng, w)
		}
		d.compare(t, seed, w, jvmthread.Time(rng.IntN(1000)), w.end()-jvmthread.Time(rng.IntN(1000)))
	}
	if d.savings < 10_000 || d.drags < 1_000 || d.unknown > 0 {
		t.Errorf("%d savings, %d of them positive, %d unknown: too few for a comparison", d.savings, d.drags, d.unknown)
	}
}

// loosen changes some of the blocks: the lock was free, or a wait followed its own cause.
func loosen(rng *rand.Rand, w *world) {
	for _, list := range w.lanes {
		for i := range list {
			iv := &list[i]
			if iv.State != jvmthread.StateBlocked {
				continue
			}
			switch rng.IntN(8) {
			case 0, 1:
				iv.State, iv.Lock = jvmthread.StateRunnable, jvmthread.NoLock
			case 2:
				iv.State = jvmthread.StateWaiting
				w.interactions = append(w.interactions, jvmthread.Interaction{
					Kind: jvmthread.InteractionNotify, CauseTime: max(0, iv.Start-jvmthread.Time(rng.IntN(20))), EffectTime: iv.End,
					To:   jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq},
					From: jvmthread.IntervalRef{Thread: jvmthread.ThreadID(1 + rng.IntN(len(w.lanes)))},
				})
			}
		}
	}
}

type differential struct {
	g                       *criticalpath.Graph
	r                       criticalpath.Retiming
	savings, drags, unknown int
}

func (d *differential) compare(t *testing.T, seed uint64, w *world, lo, hi jvmthread.Time) {
	t.Helper()
	w.fill(d.g)
	reference := criticalpath.NewReference(d.g, lo, hi)
	d.g.Retime(lo, hi, &d.r)
	if have, want := d.r.Broken(), reference.Broken; have != want {
		t.Fatalf("seed %d: %d broken, want %d", seed, have, want)
	}
	for id := range jvmthread.ThreadID(min(4, len(w.lanes)) + 1) {
		for _, by := range []criticalpath.Grouping{criticalpath.ByLock, criticalpath.ByClass} {
			have, want := d.r.AppendSavings(nil, id, by), reference.Savings(id, by)
			if len(have) != len(want) {
				t.Fatalf("seed %d: thread %d: %d savings, want %d", seed, id, len(have), len(want))
			}
			for _, s := range have {
				want := want[s.Lock]
				if s.Unknown {
					d.unknown++
					want.Drag, want.Unknown = 0, true
				}
				if s != want {
					t.Fatalf("seed %d: thread %d over %d..%d: saving %+v, want %+v", seed, id, lo, hi, s, want)
				}
				d.savings++
				if s.Drag > 0 {
					d.drags++
				}
			}
		}
		d.r.Slacks(id)
		slacks := reference.Slacks(id)
		for _, list := range w.lanes {
			for _, iv := range list {
				ref := jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}
				have, ok := d.r.Slack(ref)
				if want, known := slacks[ref]; have != want || ok != known {
					t.Fatalf("seed %d: slack of %v: %v %v, want %v %v", seed, ref, have, ok, want, known)
				}
			}
		}
	}
}
