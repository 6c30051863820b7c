// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// contention creates a window of about n intervals: threads that in turn run, take a random lock and hold it for a while. The first thread,
// whose path is measured, waits for all others all the time.
func contention(threads, locks, n int) *world {
	rng := rand.New(rand.NewPCG(1, 2))
	w := &world{lanes: make([][]jvmthread.Interval, threads)}
	type owned struct {
		holder int
		freed  jvmthread.Time
		holds  []jvmthread.Hold
	}
	all := make([]owned, locks)
	now := make([]jvmthread.Time, threads)
	put := func(id int, state jvmthread.State, to jvmthread.Time, lock jvmthread.LockID) jvmthread.IntervalRef {
		list := &w.lanes[id]
		iv := jvmthread.Interval{
			Thread: jvmthread.ThreadID(id + 1), Seq: jvmthread.Seq(len(*list) + 1), Start: now[id], End: to, State: state, Lock: lock,
			Stack: jvmthread.StackID(rng.IntN(8)),
		}
		*list = append(*list, iv)
		now[id] = to
		return jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}
	}
	for i := 0; i < n; i += 2 {
		id := (i / 2) % threads
		k := rng.IntN(locks)
		o := &all[k]
		lock := jvmthread.LockID{Class: jvmthread.ClassID(1 + k), Hash: uint32(k)}
		run := now[id] + jvmthread.Time(1+rng.IntN(300))
		put(id, jvmthread.StateRunnable, run, jvmthread.NoLock)
		got := max(run, o.freed) + 5
		to := put(id, jvmthread.StateBlocked, got, lock)
		if o.holds != nil && o.freed > run && o.holder != id {
			from := w.lanes[o.holder]
			w.interactions = append(w.interactions, jvmthread.Interaction{
				Kind: jvmthread.InteractionHandoff, CauseTime: o.freed, EffectTime: got, To: to, Lock: lock,
				From: jvmthread.IntervalRef{Thread: jvmthread.ThreadID(o.holder + 1), Seq: from[len(from)-1].Seq},
			})
		}
		o.holder, o.freed = id, got+jvmthread.Time(1+rng.IntN(200))
		o.holds = append(o.holds, jvmthread.Hold{Lock: lock, Thread: jvmthread.ThreadID(id + 1), Start: got, End: o.freed})
	}
	slices.SortFunc(w.interactions, func(a, b jvmthread.Interaction) int {
		if a.To.Thread != b.To.Thread {
			return int(a.To.Thread) - int(b.To.Thread)
		}
		return int(a.To.Seq) - int(b.To.Seq)
	})
	for i := range all {
		w.holds = append(w.holds, all[i].holds...)
	}
	return w
}

// end returns the time until which all threads live.
func (w *world) end() jvmthread.Time {
	end := w.lanes[0][len(w.lanes[0])-1].End
	for _, list := range w.lanes {
		end = min(end, list[len(list)-1].End)
	}
	return end
}

func BenchmarkBounded(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000, 10_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) { bench(b, 16, 4, n) })
	}
}

// BenchmarkBounded1M is the benchmark to watch for regressions: the path of a window of a million intervals.
func BenchmarkBounded1M(b *testing.B) { bench(b, 64, 16, 1_000_000) }

func bench(b *testing.B, threads, locks, n int) {
	b.Helper()
	w := contention(threads, locks, n)
	g, p := criticalpath.New(criticalpath.Limits{}), new(criticalpath.Path)
	w.fill(g)
	end := w.end()
	g.Bounded(1, 0, end, p) // warm up: allocate the memory
	visited := 0
	b.ReportAllocs()
	for b.Loop() {
		g.Bounded(1, 0, end, p)
		visited += p.Visited
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(visited), "ns/visited")
	b.ReportMetric(float64(visited)/float64(b.N), "visited/op")
}

