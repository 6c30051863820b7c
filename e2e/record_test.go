// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/recording/orca"
	"github.com/weft-otel/weft/internal/recording/tptp"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/processor/threadspanprocessor"
)

// recorded is a recording format, and the properties of the live spans that its recordings must reproduce.
type recorded struct {
	format recording.Format
	links  []string   // kinds whose links are the same
	times  [][]string // sums of states that are the same for each thread
}

func recordedFormats() []recorded {
	return []recorded{
		{
			format: native.Format(), links: []string{"handoff", "notify", "notify_all", "start", "join", "interrupt", "unpark"},
			times: [][]string{{"blocked"}, {"sleeping"}, {"waiting"}, {"reentering"}, {"joining"}, {"parked"}, {"runnable"}},
		},
		{
			format: orca.Format(), links: []string{"handoff", "notify", "notify_all", "start", "join"},
			times: [][]string{{"blocked"}, {"sleeping"}, {"waiting", "reentering", "joining"}},
		},
		{
			format: tptp.Format(), links: []string{"handoff", "notify", "notify_all", "start", "join", "interrupt"},
			times: [][]string{{"blocked"}, {"sleeping"}, {"waiting"}, {"joining"}},
		},
	}
}

// TestRecordings records live JVMs as native recordings, ORCA logs and TPTP traces, and compares the spans of the recordings with the live
// spans.
func TestRecordings(t *testing.T) {
	j := jdks[len(jdks)-1]
	dir := filepath.Join(threadtest.SocketDir(t), "recordings")
	c := startCollector(t, setup{
		more: []string{filepath.Join(root, "config", "record.yaml")}, env: []string{"WEFT_RECORDINGS=" + dir},
		engine: []string{"max_spans_per_window: 0"}, // as for replays
	})
	checks := make(map[string]func(*testing.T, *output))
	var services []string
	for _, p := range programs {
		checks[p.name] = p.run(t, j, c.endpoint, p.name, p.command)
		services = append(services, p.name)
	}
	live := c.finish(t, services...)
	spantest.CheckNothingLost(t, live)
	for _, r := range recordedFormats() {
		for _, service := range services {
			t.Run(r.format.Name+"/"+service, func(t *testing.T) {
				again, ended := replay(t, &r, dir, service)
				spantest.CheckStructure(t, again)
				for _, kind := range r.links {
					assert.Equal(t, linkCounts(live, service, kind), linkCounts(again, service, kind), "%s links", kind)
				}
				for _, states := range r.times {
					assert.Equal(t, timeSums(live, service, states, ended), timeSums(again, service, states, ended), "times %v", states)
				}
				if r.format.Name == "native" || r.format.Name == "tptp" && service != "interrupts" { // complete enough for the check
					checks[service](t, again)
				}
			})
		}
	}
}

// TestCollectorReadsItsRecordings records a live JVM in each format; another collector must read the same handoffs from each file.
func TestCollectorReadsItsRecordings(t *testing.T) {
	const service, nameless = "orders", "unknown_service:java" // only native recordings contain the service name
	dir := filepath.Join(threadtest.SocketDir(t), "recordings")
	c := startCollector(t, setup{
		more: []string{filepath.Join(root, "config", "record.yaml")}, env: []string{"WEFT_RECORDINGS=" + dir},
	})
	var truth spantest.PingPong
	runJava(t, jdks[0], c.endpoint, service, &truth, "PingPong", "100")
	live := c.finish(t, service)
	for _, r := range recordedFormats() {
		t.Run(r.format.Name, func(t *testing.T) {
			name, why := nameless, "lost" // the other formats do not record the end
			if r.format.Name == "native" {
				name, why = service, "end"
			}
			reader := startCollector(t, setup{
				config: "replay.yaml", env: []string{"WEFT_RECORDINGS=" + filepath.Join(dir, "*"+r.format.Extension), "WEFT_STATE=" + t.TempDir()},
			})
			reader.waitForCut(t, name, why)
			reader.terminate(t)
			again := reader.spans(t)
			spantest.CheckStructure(t, again)
			assert.Equal(t, linkCounts(live, service, "handoff"), linkCounts(again, name, "handoff"))
			if r.format.Name != "orca" { // the format lacks lock classes
				spantest.CheckPingPong(t, again, name, truth)
			}
		})
	}
}

