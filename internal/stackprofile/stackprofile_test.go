// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stackprofile_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/stackprofile"
	"github.com/weft-otel/weft/internal/threadtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var begin = time.Unix(1_700_000_000, 5)

const length = 15 * time.Second

// example returns the profiles of a program with locks and a pool, in the order of the families.
func example(t testing.TB) (list []*stackprofile.Profile) {
	t.Helper()
	sym := symbols.New(symbols.DefaultLimits())
	events := threadtest.ReportAndMatchers(sym)
	for i := range events { // all waits of matcher-1 belong to a request
		if events[i].Thread == 3 && events[i].Kind == jvmthread.KindPark {
			events = slices.Insert(events, i, jvmthread.Event{Kind: jvmthread.KindContext, Thread: 3, Time: events[i].Time - 1, Span: request})
			break
		}
	}
	e := drive.New(engine.DefaultConfig(), sym)
	a := profile.New(&profile.Config{
		Waiters: true, Uncontended: true, Holders: true, Links: 1, MaxSamples: 100, Budget: &contention.Budget{Limit: 1000},
	}, sym, e.Waits())
	windows := func(w *window.Window) { a.Window(w, e.Timeline()) }
	e.Add(ordering.Batch{Number: 1, Watermark: events[len(events)-1].Time, Events: events})
	e.Advance(windows)
	e.Close(jvmthread.NoTime, window.CutEnd, windows)
	a.Close(e.Timeline(), e.Now())
	resolver := stackprofile.Resolver{Account: a, Symbols: sym}
	a.Flush(func(f profile.Family, samples []profile.Sample) {
		list = append(list, resolver.Resolve(f, samples, begin, length))
	})
	require.Len(t, list, profile.NumFamilies)
	return list
}

var request = jvmthread.SpanContext{TraceID: [16]byte{1, 2, 3}, SpanID: [8]byte{4, 5}}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o700))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, name)
}

func TestCollapsed(t *testing.T) {
	var all strings.Builder
	for _, p := range example(t) {
		fmt.Fprintf(&all, "# %s\n", p.Family)
		require.NoError(t, stackprofile.WriteCollapsed(&all, p))
	}
	golden(t, "collapsed.txt", all.String())
}

// The text of a pprof file is what pprof's own package prints of it after reading it back.
func TestPprof(t *testing.T) {
	var all strings.Builder
	for _, p := range example(t) {
		var file bytes.Buffer
		require.NoError(t, stackprofile.WritePprof(&file, p))
		read, err := pprof.Parse(&file)
		require.NoError(t, err)
		require.NoError(t, read.CheckValid())
		var sum profile.Sum
		for _, s := range read.Sample {
			sum.Count += uint64(s.Value[0])
			sum.Time += time.Duration(s.Value[1])
		}
		assert.Equal(t, p.Total(), sum, p.Family)
		fmt.Fprintf(&all, "# %s\n%s", p.Family, read)
	}
	golden(t, "pprof.txt", all.String())
}

func TestHostileNamesStayInTheirFrame(t *testing.T) {
	p := &stackprofile.Profile{
		Stacks:  [][]jvmthread.Frame{{{Class: "a;b", Method: "c\nd 7"}, {Method: "main"}}},
		Samples: []stackprofile.Sample{{Sum: profile.Sum{Count: 1, Time: 3}}},
	}
	var out strings.Builder
	require.NoError(t, stackprofile.WriteCollapsed(&out, p))
	assert.Equal(t, "main;a,b.c d 7 3\n", out.String())
}

// resolved is the text of OTLP profiles whose references have been followed.
func resolved(t *testing.T, pd pprofile.Profiles) string {
	t.Helper()
	var b strings.Builder
	d := pd.Dictionary()
	text := func(i int32) string { return d.StringTable().At(int(i)) }
	attributes := func(list []int32) (all []string) {
		for _, i := range list {
			a := d.AttributeTable().At(int(i))
			all = append(all, text(a.KeyStrindex())+"="+a.Value().AsString())
		}
		return all
	}
	for _, p := range pd.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().All() {
		fmt.Fprintf(&b, "%s/%s period %d %s/%s from %d for %d\n", text(p.SampleType().TypeStrindex()), text(p.SampleType().UnitStrindex()), p.Period(),
			text(p.PeriodType().TypeStrindex()), text(p.PeriodType().UnitStrindex()), p.Time(), p.DurationNano())
		for _, s := range p.Samples().All() {
			require.Equal(t, 1, s.Values().Len(), "Pyroscope rejects other numbers of values where there is a period")
			require.Zero(t, s.TimestampsUnixNano().Len())
			link := ""
			if i := s.LinkIndex(); i > 0 {
				l := d.LinkTable().At(int(i))
				link = fmt.Sprintf(" span %s of %s", l.SpanID(), l.TraceID())
			}
			fmt.Fprintf(&b, "%d %v%s\n", s.Values().At(0), attributes(s.AttributeIndices().AsRaw()), link)
			for _, i := range d.StackTable().At(int(s.StackIndex())).LocationIndices().AsRaw() {
				l := d.LocationTable().At(int(i))
				require.Equal(t, []string{"profile.frame.type=jvm"}, attributes(l.AttributeIndices().AsRaw()))
				require.Equal(t, 1, l.Lines().Len())
				f := d.FunctionTable().At(int(l.Lines().At(0).FunctionIndex()))
				fmt.Fprintf(&b, "    %s %s:%d\n", text(f.NameStrindex()), text(f.FilenameStrindex()), l.Lines().At(0).Line())
			}
		}
	}
	return b.String()
}

func write(list []*stackprofile.Profile, labels ...stackprofile.Label) pprofile.Profiles {
	pd := pprofile.NewProfiles()
	w := stackprofile.OTLPWriter{Labels: labels}
	w.Write(pd, pd.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty(), list)
	return pd
}

// The profiles are read back from their bytes, as a backend receives them.
func TestOTLP(t *testing.T) {
	pd := write(example(t), stackprofile.Label{Key: "service.name", Value: "orders"})
	data, err := new(pprofile.ProtoMarshaler).MarshalProfiles(pd)
	require.NoError(t, err)
	read, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(data)
	require.NoError(t, err)
	golden(t, "otlp.txt", resolved(t, read))
}

// Each table of the dictionary begins with a zero element, and has no element twice.
func TestDictionary(t *testing.T) {
	d := write(example(t)).Dictionary()
	assert.Equal(t, pprofile.NewMapping(), d.MappingTable().At(0))
	assert.Equal(t, pprofile.NewLocation(), d.LocationTable().At(0))
	assert.Equal(t, pprofile.NewFunction(), d.FunctionTable().At(0))
	assert.Equal(t, pprofile.NewLink(), d.LinkTable().At(0))
	assert.Equal(t, pprofile.NewKeyValueAndUnit(), d.AttributeTable().At(0))
	assert.Equal(t, pprofile.NewStack(), d.StackTable().At(0))
	texts := d.StringTable().AsRaw()
	assert.Empty(t, texts[0])
	slices.Sort(texts)
	assert.Equal(t, slices.Compact(slices.Clone(texts)), texts)
	seen := map[string]bool{}
	for _, s := range d.StackTable().All() {
		key := fmt.Sprint(s.LocationIndices().AsRaw())
		assert.False(t, seen[key], key)
		seen[key] = true
	}
}