func BenchmarkUnbounded1M(b *testing.B) {
	w := contention(64, 16, 1_000_000)
	g, p := criticalpath.New(criticalpath.Limits{}), new(criticalpath.Path)
	w.fill(g)
	end := w.end()
	g.Unbounded(1, 0, end, p)
	b.ReportAllocs()
	for b.Loop() {
		g.Unbounded(1, 0, end, p)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(p.Visited*b.N), "ns/visited")
}

func BenchmarkFill1M(b *testing.B) {
	w := contention(64, 16, 1_000_000)
	g := criticalpath.New(criticalpath.Limits{})
	w.fill(g)
	b.ReportAllocs()
	for b.Loop() {
		w.fill(g)
	}
}

// BenchmarkFloor measures, for each piece that BenchmarkBounded visits, a scan through memory of the same size, and one access to a place of it
// that depends on the previous access.
func BenchmarkFloor(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000, 10_000_000} {
		const lineWords = 8
		visited := n * 47 / 100
		lines := make([][lineWords]uint64, (n*24+n/2*(32+32)+visited*40)/64) // nodes, holds and edges; segments and waits
		b.Run(fmt.Sprintf("scan/%d", n), func(b *testing.B) {
			sum := uint64(0)
			for b.Loop() {
				for i := range lines {
					for _, word := range lines[i] {
						sum += word
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(visited*b.N), "ns/visited")
			lines[0][1] = sum
		})
		rng := rand.New(rand.NewPCG(1, 3))
		order := rng.Perm(len(lines))
		for i, at := range order {
			lines[at][0] = uint64(order[(i+1)%len(order)])
		}
		b.Run(fmt.Sprintf("random/%d", n), func(b *testing.B) {
			at := uint64(0)
			for b.Loop() {
				for range visited {
					at = lines[at][0]
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(visited*b.N), "ns/visited")
			lines[0][1] = at
		})
	}
}

// BenchmarkWhatIf1M computes the drag of all locks over a million intervals. ns/interval should be the same for any number of locks.
func BenchmarkWhatIf1M(b *testing.B) {
	for _, locks := range []int{2, 16, 128, 1024, 3000} {
		b.Run(fmt.Sprintf("locks=%d", locks), func(b *testing.B) {
			const intervals = 1_000_000
			w := contention(50, locks, intervals)
			g, r := criticalpath.New(criticalpath.Limits{}), new(criticalpath.Retiming)
			w.fill(g)
			var out []criticalpath.Saving
			once := func() {
				g.Retime(0, w.end(), r)
				out = r.AppendSavings(out[:0], 1, criticalpath.ByLock)
			}
			once() // allocate the memory
			b.ReportAllocs()
			for b.Loop() {
				once()
			}
			b.ReportMetric(float64(len(out)), "locks")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(intervals*b.N), "ns/interval")
		})
	}
}

// BenchmarkScaled1M computes the gain of shorter critical sections of one lock.
func BenchmarkScaled1M(b *testing.B) {
	w := contention(64, 16, 1_000_000)
	g, r := criticalpath.New(criticalpath.Limits{}), new(criticalpath.Retiming)
	w.fill(g)
	g.Retime(0, w.end(), r)
	for b.Loop() {
		r.Scaled(1, w.holds[0].Lock, 500)
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	w := contention(8, 4, 20_000)
	g, p, r := criticalpath.New(criticalpath.Limits{}), new(criticalpath.Path), new(criticalpath.Retiming)
	var shares []criticalpath.Share
	var savings []criticalpath.Saving
	once := func() {
		w.fill(g)
		g.Unbounded(1, 0, w.end(), p)
		g.Bounded(1, 0, w.end(), p)
		shares = p.AppendShares(shares[:0], criticalpath.BySite)
		g.Retime(0, w.end(), r)
		savings = r.AppendSavings(savings[:0], 1, criticalpath.ByClass)
		r.Slacks(1)
		r.Scaled(1, w.holds[0].Lock, 500)
	}
	once()
	require.NotEmpty(t, savings)
	require.Zero(t, testing.AllocsPerRun(5, once))
}
