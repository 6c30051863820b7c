// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"cmp"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/processor/threadspanprocessor/internal/metadata"
)

var (
	fleetTime    = flag.Duration("fleet.time", 25*time.Second, "how long a fleet of BenchmarkFleet sends")
	fleetLimit   = flag.Int("fleet.limit", 0, "sessions_limit_mib of BenchmarkFleet")
	fleetProfile = flag.String("fleet.profile", "", "prefix of files for heap profiles of BenchmarkFleet")
)

// BenchmarkFleet measures, with agents that send at a constant rate, how long they wait for acknowledgements, how long after its end a window
// is sent, and whether the bytes that the processor says it holds are those of the heap. One run takes -fleet.time, so use -benchtime 1x.
func BenchmarkFleet(b *testing.B) {
	for _, size := range []struct{ sessions, rate int }{{200, 100_000}, {1000, 100_000}, {200, 300_000}} {
		b.Run(fmt.Sprintf("sessions=%d/rate=%d", size.sessions, size.rate), func(b *testing.B) {
			for b.Loop() {
				f := fleet{sessions: size.sessions, rate: size.rate}
				f.measure(b)
			}
		})
	}
}

// fleet is a number of agents, and what they experience.
type fleet struct {
	sessions, rate int // events per second, of all sessions together

	events []jvmthread.Event // of each session, at its rate
	names  *symbols.Table

	mu      sync.Mutex
	waited  []time.Duration // for acknowledgements
	late    []time.Duration // windows
	windows map[string]int  // by session
}

// fleetEvery is how often an agent sends.
const fleetEvery = 100 * time.Millisecond

func (f *fleet) measure(b *testing.B) {
	b.Helper()
	f.program(*fleetTime + time.Second)
	f.windows = make(map[string]int)
	runtime.GC()
	before := heapBytes()
	tel := componenttest.NewTelemetry()
	set := processortest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	next, err := consumer.NewTraces(f.consume)
	require.NoError(b, err)
	cfg := createDefaultConfig().(*Config)
	cfg.Sessions.SessionsLimitMiB = *fleetLimit
	p, err := NewFactory().CreateTraces(b.Context(), set, cfg, next)
	require.NoError(b, err)
	require.NoError(b, p.Start(b.Context(), componenttest.NewNopHost()))

	peak, stop := watchPeak()
	var agents sync.WaitGroup
	begin := time.Now().Add(100 * time.Millisecond)
	for i := range f.sessions {
		agents.Go(func() { f.agent(b, p, i, begin) })
	}
	agents.Wait()
	most := peak(stop)
	held := counted(tel, "held")
	runtime.GC()
	live := heapBytes() - before
	if *fleetProfile != "" {
		f.profile(b)
	}
	require.NoError(b, p.Shutdown(context.Background()))

	slices.Sort(f.waited)
	slices.Sort(f.late)
	b.ReportMetric(ms(f.waited, 50), "ack-p50-ms")
	b.ReportMetric(ms(f.waited, 99), "ack-p99-ms")
	b.ReportMetric(ms(f.waited, 100), "ack-max-ms")
	b.ReportMetric(ms(f.late, 50), "late-p50-ms")
	b.ReportMetric(ms(f.late, 99), "late-p99-ms")
	b.ReportMetric(ms(f.late, 100), "late-max-ms")
	b.ReportMetric(float64(most)/1e6, "peak-MB")
	b.ReportMetric(float64(live)/1e6, "live-MB")
	b.ReportMetric(float64(held)/1e6, "held-MB")
	b.ReportMetric(float64(counted(tel, "events"))/fleetTime.Seconds(), "events/s")
	b.ReportMetric(float64(counted(tel, "events_lost")), "lost")
	least := 1 << 30
	for _, n := range f.windows {
		least = min(least, n)
	}
	b.ReportMetric(float64(len(f.windows)), "sessions-seen")
	b.ReportMetric(float64(least), "windows-least")
	b.ReportMetric(0, "ns/op")
}

// program creates the events of a session: threads that contend for locks, sleep and wait, at the rate of one session.
func (f *fleet) program(length time.Duration) {
	f.names = symbols.New(symbols.DefaultLimits())
	for i := range 3 {
		f.names.InternClass(fmt.Sprintf("com.acme.orders.Lock%d", i))
	}
	stacks := make([]jvmthread.StackID, 64)
	for i := range stacks {
		var text strings.Builder
		for frame := range 20 {
			fmt.Fprintf(&text, "\tat com.acme.orders.Service%d.step%d(Service.java:%d)\n", i%10, frame, 10*i+frame)
		}
		stacks[i] = f.names.InternStack(text.String())
	}
	const perStep, threads, locks, queued = 4, 16, 5, 3
	step := jvmthread.Time(perStep * int64(time.Second) * int64(f.sessions) / int64(f.rate))
	last := [locks]jvmthread.ThreadID{}
	for i := 0; jvmthread.Time(i)*step < jvmthread.Time(length); i++ {
		at := jvmthread.Time(i) * step
		lock := jvmthread.LockID{Class: jvmthread.ClassID(1 + i%locks%3), Hash: uint32(i % locks)}
		comes, sleeps := jvmthread.ThreadID(1+i%threads), jvmthread.ThreadID(1+(i+threads/2)%threads)
		f.events = append(f.events,
			jvmthread.Event{Time: at, Thread: comes, Kind: jvmthread.KindContendedEnter, Lock: lock, Peer: last[i%locks], Stack: stacks[i*7%len(stacks)]},
			jvmthread.Event{Time: at + 1, Thread: sleeps, Kind: jvmthread.KindSleepStart, Arg: 1, Stack: stacks[i*3%len(stacks)]},
			jvmthread.Event{Time: at + step/2, Thread: sleeps, Kind: jvmthread.KindSleepEnd})
		last[i%locks] = comes
		if i >= queued {
			got := jvmthread.ThreadID(1 + (i-queued)%threads)
			lock := jvmthread.LockID{Class: jvmthread.ClassID(1 + (i-queued)%locks%3), Hash: uint32((i - queued) % locks)}
			f.events = append(f.events, jvmthread.Event{Time: at + step/2 + 1, Thread: got, Kind: jvmthread.KindContendedEntered, Lock: lock, Stack: stacks[i%len(stacks)]})
		}
	}
}

