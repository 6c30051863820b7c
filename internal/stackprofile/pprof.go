// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stackprofile

import (
	"encoding/hex"
	"io"

	pprof "github.com/google/pprof/profile"

	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// The types and units of values, as in the profiles of Go.
const (
	contentions = "contentions"
	waits       = "waits" // instead, of profiles with all waits
	count       = "count"
	delay       = "delay"
	nanoseconds = "nanoseconds"
)

// counted returns what a family counts.
func counted(f profile.Family) string {
	if f == profile.OffCPU {
		return waits
	}
	return contentions
}

// WritePprof writes a profile in the format of pprof, compressed with gzip.
func WritePprof(w io.Writer, p *Profile) error { return p.pprof().Write(w) }

func (p *Profile) pprof() *pprof.Profile {
	out := &pprof.Profile{
		SampleType:        []*pprof.ValueType{{Type: counted(p.Family), Unit: count}, {Type: delay, Unit: nanoseconds}},
		DefaultSampleType: delay,
		PeriodType:        &pprof.ValueType{Type: p.Family.String(), Unit: count},
		Period:            1,
		TimeNanos:         p.Start.UnixNano(),
		DurationNanos:     int64(p.Duration),
	}
	b := pprofBuilder{Profile: out, functions: make(map[function]*pprof.Function), locations: make(map[location]*pprof.Location)}
	stacks := make([][]*pprof.Location, len(p.Stacks))
	for i, frames := range p.Stacks {
		for k := range frames {
			stacks[i] = append(stacks[i], b.location(&frames[k]))
		}
	}
	for i := range p.Samples {
		s := &p.Samples[i]
		sample := &pprof.Sample{Location: stacks[s.Stack], Value: []int64{int64(s.Count), int64(s.Time)}, Label: make(map[string][]string, len(s.Labels)+1)}
		for _, l := range s.Labels {
			sample.Label[l.Key] = []string{l.Value}
		}
		if !s.Span.IsZero() {
			sample.Label["trace_id"] = []string{hex.EncodeToString(s.Span.TraceID[:])}
			sample.Label["span_id"] = []string{hex.EncodeToString(s.Span.SpanID[:])}
		}
		out.Sample = append(out.Sample, sample)
	}
	return out
}

type function struct{ name, file string }

type location struct {
	function
	line int
}

// pprofBuilder numbers functions and locations.
type pprofBuilder struct {
	*pprof.Profile

	functions map[function]*pprof.Function
	locations map[location]*pprof.Location
}

func (b *pprofBuilder) location(f *jvmthread.Frame) *pprof.Location {
	key := location{function{name(f), f.File}, max(0, f.Line)}
	l := b.locations[key]
	if l == nil {
		l = &pprof.Location{ID: uint64(len(b.Location) + 1), Line: []pprof.Line{{Function: b.function(key.function), Line: int64(key.line)}}}
		b.Location = append(b.Location, l)
		b.locations[key] = l
	}
	return l
}

func (b *pprofBuilder) function(key function) *pprof.Function {
	f := b.functions[key]
	if f == nil {
		f = &pprof.Function{ID: uint64(len(b.Function) + 1), Name: key.name, SystemName: key.name, Filename: key.file}
		b.Function = append(b.Function, f)
		b.functions[key] = f
	}
	return f
}
