// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"slices"
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
)

// CheckDecoded fails the test if a decoder returned an error or broke a promise, whatever it was given, or if its counts do not fit what
// the sink got.
func CheckDecoded(t testing.TB, what string, c *Collector, stats recording.Stats, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: a recording must not be able to stop its decoder: %v", what, err)
	}
	for _, fault := range c.Faults {
		t.Errorf("%s: %v", what, fault)
	}
	if stats.Events != uint64(len(c.Events)) || stats.Lost != c.Lost || stats.Problems < uint64(len(c.Problems)) {
		t.Errorf("%s: counts %+v, but the sink got %d events, %d lost, %d problems", what, stats, len(c.Events), c.Lost, len(c.Problems))
	}
}

// Batter breaks a good recording in many ways. However it is cut into writes, what is read is the same; a cut loses only the data after it;
// one wrong bit costs at most near events. It returns how many wrong bits were reported as a problem.
func Batter(t testing.TB, f *recording.Format, options func() recording.Options, data []byte, near int) (told int) {
	t.Helper()
	decode := func(data []byte, piece int) (*Collector, recording.Stats, *symbols.Table) {
		opts := options()
		if opts.Symbols == nil {
			opts.Symbols = symbols.New(symbols.DefaultLimits())
		}
		c, stats, err := Decode(f, opts, data, piece)
		CheckDecoded(t, f.Name, c, stats, err)
		return c, stats, opts.Symbols
	}
	whole, _, sym := decode(data, 0)
	if len(whole.Problems) > 0 {
		t.Fatalf("%s: the recording is not good: %v", f.Name, whole.Problems[0])
	}
	want := tellAll(whole, sym)
	for _, piece := range []int{1, 2, 3, 7, 64, 1000} {
		c, _, sym := decode(data, piece)
		if got := tellAll(c, sym); !slices.Equal(want, got) {
			t.Errorf("%s: written in pieces of %d bytes it reads otherwise: %d events, want %d", f.Name, piece, len(got), len(want))
		}
	}
	before := 0
	for n := range len(data) {
		c, _, _ := decode(data[:n], 0)
		if len(c.Events) < before-near || len(c.Events) > len(want) {
			t.Errorf("%s: cut at byte %d it has %d events, at the byte before %d", f.Name, n, len(c.Events), before)
		}
		before = max(before, len(c.Events))
	}
	flipped := slices.Clone(data)
	for at := range data {
		for bit := range 8 {
			flipped[at] ^= 1 << bit
			c, stats, _ := decode(flipped, 0)
			if len(c.Events) < len(want)-near {
				t.Errorf("%s: bit %d of byte %d is wrong: %d events, want %d at least", f.Name, bit, at, len(c.Events), len(want)-near)
			}
			if stats.Problems > 0 {
				told++
			}
			flipped[at] ^= 1 << bit
		}
	}
	return told
}

func tellAll(c *Collector, sym *symbols.Table) []string {
	lines := make([]string, len(c.Events))
	for i := range c.Events {
		lines[i] = Tell(c.Events[i], sym)
	}
	return lines
}
