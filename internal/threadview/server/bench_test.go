// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// bigSession stores a session of 500 threads that block in turn on 40 locks of 3 classes, with stacks. One second has about 8 000
// intervals.
func bigSession(tb testing.TB, intervals int) *store.Store {
	tb.Helper()
	st := store.New(math.MaxInt64, nil)
	crowd(st, 500, 40, intervals)
	return st
}

// crowd stores a session in which all threads block in turn.
func crowd(st *store.Store, threads int, locks uint32, intervals int) {
	sym := symbols.New(symbols.DefaultLimits())
	for _, c := range classNames[1:] {
		sym.InternClass(c)
	}
	for i := range threads {
		sym.SetThread(jvmthread.Thread{ID: jvmthread.ThreadID(i + 1), Name: fmt.Sprintf("http-nio-8080-exec-%d", i+1), Group: "main"})
	}
	stacks := make([]jvmthread.StackID, 100)
	for i := range stacks {
		stacks[i] = sym.InternStack(fmt.Sprintf("at com.acme.Service%d.call(Service.java:%d)\nat com.acme.Server.run(Server.java:1)\n", i%10, i))
	}
	s := st.Open(sessionID, store.Meta{"service.name": "big"})
	cfg := engine.DefaultConfig()
	cfg.Window = time.Second
	e := drive.New(cfg, nil)
	e.Watch(func(events []jvmthread.Event) { s.Events(events, sym) })
	yield := func(w *window.Window) { s.Append(w, sym) }
	rng := rand.New(rand.NewPCG(1, 2))
	at, batch, before := jvmthread.Time(1_700_000_000_000_000_000), uint64(0), uint64(0)
	byThread := make([][]jvmthread.Event, threads)
	for n := 0; n < intervals; n += 2 * threads {
		owner := jvmthread.ThreadID(1 + rng.IntN(threads))
		for _, kind := range []jvmthread.Kind{jvmthread.KindContendedEnter, jvmthread.KindContendedEntered} {
			for id := range jvmthread.ThreadID(threads) {
				at += jvmthread.Time(rng.IntN(250_000))
				if id+1 == owner {
					continue
				}
				ev := jvmthread.Event{Time: at, Thread: id + 1, Kind: kind, Lock: jvmthread.LockID{Class: 1 + jvmthread.ClassID(id%3), Hash: 0x5a5a5a00 + uint32(id)%locks}}
				if kind == jvmthread.KindContendedEnter {
					ev.Peer, ev.Stack = owner, stacks[rng.IntN(len(stacks))]
				}
				byThread[id] = append(byThread[id], ev)
			}
		}
		batch++
		e.Add(ordering.Batch{Number: batch, Watermark: at, Before: before, Events: slices.Concat(byThread...)})
		for id, list := range byThread {
			before += uint64(len(list))
			byThread[id] = list[:0]
		}
		e.Advance(yield)
	}
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	s.Close(window.CutEnd)
}

var bigStores = struct {
	sync.Mutex
	bySize map[int]*store.Store
}{bySize: map[int]*store.Store{}}

func bigStore(b *testing.B, intervals int) *store.Store {
	b.Helper()
	bigStores.Lock()
	defer bigStores.Unlock()
	if bigStores.bySize[intervals] == nil {
		bigStores.bySize[intervals] = bigSession(b, intervals)
	}
	return bigStores.bySize[intervals]
}

// BenchmarkMemory measures the size of a session by the store's own accounting and as Go's heap size.
func BenchmarkMemory(b *testing.B) {
	for range b.N {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		st := bigSession(b, 1_000_000)
		runtime.GC()
		runtime.ReadMemStats(&after)
		n := float64(st.Session(sessionID).Snapshot().Counts.Intervals)
		b.ReportMetric(float64(st.Stats().Bytes)/n, "accounted-B/interval")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "heap-B/interval")
		runtime.KeepAlive(st)
	}
}

// cpuTime returns the CPU time of this process.
func cpuTime(b *testing.B) int64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkAnswer measures the latency and the size of responses for sessions of 500 threads.
func BenchmarkAnswer(b *testing.B) {
	for _, size := range []int{1_000_000, 10_000_000} {
		for _, what := range []string{
			"lanes?width=1280&limit=40", "lanes?width=1280&limit=40&from=20000000000&to=22000000000", "lanes?width=1280&limit=40&sort=blocked.time",
			"minimap", "threads", "interactions?limit=500", "interactions?from=20000000000&to=22000000000", "interval?thread=77&at=20000000000",
			"classes", "answer", "callers", "locks", "locklanes?width=1280", "holders", "kinds", "flame", "log", "path?from=20000000000&to=22000000000", "search?q=Service7",
		} {
			b.Run(fmt.Sprintf("%dM/%s", size/1_000_000, what), func(b *testing.B) {
				if size > 1_000_000 && os.Getenv("WEFT_LARGE") == "" {
					b.Skip("set WEFT_LARGE=1 to run it: it needs a minute and 600 MB")
				}
				handler := server.New(bigStore(b, size), server.Config{TraceWindow: 10 * time.Second}).Handler()
				bytes, before := 0, cpuTime(b)
				for b.Loop() {
					r := httptest.NewRequest(http.MethodGet, "/api/sessions/"+sessionID.String()+"/"+what, http.NoBody)
					r.Host = "localhost"
					w := httptest.NewRecorder()
					handler.ServeHTTP(w, r)
					if w.Code != http.StatusOK {
						b.Fatalf("%d %s", w.Code, w.Body)
					}
					bytes = w.Body.Len()
				}
				b.ReportMetric(float64(bytes), "B/answer")
				b.ReportMetric(float64(cpuTime(b)-before)/1e6/float64(b.N), "cpu-ms/op") // independent of other load on the machine
			})
		}
	}
}
