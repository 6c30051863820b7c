// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package otlp_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/spanlines"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/wire"
)

// sample returns the spans of a session of several windows, and what the engine finds in its events.
func sample(t testing.TB, seed uint64, actions int) (id jvmthread.SessionID, want *analyzed, text []byte) {
	t.Helper()
	events, sym := recorded(seed, actions, 10_000_000)
	id = jvmthread.SessionID{byte(seed + 1)}
	want = newAnalyzed(t, id, sym)
	want.analyze(events)
	return id, want, spansOf(t, id, events, sym)
}

func TestTheSessionIsDescribed(t *testing.T) {
	id, _, text := sample(t, 3, 1500)
	sink := read(t, recording.Options{}, text)
	require.Len(t, sink.sessions, 1)
	assert.Equal(t, recording.Session{
		ID: id, PID: 77, Attributes: []wire.Attribute{{Key: "service.name", Value: "orders"}, {Key: "host.name", Value: "h"}},
		Thresholds: []string{"spans: each interval has a span", "jdk.ThreadPark: 20 ms"},
	}, sink.sessions[0])
	require.Len(t, sink.ends, 1)
	assert.Equal(t, "exit", sink.ends[0].Reason)
	events, sym := recorded(3, 1500, 10_000_000)
	assert.Equal(t, events[len(events)-1].Time, sink.ends[0].Time)
	for thread := range jvmthread.ThreadID(9) {
		have, want := sink.sym.Thread(thread), sym.Thread(thread)
		if want.Foreign = ""; have.ID != 0 {
			assert.Equal(t, want, have)
		}
	}
}

// The sum of what thread_span folds is in the session, so that a low number is not mistaken for few waits.
func TestFoldedIntervalsAreCounted(t *testing.T) {
	events, sym := recorded(6, 9000, 1_000_000)
	var out bytes.Buffer
	var folded, threads, waits window.Folded
	options := sessions.DefaultOptions()
	e := drive.New(options.Config().Engine, sym)
	finder := options.NewFinder(sym)
	id := jvmthread.SessionID{9}
	emitter := threadpdata.NewEmitter(id, sym, e.Waits())
	e.Add(ordering.Batch{Number: 1, Watermark: events[len(events)-1].Time, Events: events})
	write := func(w *window.Window) {
		defer w.Release()
		td := ptrace.NewTraces()
		rs := td.ResourceSpans().AppendEmpty()
		spanlines.Resource(&recording.Session{ID: id}, "native").CopyTo(rs.Resource())
		emitter.Append(w, threadpdata.Prepare(w, finder, 80), rs.ScopeSpans().AppendEmpty().Spans())
		for _, l := range w.Lanes {
			waits.Count, waits.Time = waits.Count+l.Contended.Count, waits.Time+l.Contended.Time
			if !l.Hidden {
				folded.Count, folded.Time = folded.Count+l.Folded.Count, folded.Time+l.Folded.Time
			}
		}
		threads.Count, threads.Time = threads.Count+w.FoldedThreads().Count, threads.Time+w.FoldedThreads().Time
		line, err := new(ptrace.JSONMarshaler).MarshalTraces(td)
		require.NoError(t, err)
		out.Write(append(line, '\n'))
	}
	e.Advance(write)
	e.Close(jvmthread.NoTime, window.CutEnd, write)
	require.Positive(t, folded.Count)
	require.Positive(t, waits.Count)

	want := []string{
		fmt.Sprintf("spans: intervals of threads without a span: %d (%v)", folded.Count, folded.Time),
		fmt.Sprintf("spans: contended waits, among all of these, without a span: %d (%v)", waits.Count, waits.Time),
	}
	if threads.Count > 0 {
		want = append(want, fmt.Sprintf("spans: threads, in all windows, without a span: %d (%v)", threads.Count, threads.Time))
	}
	sink := read(t, recording.Options{}, out.Bytes())
	require.Empty(t, sink.problems)
	assert.Equal(t, want, sink.sessions[0].Thresholds)

	// What was not known at the beginning is a problem at the end.
	sink = read(t, recording.Options{Reorder: 300}, out.Bytes())
	require.Len(t, sink.problems, 1, "%v", sink.problems)
	assert.Contains(t, sink.problems[0].Error(), strings.TrimPrefix(want[0], "spans: "))

	// Each wait that has a span is one of the original ones, unless the rest of it is folded.
	original := newAnalyzed(t, id, sym)
	again, _ := recorded(6, 9000, 1_000_000)
	original.analyze(again)
	known := 0
	for key, w := range sink.found[id].waits {
		if o, ok := original.waits[key]; ok && o.end == w.end && o.lock == w.lock {
			known++
		} else {
			assert.True(t, key.state == jvmthread.StateReentering || ok && w.end <= o.end, "%v until %d", key, w.end)
		}
	}
	assert.Greater(t, known, 100)
}

