// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/viewapi"
)

func (f *fixture) file(what string) []byte {
	f.t.Helper()
	status, body := f.get("sessions/" + sessionID.String() + what)
	require.Equal(f.t, http.StatusOK, status, "%s: %.200s", what, body)
	return body
}

func TestTablesAsFiles(t *testing.T) {
	f := newFixture(t, 3, 10, 4, 1500, 700)
	threads := ask[viewapi.Threads](f, "/threads")
	rows, err := csv.NewReader(bytes.NewReader(f.file("/export?table=threads&format=csv"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, len(threads.Threads)+1)
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	for i, th := range threads.Threads {
		row := rows[i+1]
		assert.Equal(t, th.Name, row[column["name"]])
		assert.Equal(t, strconv.FormatInt(th.Blocked.Time, 10), row[column["blocked.time"]])
		assert.Equal(t, strconv.FormatInt(th.States[jvmthread.StateParked].Count, 10), row[column["states.parked.count"]])
	}
	for _, table := range []string{"threads", "classes", "callers", "locks", "path", "log", "intervals"} {
		var list []map[string]any
		require.NoError(t, json.Unmarshal(f.file("/export?format=json&table="+table), &list), table)
		rows, err := csv.NewReader(bytes.NewReader(f.file("/export?format=csv&table=" + table))).ReadAll()
		require.NoError(t, err, table)
		assert.Len(t, rows, len(list)+1, table)
		assert.NotEmpty(t, list, table)
	}
	var intervals []struct {
		From, To int64
		Wait     string
	}
	require.NoError(t, json.Unmarshal(f.file("/export?format=json&table=intervals"), &intervals))
	var blocked int64
	for _, iv := range intervals {
		if iv.Wait == "lock" {
			blocked += iv.To - iv.From
		}
	}
	assert.Equal(t, threads.Sum.Blocked.Time, blocked)
}

// collector is a recording.Sink.
type collector struct {
	session recording.Session
	events  []jvmthread.Event
	end     *recording.End
	t       *testing.T
}

func (c *collector) Session(s *recording.Session) error {
	c.session = *s
	return nil
}

func (c *collector) Batch(b *recording.Batch) error {
	c.events = append(c.events, b.Events...)
	return nil
}

func (c *collector) Problem(p recording.Problem) error {
	c.t.Errorf("%+v", p)
	return nil
}

func (c *collector) End(e recording.End) error {
	c.end = &e
	return nil
}

// A downloaded recording contains every event.
func TestNativeRecording(t *testing.T) {
	f := newFixture(t, 7, 10, 4, 3000, 700)
	sink := &collector{t: t}
	sym := symbols.New(symbols.DefaultLimits())
	d := native.NewDecoder(recording.Options{Symbols: sym}, sink)
	_, err := d.Write(f.file("/download?format=native"))
	require.NoError(t, err)
	require.NoError(t, d.Close())
	assert.Equal(t, sessionID, sink.session.ID)
	assert.Equal(t, uint32(42), sink.session.PID)
	require.NotNil(t, sink.end)
	require.Len(t, sink.events, len(f.events))
	for i, want := range f.events {
		got := sink.events[i]
		assert.Equal(t, f.symbols.Class(want.Lock.Class), sym.Class(got.Lock.Class))
		assert.Equal(t, f.symbols.Stack(want.Stack), sym.Stack(got.Stack)+strings.Repeat("\n", min(1, int(got.Stack))))
		got.Lock.Class, got.Stack = want.Lock.Class, want.Stack
		require.Equal(t, want, got)
	}
	assert.Equal(t, "worker-1", sym.Thread(1).Name)
}

// Downloaded spans equal those that thread_span produces from the same events.
func TestSpansMatchThreadSpanProcessor(t *testing.T) {
	f := newFixture(t, 7, 10, 4, 3000, 700)
	options := sessions.DefaultOptions()
	var want []string
	emitter, finder := threadpdata.NewEmitter(sessionID, f.symbols, nil), options.NewFinder(f.symbols)
	run(f.events, 10*time.Second, func(w *window.Window) {
		spans := ptrace.NewTraces().ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
		emitter.Append(w, threadpdata.Prepare(w, finder, 0), spans)
		w.Release()
		for _, s := range spans.All() {
			want = append(want, fmt.Sprint(s.TraceID(), s.SpanID(), s.ParentSpanID(), s.Name(), s.StartTimestamp(), s.EndTimestamp(), s.Links().Len(), s.Attributes().AsRaw()))
		}
	})
	var got []string
	for line := range bytes.Lines(f.file("/download?format=otlp")) {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
		require.NoError(t, err)
		for _, rs := range td.ResourceSpans().All() {
			service, _ := rs.Resource().Attributes().Get("service.name")
			assert.Equal(t, "test", service.Str())
			for _, s := range rs.ScopeSpans().At(0).Spans().All() {
				got = append(got, fmt.Sprint(s.TraceID(), s.SpanID(), s.ParentSpanID(), s.Name(), s.StartTimestamp(), s.EndTimestamp(), s.Links().Len(), s.Attributes().AsRaw()))
			}
		}
	}
	require.Len(t, got, len(want))
	assert.Equal(t, want, got)

	// They include the ids in the details of an interval.
	ids := strings.Join(got, "\n")
	for _, row := range ask[viewapi.Callers](f, "/callers").Callers {
		iv := ask[viewapi.Interval](f, fmt.Sprintf("/interval?thread=%d&seq=%d", row.Longest.Thread.ID, row.Longest.Seq))
		require.NotNil(t, iv.Span)
		assert.Contains(t, ids, iv.Span.TraceID+" "+iv.Span.SpanID)
		require.NotNil(t, iv.Cause)
		assert.Contains(t, ids, iv.Cause.Span.TraceID+" "+iv.Cause.Span.SpanID)
	}
}

// Perfetto's own reader is not available here: the test decodes the file by the field numbers of the schema.
func TestPerfettoTrace(t *testing.T) {
	f := newFixture(t, 7, 10, 4, 3000, 700)
	data := f.file("/download?format=perfetto")
	if path := os.Getenv("WEFT_PERFETTO"); path != "" {
		require.NoError(t, os.WriteFile(path, data, 0o600))
	}
	kinds, flows, ends := map[uint64]int{}, map[uint64]int{}, map[uint64]int{}
	names, open := map[string]int{}, map[uint64]int{}
	tracks := 0
	for _, packet := range fields(t, data)[1] {
		p := fields(t, packet.bytes)
		tracks += len(p[60])
		for _, e := range p[11] {
			event := fields(t, e.bytes)
			kind, track := event[9][0].number, event[11][0].number
			kinds[kind]++
			switch kind {
			case 1:
				open[track]++
				names[string(event[23][0].bytes)]++
			case 2:
				open[track]--
			}
			assert.GreaterOrEqual(t, open[track], 0)
			for _, flow := range event[47] {
				flows[flow.number]++
			}
			for _, flow := range event[48] {
				ends[flow.number]++
			}
		}
	}
	s := ask[viewapi.Session](f, "")
	assert.Equal(t, s.Threads+1, tracks)
	assert.Equal(t, s.Intervals, kinds[1])
	assert.Equal(t, kinds[1], kinds[2])
	assert.Contains(t, []int{s.Interactions, s.Interactions - 1}, kinds[3])
	assert.Len(t, flows, kinds[3])
	assert.Greater(t, len(ends)*10, len(flows)*9, "most arrows have a target")
	for id, n := range ends {
		assert.Equal(t, 1, n)
		assert.Equal(t, 1, flows[id])
	}
	assert.Positive(t, names["blocked OrderBook"])
}

type field struct {
	number uint64
	bytes  []byte
}

// fields decodes a protobuf message.
func fields(t *testing.T, data []byte) map[protowire.Number][]field {
	t.Helper()
	out := make(map[protowire.Number][]field)
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		require.Positive(t, n)
		data = data[n:]
		var f field
		switch kind {
		case protowire.VarintType:
			f.number, n = protowire.ConsumeVarint(data)
		case protowire.Fixed64Type:
			f.number, n = protowire.ConsumeFixed64(data)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(data)
		default:
			t.Fatalf("unexpected wire type %v", kind)
		}
		require.Positive(t, n)
		data = data[n:]
		out[number] = append(out[number], f)
	}
	return out
}
