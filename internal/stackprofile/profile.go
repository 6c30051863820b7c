// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package stackprofile answers: how is a profile of waits written for other tools? It resolves the samples of package profile into frames and
// labels, and writes them as OTLP profiles, as pprof and as collapsed stacks.
package stackprofile

import (
	"slices"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/wording"
)

// Profile is what the threads of a session waited for in some time, in one family.
type Profile struct {
	Family   profile.Family
	Start    time.Time
	Duration time.Duration
	Stacks   [][]jvmthread.Frame // innermost frame first; none is empty
	Samples  []Sample
}

// Sample is a number of waits with the same stack, labels and request.
type Sample struct {
	Stack  int // in Stacks
	Labels []Label
	Span   jvmthread.SpanContext // zero: none
	profile.Sum
}

// Label is an attribute of a sample. It has few values.
type Label = threadpdata.SampleLabel

// Resolver resolves the samples of a session. It keeps nothing between profiles.
type Resolver struct {
	Account *profile.Account
	Symbols *symbols.Table
}

// Resolve returns the profile of samples.
func (r *Resolver) Resolve(f profile.Family, samples []profile.Sample, start time.Time, length time.Duration) *Profile {
	p := &Profile{Family: f, Start: start, Duration: length, Samples: make([]Sample, 0, len(samples))}
	known := make(map[stackKey]int)
	for i := range samples {
		s := &samples[i]
		key := keyOf(f, s)
		at, ok := known[key]
		if !ok {
			at = len(p.Stacks)
			p.Stacks = append(p.Stacks, r.frames(key))
			known[key] = at
		}
		p.Samples = append(p.Samples, Sample{Stack: at, Labels: threadpdata.SampleLabels(r.Account, r.Symbols, f, s), Span: s.Span, Sum: s.Sum})
	}
	return p
}

// stackKey is what the frames of a sample depend on.
type stackKey struct {
	stack jvmthread.StackID
	taken bool
	why   string // there is no stack
}

// The frames of what is not known.
const (
	ran       = "[ran with the lock taken here]"
	rest      = "[stacks beyond the limit]"
	noStack   = "[stack not recorded]"
	noHolder  = "[holder not known]"
	wasDoing  = "[holder was " // and its state
	endOfName = "; stack not recorded]"
)

func keyOf(f profile.Family, s *profile.Sample) stackKey {
	switch {
	case s.Rest:
		return stackKey{why: rest}
	case s.Stack != jvmthread.NoStack:
		return stackKey{stack: s.Stack, taken: s.Taken}
	case f != profile.Mutex:
		return stackKey{why: noStack}
	case s.Doing == jvmthread.StateUnknown:
		return stackKey{why: noHolder}
	}
	return stackKey{why: wasDoing + s.Doing.String() + endOfName}
}

func (r *Resolver) frames(k stackKey) (frames []jvmthread.Frame) {
	if k.why != "" {
		return []jvmthread.Frame{{Method: k.why}}
	}
	if k.taken {
		frames = append(frames, jvmthread.Frame{Method: ran})
	}
	for line := range strings.SplitSeq(r.Symbols.Stack(k.stack), "\n") {
		if f, ok := symbols.ParseFrame(line); ok {
			frames = append(frames, f)
		} else if line == symbols.Truncated {
			frames = append(frames, jvmthread.Frame{Method: "[truncated]"})
		}
	}
	if len(frames) == 0 || k.taken && len(frames) == 1 {
		return []jvmthread.Frame{{Method: noStack}}
	}
	return slices.Clip(frames)
}

// name returns the function of a frame. Classes that are made at run time have numbers that differ from run to run; without them, profiles of
// two runs can be compared, and the stacks of equal code are one.
func name(f *jvmthread.Frame) string {
	if f.Class == "" {
		return f.Method
	}
	return wording.StableFunction(f.Function())
}

// Total returns the sum of all samples.
func (p *Profile) Total() (sum profile.Sum) {
	for i := range p.Samples {
		sum.Count += p.Samples[i].Count
		sum.Time += p.Samples[i].Time
	}
	return sum
}

// Append adds the samples of another profile.
func (p *Profile) Append(o *Profile) {
	first := len(p.Stacks)
	p.Stacks = append(p.Stacks, o.Stacks...)
	for _, s := range o.Samples {
		s.Stack += first
		p.Samples = append(p.Samples, s)
	}
}