func TestSeveralSessionsInTurns(t *testing.T) {
	var lines [][]byte
	wants := map[jvmthread.SessionID]*analyzed{}
	for seed := range uint64(3) {
		id, want, text := sample(t, seed, 1200)
		wants[id] = want
		lines = append(lines, bytes.SplitAfter(bytes.TrimSpace(text), []byte{'\n'})...)
		lines[len(lines)-1] = append(lines[len(lines)-1], '\n')
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
	require.Greater(t, len(lines), 9)
	sink := read(t, recording.Options{}, bytes.Join(lines, nil))
	require.Empty(t, sink.problems)
	require.Len(t, sink.sessions, 3)
	require.Len(t, sink.ends, 3)
	for id, want := range wants {
		sameLines(t, want.lines(), sink.found[id].lines(), id.String())
		assert.Equal(t, want.blocked, sink.found[id].blocked)
	}
}

// If the sessions of a file do not fit, the first one ends early, and the others are complete.
func TestManySessionsWithLittleMemory(t *testing.T) {
	var turns [][][]byte
	wants := map[jvmthread.SessionID]*analyzed{}
	for seed := range uint64(4) {
		id, want, text := sample(t, seed+3, 4000)
		wants[id] = want
		turns = append(turns, bytes.SplitAfter(text, []byte{'\n'}))
	}
	var file []byte
	for i := range 40 {
		for _, lines := range turns {
			if i < len(lines) {
				file = append(file, lines[i]...)
			}
		}
	}
	sink := read(t, recording.Options{Reorder: 2000}, file)
	require.Len(t, sink.sessions, 4)
	late := 0
	for _, p := range sink.problems {
		if strings.Contains(p.What, "come after those") {
			late++
		}
	}
	assert.Positive(t, late)
	assert.Less(t, late, 4)
	complete := 0
	for id, want := range wants {
		got := sink.found[id]
		if len(minus(want.lines(), got.lines())) == 0 {
			complete++
		}
		assert.Empty(t, minus(both(got.closed(), got.lines()), want.lines()), "what is read is exact")
	}
	assert.Equal(t, 4-late, complete)
}

// Requests may be in any order, twice, several on a line, and each on several lines.
func TestFormsOfAFile(t *testing.T) {
	id, want, text := sample(t, 4, 3000)
	lines := strings.SplitAfter(string(text), "\n")
	lines = lines[:len(lines)-1]
	require.Greater(t, len(lines), 3)
	reversed := make([]string, len(lines))
	for i, line := range lines {
		reversed[len(lines)-1-i] = line
	}
	for name, form := range map[string]string{
		"reversed": strings.Join(reversed, ""), "twice": string(text) + string(text), "each twice": lines[0] + lines[0] + strings.Join(lines[1:], "") + lines[1],
		"one line":      strings.ReplaceAll(string(text), "\n", ""),
		"several lines": strings.NewReplacer(`{"resourceSpans":`, "{\r\n\t\"resourceSpans\":", `},{`, "},\n{").Replace(string(text)),
	} {
		sink := read(t, recording.Options{}, []byte(form))
		require.Empty(t, sink.problems, name)
		sameLines(t, want.lines(), sink.found[id].lines(), name)
	}
}

// With little memory, the file is passed on as it is read.
func TestStreaming(t *testing.T) {
	id, want, text := sample(t, 5, 6000)
	sink := read(t, recording.Options{Reorder: 900}, text)
	require.Empty(t, sink.problems)
	sameLines(t, want.lines(), sink.found[id].lines(), "waits")

	lines := bytes.SplitAfter(text, []byte{'\n'})
	late := bytes.Join(append(lines[1:], lines[0]), nil)
	sink = read(t, recording.Options{Reorder: 300}, late)
	require.Len(t, sink.problems, 1)
	assert.Regexp(t, `^spans.json:\d+ \(byte \d+\): \d+ spans of session 06000000000000000000000000000000 come after those of much later windows or of `+
		`many other sessions, and are missing; sort the lines of the file by time, or give each session a file of its own$`, sink.problems[0].Error())
}

// A file that grows is passed on up to its newest window.
func TestFlush(t *testing.T) {
	id, want, text := sample(t, 4, 3000)
	sym := symbols.New(symbols.DefaultLimits())
	sink := &analyzing{t: t, sym: sym, found: make(map[jvmthread.SessionID]*analyzed)}
	d := format.New(recording.Options{Symbols: sym}, sink)
	flushed := 0
	for line := range bytes.Lines(text) {
		_, err := d.Write(line)
		require.NoError(t, err)
		require.NoError(t, d.Flush())
		if events := d.Stats().Events; events > 0 {
			flushed++
		}
	}
	assert.Positive(t, flushed)
	require.NoError(t, d.Close())
	sink.found[id].close()
	require.Empty(t, sink.problems)
	sameLines(t, want.lines(), sink.found[id].lines(), "waits")
}

func TestBadInput(t *testing.T) {
	_, _, text := sample(t, 4, 3000)
	lines := strings.SplitAfter(string(text), "\n")
	whole := read(t, recording.Options{}, []byte(strings.Join(lines[:2], "")))
	const cut = "the request is truncated, and its spans are missing; the collector was killed, or is still writing; the other lines are read"
	deep := `{"resourceSpans":[{"resource":{"attributes":[{"key":"x","value":` + strings.Repeat(`{"arrayValue":{"values":[`, 1<<20) + "\n"
	for name, test := range map[string]struct{ text, want string }{
		"last line":        {lines[0] + lines[1] + lines[2][:len(lines[2])/2], "spans.json:3 (byte " + strconv.Itoa(len(lines[0])+len(lines[1])) + "): " + cut},
		"first line":       {lines[0][:700] + "\n" + lines[0] + lines[1], "spans.json:1 (byte 0): " + cut},
		"killed":           {lines[0] + lines[1][:800] + lines[1], "spans.json:2 (byte " + strconv.Itoa(len(lines[0])) + "): " + cut},
		"text":             {lines[0] + "oops\n" + lines[1], "spans.json:2 (byte " + strconv.Itoa(len(lines[0])) + "): not OTLP JSON; the other lines are read; want lines of "},
		"nested":           {lines[0] + deep + lines[1], "the request is nested more than 100 levels deep, and is skipped; write smaller batches, or raise max_record_size"},
		"too many objects": {lines[0] + `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Repeat("{},", 2<<20) + "{}]}]}]}\n" + lines[1], " objects, want at most 2097152; write smaller batches"},
		"too long":         {lines[0] + `{"resourceSpans":[{"x":"` + strings.Repeat("a", 64<<20) + "\"}]}\n" + lines[1], "the request is longer than 67108864 bytes, and is skipped"},
	} {
		t.Run(name, func(t *testing.T) {
			sink := read(t, recording.Options{}, []byte(test.text))
			require.Len(t, sink.problems, 1)
			assert.Contains(t, sink.problems[0].Error(), test.want)
			for id, a := range whole.found {
				sameLines(t, a.lines(), sink.found[id].lines(), name)
			}
		})
	}
}

// Spans of others are not those of Weft, and a span that says nonsense costs no other one.
func TestOtherSpans(t *testing.T) {
	const other = `{"resourceSpans":[{"resource":{},"scopeSpans":[{"spans":[{"name":"GET /","traceId":"0102030405060708090a0b0c0d0e0f10"}]}]}]}` + "\n"
	id, want, text := sample(t, 2, 1000)
	sink := &threadtest.Collector{}
	d := format.New(recording.Options{}, sink)
	_, err := d.Write([]byte(other + string(text)))
	require.NoError(t, err)
	require.NoError(t, d.Close())
	assert.EqualValues(t, 1, d.Stats().Unknown)
	assert.Equal(t, "spans.json (byte 0): none of 1 spans is of Weft; want those of the processor thread_span",
		read(t, recording.Options{}, []byte(other)).problems[0].Error())
	require.Empty(t, sink.Problems)
	for _, pair := range [][2]string{
		{`"startTimeUnixNano":"17`, `"startTimeUnixNano":"97`},
		{`"key":"weft.interval.time","value":{"intValue":"`, `"key":"weft.interval.time","value":{"intValue":"-`},
		{`"key":"thread.id","value":{"intValue":"`, `"key":"thread.id","value":{"intValue":"-`},
		{`"weft.state","value":{"stringValue":"`, `"weft.state","value":{"stringValue":"un`},
	} {
		at := bytes.Index(text, []byte(`"name":"thread"`)) // the critical path is before
		bad := string(text[:at]) + strings.Replace(string(text[at:]), pair[0], pair[1], 40)
		got := read(t, recording.Options{}, []byte(bad)).found[id]
		require.NotNil(t, got)
		assert.Less(t, len(minus(want.lines(), got.lines())), 80, pair[1])
		assert.NotEqual(t, want.lines(), got.lines(), pair[1])
	}
}

func TestMatch(t *testing.T) {
	for text, want := range map[string]bool{
		`{"resourceSpans":[`: true, "{\n  \"resourceSpans\": [": true, `{"resourceLogs":[]}`: false, "": false, "{": false, "{}": false, "x": false,
	} {
		assert.Equal(t, want, format.Match([]byte(text)), text)
	}
}

func TestCapabilities(t *testing.T) {
	c := format.Carries
	assert.Equal(t, []string{
		"no interrupted, mount, unmount, requestEnd, running", "no starter, stack of threadStart", "no stack of startCalled", "no stack of interruptCalled",
	}, c.Missing()[:4])
	for seed := range uint64(6) { // what is carried is carried
		events, sym := recorded(seed, 1500, 1000)
		sink, _, err := threadtest.Decode(&format, recording.Options{Symbols: symbols.New(symbols.DefaultLimits())}, spansOf(t, jvmthread.SessionID{1}, events, sym), 0)
		require.NoError(t, err)
		require.Empty(t, sink.Faults)
		for _, ev := range sink.Events {
			require.NotZero(t, c.Events[ev.Kind].Fields, ev.Kind.String())
			kept, _ := threadtest.Carry(&c, ev)
			require.Equal(t, kept, ev)
		}
	}
}

// FuzzDecode checks that a decoder fulfills its contract for any input, however the input is split.
func FuzzDecode(f *testing.F) {
	events, sym := recorded(1, 60, 1_000_000)
	text := spansOf(f, jvmthread.SessionID{1}, events, sym)
	f.Add(text, uint16(7), uint16(0))
	f.Add(append(text, text[:len(text)/2]...), uint16(1000), uint16(9))
	f.Add([]byte(`{"resourceSpans":[{"resource":{"attributes":[{"key":"weft.session.id","value":{"stringValue":"01000000000000000000000000000000"}}]},`+
		`"scopeSpans":[{"spans":[{"spanId":"0100000000000000","startTimeUnixNano":"5","attributes":[{"key":"weft.state","value":{"stringValue":"deadlocked"}},`+
		`{"key":"thread.id","value":{"intValue":"1"}},{"key":"weft.interval.time","value":{"intValue":"7"}}],"links":[{"spanId":"0100000000000000",`+
		`"attributes":[{"key":"weft.link.kind","value":{"stringValue":"notify"}},{"key":"weft.link.latency","value":{"intValue":"1"}}]}]}]}]}]}`), uint16(3), uint16(2))
	f.Fuzz(func(t *testing.T, text []byte, piece, reorder uint16) {
		opts := func() recording.Options {
			return recording.Options{File: "x", Reorder: int(reorder), Symbols: symbols.New(symbols.DefaultLimits())}
		}
		whole, stats, err := threadtest.Decode(&format, opts(), text, 0)
		threadtest.CheckDecoded(t, "whole", whole, stats, err)
		cut, stats, err := threadtest.Decode(&format, opts(), text, int(piece))
		threadtest.CheckDecoded(t, "in pieces", cut, stats, err)
		if len(whole.Events) != len(cut.Events) || len(whole.Problems) != len(cut.Problems) {
			t.Errorf("whole: %d events and %v; in pieces of %d bytes: %d and %v", len(whole.Events), whole.Problems, piece, len(cut.Events), cut.Problems)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	events, sym := recorded(1, 100_000, 10_000)
	text := spansOf(b, jvmthread.SessionID{1}, events, sym)
	spans := bytes.Count(text, []byte(`"spanId":`))
	b.SetBytes(int64(len(text)))
	sink := &threadtest.Discard{}
	rate := threadtest.StartRate()
	begun := time.Now()
	n := 0
	for b.Loop() {
		d := format.New(recording.Options{}, sink)
		if _, err := d.Write(text); err != nil {
			b.Fatal(err)
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
		n++
	}
	rate.Report(b, sink.Events)
	b.ReportMetric(float64(n*spans)/time.Since(begun).Seconds(), "spans/s")
}
