// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadlogexporter

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/wire"
)

// summer collects the aggregates of a recording.
type summer struct {
	symbols *symbols.Table
	sums    []jvmthread.Aggregate
	ends    int
}

func (*summer) Session(*recording.Session) error  { return nil }
func (*summer) Problem(p recording.Problem) error { return p }

func (s *summer) End(recording.End) error {
	s.ends++
	return nil
}

func (s *summer) Batch(b *recording.Batch) error {
	if b.Aggregate != nil {
		a := *b.Aggregate
		a.Series = nil
		for _, e := range b.Aggregate.Series {
			e.Buckets = append([]uint64(nil), e.Buckets...)
			a.Series = append(a.Series, e)
		}
		s.sums = append(s.sums, a)
	}
	return nil
}

// summed returns the carrier of an aggregate.
func summed(number uint64, a *jvmthread.Aggregate, sym *symbols.Table, end string) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	threadpdata.FillResource(rs.Resource(), one, 42, []wire.Attribute{{Key: "service.name", Value: "sums"}})
	ss := rs.ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(ss.Scope())
	c := threadpdata.Carrier{Session: one, Batch: number, Watermark: a.To, Aggregate: a}
	c.AppendTo(ss.Spans(), sym)
	if end != "" {
		c.Batch, c.Aggregate, c.End = number+1, nil, end
		c.AppendTo(ss.Spans(), sym)
	}
	return td
}

// Aggregates are recorded once and in the order of their batches, in whatever order they arrive.
func TestAggregatesAreRecorded(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	class, stack := sym.InternClass("com.acme.OrderBook"), sym.InternStack("at com.acme.Desk.sell(Desk.java:7)")
	var all []jvmthread.Aggregate
	for i := range 3 {
		from := jvmthread.Time(1000 * i)
		all = append(all, jvmthread.Aggregate{From: from, To: from + 1000, Scale: 2, Series: []jvmthread.Series{
			{Kind: jvmthread.KindContendedEnter, Class: class, Stack: stack, Sum: 30, Max: 16, Zero: 1, Offset: 8, Buckets: []uint64{1, 2}},
			{Kind: jvmthread.KindPark, Overflow: true, Sum: int64(i), Max: int64(i), Offset: 6, Buckets: []uint64{1}},
		}})
	}
	send := func(r *recorder) {
		require.NoError(t, r.ConsumeTraces(t.Context(), summed(2, &all[1], sym, "")))
		require.NoError(t, r.ConsumeTraces(t.Context(), summed(1, &all[0], sym, "")))
		require.NoError(t, r.ConsumeTraces(t.Context(), summed(1, &all[0], sym, "")))
		require.NoError(t, r.ConsumeTraces(t.Context(), summed(3, &all[2], sym, threadpdata.EndExit)))
		r.stop(t)
	}
	r := start(t, func(c *Config) { c.Format = "native" })
	send(r)
	names := r.files(t)
	require.Len(t, names, 1)
	data, err := os.ReadFile(filepath.Join(r.dir, names[0]))
	require.NoError(t, err)
	got := &summer{symbols: sym} // equal texts have equal IDs
	d := native.NewDecoder(recording.Options{Symbols: sym}, got)
	_, err = d.Write(data)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	assert.Equal(t, all, got.sums)
	assert.Equal(t, 1, got.ends)

	r = start(t, func(c *Config) { c.Format = "triples" })
	send(r)
	r.metric(t, "events_left", 6, "kind", "aggregate")
}