// fleetAgent is one of the agents.
type fleetAgent struct {
	*fleet
	id      jvmthread.SessionID
	origin  jvmthread.Time
	threads []jvmthread.Thread
	sent    int
	batch   uint64
	before  uint64
}

func (f *fleet) newAgent(number int, origin jvmthread.Time) *fleetAgent {
	a := &fleetAgent{fleet: f, id: jvmthread.SessionID{0: 1}, origin: origin, threads: make([]jvmthread.Thread, 16)}
	binary.BigEndian.PutUint64(a.id[8:], uint64(number)*0x9e3779b97f4a7c15)
	for i := range a.threads {
		a.threads[i] = jvmthread.Thread{ID: jvmthread.ThreadID(i + 1), Name: fmt.Sprintf("http-exec-%d", i+1)}
	}
	return a
}

// batchUntil returns the next batch, with the events before a time since the start.
func (a *fleetAgent) batchUntil(now jvmthread.Time) ptrace.Traces {
	a.batch++
	c := threadpdata.Carrier{Session: a.id, Batch: a.batch, Watermark: a.origin + now, Before: a.before}
	if a.batch%100 == 1 {
		c.Threads = a.threads
	}
	for ; a.sent < len(a.events) && a.events[a.sent].Time < now; a.sent++ {
		ev := a.events[a.sent]
		ev.Time += a.origin
		c.Events = append(c.Events, ev)
	}
	a.before += uint64(len(c.Events))
	slices.SortStableFunc(c.Events, func(x, y jvmthread.Event) int { return cmp.Compare(x.Thread, y.Thread) })
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "orders")
	ss := rs.ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(ss.Scope())
	c.AppendTo(ss.Spans(), a.names)
	return td
}

// agent sends the events of a session, as many as are due every time. While it waits for an acknowledgement, it gathers.
func (f *fleet) agent(b *testing.B, p processor.Traces, number int, begin time.Time) {
	b.Helper()
	a := f.newAgent(number, jvmthread.Time(begin.UnixNano()))
	var waited []time.Duration
	time.Sleep(time.Until(begin) + fleetEvery*time.Duration(number)/time.Duration(f.sessions)) // load, not a wait for a result
	ticker := time.NewTicker(fleetEvery)
	defer ticker.Stop()
	for time.Since(begin) < *fleetTime {
		<-ticker.C
		td := a.batchUntil(jvmthread.Time(time.Since(begin)))
		asked := time.Now()
		if err := p.ConsumeTraces(b.Context(), td); err != nil {
			b.Error(err)
		}
		waited = append(waited, time.Since(asked))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waited = append(f.waited, waited...)
}

// consume notes how late a window is.
func (f *fleet) consume(_ context.Context, td ptrace.Traces) error {
	root := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	cut, ok := root.Attributes().Get("weft.window.cut")
	if !ok {
		return nil // more spans of a window, or of requests
	}
	text, _ := root.Attributes().Get("weft.session.id")
	f.mu.Lock()
	defer f.mu.Unlock()
	if cut.Str() != "shutdown" {
		f.late = append(f.late, time.Since(root.EndTimestamp().AsTime()))
	}
	f.windows[text.Str()]++
	return nil
}

func (f *fleet) profile(b *testing.B) {
	b.Helper()
	file, err := os.Create(fmt.Sprintf("%s-%d-%d.pprof", *fleetProfile, f.sessions, f.rate))
	require.NoError(b, err)
	require.NoError(b, pprof.Lookup("heap").WriteTo(file, 0))
	require.NoError(b, file.Close())
}

func ms(sorted []time.Duration, percent int) float64 {
	if len(sorted) == 0 {
		return -1
	}
	return float64(sorted[min(len(sorted)-1, len(sorted)*percent/100)].Microseconds()) / 1000
}

// heapBytes returns the bytes of all objects of the heap, some of which may be garbage.
func heapBytes() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// watchPeak returns a function that ends the watch and returns the most memory that the process took from the system.
func watchPeak() (peak func(stop chan struct{}) uint64, stop chan struct{}) {
	stop = make(chan struct{})
	done := make(chan uint64)
	go func() {
		most := uint64(0)
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for {
			sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64()-sample[1].Value.Uint64())
			select {
			case <-stop:
				done <- most
				return
			case <-ticker.C:
			}
		}
	}()
	return func(stop chan struct{}) uint64 {
		close(stop)
		return <-done
	}, stop
}

// counted returns the sum of a metric of the processor.
func counted(tel *componenttest.Telemetry, name string) (sum int64) {
	got, err := tel.GetMetric("otelcol_processor_thread_span_" + name)
	if err != nil {
		return 0
	}
	for _, dp := range got.Data.(metricdata.Sum[int64]).DataPoints {
		sum += dp.Value
	}
	return sum
}
