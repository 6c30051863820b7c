// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"slices"
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
)

// CheckDecoded fails the test if a decoder returned an error or violated its contract, or if its counts do not match the sink's. No input
// may make a decoder do so.
func CheckDecoded(t testing.TB, what string, c *Collector, stats recording.Stats, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: decoder failed: %v", what, err)
	}
	for _, fault := range c.Faults {
		t.Errorf("%s: %v", what, fault)
	}
	if stats.Events != uint64(len(c.Events)) || stats.Lost != c.Lost || stats.Problems < uint64(len(c.Problems)) {
		t.Errorf("%s: counts %+v, but the sink got %d events, %d lost, %d problems", what, stats, len(c.Events), c.Lost, len(c.Problems))
	}
}

// Corrupt corrupts a valid recording in many ways. It checks that the size of writes does not matter, that a truncation loses only the data
// after it, and that one flipped bit costs at most near events. It returns the number of flipped bits that were reported as problems.
func Corrupt(t testing.TB, f *recording.Format, options func() recording.Options, data []byte, near int) (reported int) {
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
		t.Fatalf("%s: the original recording has a problem: %v", f.Name, whole.Problems[0])
	}
	want := eventTexts(whole, sym)
	for _, piece := range []int{1, 2, 3, 7, 64, 1000} {
		c, _, sym := decode(data, piece)
		if got := eventTexts(c, sym); !slices.Equal(want, got) {
			t.Errorf("%s: written in pieces of %d bytes: got other events (%d, want %d)", f.Name, piece, len(got), len(want))
		}
	}
	before := 0
	for n := range len(data) {
		c, _, _ := decode(data[:n], 0)
		if len(c.Events) < before-near || len(c.Events) > len(want) {
			t.Errorf("%s: truncated at byte %d: got %d events, but %d at an earlier byte", f.Name, n, len(c.Events), before)
		}
		before = max(before, len(c.Events))
	}
	flipped := slices.Clone(data)
	for at := range data {
		for bit := range 8 {
			flipped[at] ^= 1 << bit
			c, stats, _ := decode(flipped, 0)
			if len(c.Events) < len(want)-near {
				t.Errorf("%s: bit %d of byte %d flipped: got %d events, want at least %d", f.Name, bit, at, len(c.Events), len(want)-near)
			}
			if stats.Problems > 0 {
				reported++
			}
			flipped[at] ^= 1 << bit
		}
	}
	return reported
}

func eventTexts(c *Collector, sym *symbols.Table) []string {
	lines := make([]string, len(c.Events))
	for i := range c.Events {
		lines[i] = EventText(c.Events[i], sym)
	}
	return lines
}