// replay turns the recording of a service into spans. It also returns the threads that ended in it; the end of the others is unknown.
func replay(t *testing.T, r *recorded, dir, service string) (o *output, ended map[int64]bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, service+"-*"+r.format.Extension))
	require.NoError(t, err)
	require.Len(t, files, 1, "recordings of %s", service)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	sym := symbols.New(symbols.DefaultLimits())
	got, stats, err := threadtest.Decode(&r.format, recording.Options{
		File: files[0], Symbols: sym,
		Sidecar: func(extension string) (io.ReadCloser, error) {
			return os.Open(strings.TrimSuffix(files[0], r.format.Extension) + extension)
		},
	}, text, 0)
	threadtest.CheckDecoded(t, files[0], got, stats, err)
	require.Empty(t, got.Problems)
	require.NotEmpty(t, got.Events)

	set := processortest.NewNopSettings(threadspanprocessor.NewFactory().Type())
	sink := new(consumertest.TracesSink)
	cfg := threadspanprocessor.NewFactory().CreateDefaultConfig().(*threadspanprocessor.Config)
	cfg.Sessions.MaxSpansPerWindow, cfg.Sessions.Window = 0, time.Second // as in the live run
	p, err := threadspanprocessor.NewFactory().CreateTraces(t.Context(), set, cfg, sink)
	require.NoError(t, err)
	require.NoError(t, p.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, p.ConsumeTraces(t.Context(), asCarriers(got, sym, service)))
	require.NoError(t, p.Shutdown(t.Context()))
	o, ended = spantest.New(), make(map[int64]bool)
	for _, td := range sink.AllTraces() {
		o.Add(td)
	}
	for _, ev := range got.Events {
		if ev.Kind == jvmthread.KindThreadEnd {
			ended[int64(ev.Thread)] = true
		}
	}
	require.NotEmpty(t, ended)
	return o, ended
}

// asCarriers puts all events into one batch.
func asCarriers(got *threadtest.Collector, sym *symbols.Table, service string) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	session := jvmthread.SessionID{1}
	threadpdata.FillResource(rs.Resource(), session, 1, []wire.Attribute{{Key: "service.name", Value: service}})
	ss := rs.ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(ss.Scope())
	events := slices.Clone(got.Events)
	if got.Sessions[0].SingleEnded {
		batch := recording.Batch{Events: events}
		new(recording.WaitCompleter).Complete(&batch)
		events = batch.Events
	}
	last := events[len(events)-1].Time
	slices.SortStableFunc(events, func(a, b jvmthread.Event) int { return cmp.Compare(a.Thread, b.Thread) })
	var parts [][]jvmthread.Event
	for _, ev := range events {
		if n := len(parts); n == 0 || parts[n-1][0].Thread != ev.Thread {
			parts = append(parts, nil)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], ev)
	}
	c := threadpdata.Carrier{Session: session, Batch: 1, Parts: uint32(len(parts)), Watermark: last + 1, End: threadpdata.EndExit}
	for i, part := range parts {
		c.Part, c.Threads, c.Events = uint32(i), []jvmthread.Thread{sym.Thread(part[0].Thread)}, part
		c.AppendTo(ss.Spans(), sym)
	}
	return td
}

// linkCounts counts the links of a kind by the threads at their ends.
func linkCounts(o *output, service, kind string) map[string]int {
	counts := make(map[string]int)
	for _, l := range o.Links(service, kind) {
		cause := int64(0)
		if l.To != nil {
			cause = l.To.Number("thread.id")
		}
		counts[fmt.Sprintf("%d -> %d", cause, l.From.Number("thread.id"))]++
	}
	return counts
}

// timeSums returns the total time that each thread spent in the given states.
func timeSums(o *output, service string, states []string, of map[int64]bool) map[int64]int64 {
	sums := make(map[int64]int64)
	for _, s := range o.Of(service, func(s *span) bool { return !s.IsState() && !s.IsRoot() && s.Has("thread.id") }) {
		for _, state := range states {
			if d := s.Number("weft.time." + state); d > 0 && of[s.Number("thread.id")] {
				sums[s.Number("thread.id")] += d
			}
		}
	}
	return sums
}
