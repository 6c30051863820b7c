// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/cmd/weft/internal/local"
	"github.com/weft-otel/weft/cmd/weft/internal/local/localtest"
	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/cmd/weft/internal/summary"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/threadtest/golden"
	"github.com/weft-otel/weft/internal/threadtest/wiretext"
	"github.com/weft-otel/weft/internal/wire"
)

// runs is where the recorded runs are, whose answers have summaries, too.
const runs = "../../../../corpus/testdata/runs/"

// summed sums up recordings.
func summed(t *testing.T, o summary.Options, files ...string) *summary.Summary {
	t.Helper()
	view, err := localtest.Open(t, files...)
	require.NoError(t, err)
	s, err := summary.Ask(t.Context(), page.Of(view.Handler()), &o)
	require.NoError(t, err)
	return s
}

func text(t *testing.T, s *summary.Summary, top int) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, s.WriteText(&b, top))
	return b.String()
}

// TestSummaries shows what users see of recordings of several kinds.
func TestSummaries(t *testing.T) {
	all := summary.Options{Top: 10}
	for _, test := range []struct {
		name    string
		options summary.Options
		files   []string
	}{
		{"exchange", all, []string{"exchange-jdk17"}},
		{"top", summary.Options{Top: 1}, []string{"exchange-jdk17"}},
		{"range", summary.Options{Top: 3, From: "100ms", To: "-500ms"}, []string{"exchange-jdk17"}},
		{"deadlock", all, []string{"deadlock-jdk25"}},
		{"sleeps", all, []string{"sleeps-jdk17"}},
		{"flight", all, []string{"pingpong-jfr-jdk17"}},
		{"virtual", summary.Options{Top: 3}, []string{"virtualholds-jdk25"}},
		{"several", summary.Options{Top: 1}, []string{"sleeps-jdk17", "exchange-jdk17"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i, name := range test.files {
				found, err := filepath.Glob(runs + name + ".*gz")
				require.NoError(t, err)
				require.Len(t, found, 1, name)
				test.files[i] = found[0]
			}
			got := text(t, summed(t, test.options, test.files...), test.options.Top)
			for line := range strings.Lines(got) {
				assert.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), 100, line)
				assert.Equal(t, strings.TrimRight(line, " \n")+"\n", line)
			}
			golden.Compare(t, "testdata/"+test.name+".txt", got)
		})
	}
}

// The names of a JVM stay in their line, and in their column.
func TestHostileNamesStayInTheirRow(t *testing.T) {
	const hostile = "\x1b[2J\u009b2J\u202e\u200b\x7f\r\nFORGED"
	file := wiretext.File(t, `
preamble version=1
hello session=0a0b0c0d0e0f0102030405060708090a wall=1764000000000000000 monotonic=0 "service.name"="NAMEhung"
class id=1 name="NAMERates"
class id=2 name="com.acme.NAMEMain"
class id=3 name="java.lang.Thread"
method id=1 class=2 name="NAMErefresh" file="NAMEMain.java" lines=0:7
method id=3 class=3 name="sleep" file="Thread.java" lines=0:1
stack id=1 frames=3:0,1:0
stack id=2 frames=1:0
thread id=1 name="NAMErefresher" group="main"
thread id=2 name="NAMErequest" group="main"
batch sequence=1 watermark=4000000 before=0
 section thread=1
  event threadStart time=1000000
  event sleepStart time=2000000 stack=1 arg=3600000000000
 section thread=2
  event threadStart time=1000000
  event contendedEnter time=4000000 lock=1/1a stack=2 peer=1
end time=25001000000 reason=2
`)
	s := summed(t, summary.Options{Top: 10}, file)
	for i := range s.Sessions {
		one := &s.Sessions[i]
		one.Headline = strings.ReplaceAll(one.Headline, "NAME", hostile)
		one.Session.Service += hostile
		one.Session.Attributes["weft.recording.thresholds"] = hostile
		for j := range one.Answer.Costs {
			c := &one.Answer.Costs[j]
			c.Name, c.Class, c.Kind = c.Name+hostile, c.Class+hostile, c.Kind+hostile
		}
		for j := range one.Threads {
			one.Threads[j].Name += hostile
		}
		for j := range one.Waits {
			w := &one.Waits[j]
			w.Name, w.Thread.Name, w.Site.Function = w.Name+hostile, w.Thread.Name+hostile, w.Site.Function+hostile
			for k := range w.Holders {
				w.Holders[k].Thread.Name += hostile
			}
		}
		for j := range one.Kinds.Kinds {
			one.Kinds.Kinds[j].Site.Function += hostile
		}
	}
	got := text(t, s, 10)
	for line := range strings.SplitSeq(got, "\n") {
		assert.Equal(t, line, printable.Text(line))
		assert.NotRegexp(t, "^ *FORGED", line)
	}
	assert.Contains(t, got, "FORGED")
}

// A recording of an agent in aggregated mode has sums, and no threads.
func TestSummaryOfAggregates(t *testing.T) {
	const second = jvmthread.Time(time.Second)
	sym := symbols.New(symbols.DefaultLimits())
	book := sym.InternClass("com.acme.OrderBook")
	e := native.NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true})
	data := e.Begin(nil, &recording.Session{ID: jvmthread.SessionID{1}, Attributes: []wire.Attribute{{Key: "service.name", Value: "orders"}}})
	for from := range jvmthread.Time(2) {
		data = e.Batch(data, &recording.Batch{Watermark: (from + 1) * second, Aggregate: &jvmthread.Aggregate{
			From: from * second, To: (from + 1) * second, Series: []jvmthread.Series{
				{Kind: jvmthread.KindContendedEnter, Class: book, Sum: 30, Max: 16, Zero: 1, Offset: 3, Buckets: []uint64{1, 1}},
				{Kind: jvmthread.KindWait, Class: book, Sum: 500, Max: 400, Offset: 7, Buckets: []uint64{2}},
				{Kind: jvmthread.KindContendedEnter, Overflow: true, Sum: 5, Max: 5, Offset: 2, Buckets: []uint64{1}},
			},
		}})
	}
	data = e.End(data, &recording.End{Time: 2 * second, Reason: "exit"})
	var aggregates summary.Aggregates
	view, err := local.NewPage(&local.PageOptions{MaxBytes: 1 << 28, Window: time.Second, Logger: zap.NewNop(), Aggregate: aggregates.Add})
	require.NoError(t, err)
	defer view.Close(t.Context())
	require.NoError(t, view.Read(t.Context(), replay.Source{Name: "x", Reader: bytes.NewReader(data)}))
	s, err := summary.Ask(t.Context(), page.Of(view.Handler()), &summary.Options{Top: 10})
	require.NoError(t, err)
	s.AddAggregates(&aggregates)
	golden.Compare(t, "testdata/aggregates.txt", text(t, s, 10))
}
