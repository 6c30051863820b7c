// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stackprofile

import (
	"encoding/binary"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// OTLPWriter writes profiles as OTLP. Each family is two profiles, because one has values of one type: the number of waits, and their time.
// Both have the period of the family, one wait, so that backends sum up their values and name them as those of Go: mutex delay, block
// contentions.
type OTLPWriter struct {
	// Labels are additional attributes of each sample. Pyroscope 2.2 does not resolve the references to strings that the Collector 0.158 puts
	// into resources; so it knows the service by its name on the samples only.
	Labels []Label

	dst        pprofile.ProfilesDictionary
	strings    map[string]int32
	functions  map[function]int32
	locations  map[location]int32
	attributes map[Label]int32
	links      map[jvmthread.SpanContext]int32
	stacks     map[string]int32
	key        []byte // scratch
	extra      []int32
}

// frameType is the attribute of locations for the kind of frames, and its value.
var frameType = Label{Key: "profile.frame.type", Value: "jvm"} //nolint:gochecknoglobals // read-only value

// Write appends profiles of one session to empty data. The caller fills the resource and the scope of sp, which is in dst.
func (w *OTLPWriter) Write(dst pprofile.Profiles, sp pprofile.ScopeProfiles, profiles []*Profile) {
	w.begin(dst.Dictionary())
	for _, p := range profiles {
		stacks := make([]int32, len(p.Stacks))
		for i, frames := range p.Stacks {
			stacks[i] = w.stack(frames)
		}
		attributes := make([][]int32, len(p.Samples))
		for i := range p.Samples {
			attributes[i] = w.sampleAttributes(&p.Samples[i])
		}
		w.values(sp, p, stacks, attributes, counted(p.Family), count, func(s *profile.Sum) int64 { return int64(s.Count) })
		w.values(sp, p, stacks, attributes, delay, nanoseconds, func(s *profile.Sum) int64 { return int64(s.Time) })
	}
}

// values appends the profile of one type of values. Samples without a value are left out.
func (w *OTLPWriter) values(
	sp pprofile.ScopeProfiles, p *Profile, stacks []int32, attributes [][]int32, kind, unit string, value func(*profile.Sum) int64,
) {
	out := sp.Profiles().AppendEmpty()
	out.SampleType().SetTypeStrindex(w.text(kind))
	out.SampleType().SetUnitStrindex(w.text(unit))
	out.PeriodType().SetTypeStrindex(w.text(p.Family.String()))
	out.PeriodType().SetUnitStrindex(w.text(count))
	out.SetPeriod(1)
	out.SetTime(pcommon.NewTimestampFromTime(p.Start))
	out.SetDurationNano(uint64(p.Duration))
	out.Samples().EnsureCapacity(len(p.Samples))
	for i := range p.Samples {
		s := &p.Samples[i]
		n := value(&s.Sum)
		if n == 0 {
			continue
		}
		sample := out.Samples().AppendEmpty()
		sample.SetStackIndex(stacks[s.Stack])
		sample.AttributeIndices().FromRaw(attributes[i])
		sample.Values().FromRaw([]int64{n})
		sample.SetLinkIndex(w.link(s.Span))
	}
}

// begin adds the zero element that each table needs.
func (w *OTLPWriter) begin(dst pprofile.ProfilesDictionary) {
	w.dst = dst
	w.strings, w.functions, w.locations = make(map[string]int32), make(map[function]int32), make(map[location]int32)
	w.attributes, w.links, w.stacks = make(map[Label]int32), make(map[jvmthread.SpanContext]int32), make(map[string]int32)
	dst.MappingTable().AppendEmpty()
	dst.LocationTable().AppendEmpty()
	dst.FunctionTable().AppendEmpty()
	dst.LinkTable().AppendEmpty()
	dst.AttributeTable().AppendEmpty()
	dst.StackTable().AppendEmpty()
	dst.StringTable().Append("")
	w.strings[""] = 0
	w.links[jvmthread.SpanContext{}] = 0
	w.extra = w.extra[:0]
	for _, l := range w.Labels {
		w.extra = append(w.extra, w.attribute(l))
	}
}

func (w *OTLPWriter) text(s string) int32 {
	at, ok := w.strings[s]
	if !ok {
		at = int32(w.dst.StringTable().Len())
		w.dst.StringTable().Append(s)
		w.strings[s] = at
	}
	return at
}

func (w *OTLPWriter) attribute(l Label) int32 {
	at, ok := w.attributes[l]
	if !ok {
		at = int32(w.dst.AttributeTable().Len())
		a := w.dst.AttributeTable().AppendEmpty()
		a.SetKeyStrindex(w.text(l.Key))
		a.Value().SetStr(l.Value)
		w.attributes[l] = at
	}
	return at
}

func (w *OTLPWriter) sampleAttributes(s *Sample) []int32 {
	out := make([]int32, 0, len(s.Labels)+len(w.extra))
	for _, l := range s.Labels {
		out = append(out, w.attribute(l))
	}
	return append(out, w.extra...)
}

func (w *OTLPWriter) link(span jvmthread.SpanContext) int32 {
	at, ok := w.links[span]
	if !ok {
		at = int32(w.dst.LinkTable().Len())
		l := w.dst.LinkTable().AppendEmpty()
		l.SetTraceID(span.TraceID)
		l.SetSpanID(span.SpanID)
		w.links[span] = at
	}
	return at
}

func (w *OTLPWriter) stack(frames []jvmthread.Frame) int32 {
	w.key = w.key[:0]
	for i := range frames {
		w.key = binary.LittleEndian.AppendUint32(w.key, uint32(w.location(&frames[i])))
	}
	at, ok := w.stacks[string(w.key)]
	if !ok {
		at = int32(w.dst.StackTable().Len())
		indices := w.dst.StackTable().AppendEmpty().LocationIndices()
		indices.EnsureCapacity(len(frames))
		for i := 0; i < len(w.key); i += 4 {
			indices.Append(int32(binary.LittleEndian.Uint32(w.key[i:])))
		}
		w.stacks[string(w.key)] = at
	}
	return at
}

func (w *OTLPWriter) location(f *jvmthread.Frame) int32 {
	key := location{function{name(f), f.File}, max(0, f.Line)}
	at, ok := w.locations[key]
	if !ok {
		at = int32(w.dst.LocationTable().Len())
		l := w.dst.LocationTable().AppendEmpty()
		l.AttributeIndices().Append(w.attribute(frameType))
		line := l.Lines().AppendEmpty()
		line.SetFunctionIndex(w.function(key.function))
		line.SetLine(int64(key.line))
		w.locations[key] = at
	}
	return at
}

func (w *OTLPWriter) function(key function) int32 {
	at, ok := w.functions[key]
	if !ok {
		at = int32(w.dst.FunctionTable().Len())
		f := w.dst.FunctionTable().AppendEmpty()
		f.SetNameStrindex(w.text(key.name))
		f.SetSystemNameStrindex(w.text(key.name))
		f.SetFilenameStrindex(w.text(key.file))
		w.functions[key] = at
	}
	return at
}
