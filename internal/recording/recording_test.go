// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadtest"
)

// The expected times are computed with rational numbers.
func TestParseTimeRoundsExactly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	units := []time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond}
	for range 20_000 {
		unit := units[rng.IntN(len(units))]
		text := strings.TrimLeft(big.NewInt(rng.Int64N(9_000_000_000)).String(), "0")
		if n := rng.IntN(10); n > 0 {
			text += "." + strings.Repeat("0", rng.IntN(3)) + big.NewInt(rng.Int64N(int64(math.Pow10(n)))).String()
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			continue
		}
		exact.Mul(exact, new(big.Rat).SetInt64(int64(unit)))
		got, n := recording.ParseTime([]byte(text+",x"), unit)
		off := exact.Sub(exact, new(big.Rat).SetInt64(int64(got)))
		if n != len(text) || off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 {
			t.Errorf("%s of %v: got %d, which is off by %v, from %d bytes", text, unit, got, off, n)
		}
		if back, n := recording.ParseTime(recording.AppendTime(nil, got, unit), unit); back != got || n == 0 {
			t.Errorf("%d was written as %s and read as %d", got, recording.AppendTime(nil, got, unit), back)
		}
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]struct {
		at jvmthread.Time
		n  int
	}{
		"":                       {0, 0},
		".":                      {0, 0},
		"-":                      {0, 0},
		"x1":                     {0, 0},
		"1":                      {1_000_000_000, 1},
		"+1.5]":                  {1_500_000_000, 4},
		"-0.000000001":           {-1, 12},
		".5":                     {500_000_000, 2},
		"5.":                     {5_000_000_000, 2},
		"0.9999999995":           {1_000_000_000, 12},
		"0.99999999949999":       {999_999_999, 16},
		"9223372035.999999999":   {9_223_372_035_999_999_999, 20},
		"9223372036.9":           {0, 0},
		"99999999999999999999":   {0, 0},
		"1e3,":                   {1_000_000_000_000, 3},
		"1.5E-3":                 {1_500_000, 6},
		"1e300":                  {0, 0},
		"1e":                     {0, 0},
		"34232.84192374283,Obje": {34_232_841_923_743, 17},
	} {
		if at, n := recording.ParseTime([]byte(text), time.Second); at != want.at || n != want.n {
			t.Errorf("%q: got %d from %d bytes, want %d from %d", text, at, n, want.at, want.n)
		}
	}
	if text := string(recording.AppendTime(nil, math.MinInt64, time.Second)); text != "-9223372036.854775808" {
		t.Error(text)
	}
}

func TestParseHex(t *testing.T) {
	for text, want := range map[string]struct {
		v uint64
		n int
	}{
		"": {0, 0}, "g": {0, 0}, "0": {0, 1}, "FFFF38D6,": {0xFFFF38D6, 8}, "0xab": {0xab, 4}, "0x": {0, 1}, "0xg": {0, 0}, "FFFFFFFFFFFFFFFF": {math.MaxUint64, 16},
		"10000000000000000": {0, 0},
	} {
		if v, n := recording.ParseHex([]byte(text)); v != want.v || n != want.n {
			t.Errorf("%q: got %x from %d bytes, want %x from %d", text, v, n, want.v, want.n)
		}
	}
}

func ev(at jvmthread.Time, thread jvmthread.ThreadID) *jvmthread.Event {
	return &jvmthread.Event{Time: at, Thread: thread, Kind: jvmthread.KindYield}
}

// Events that are displaced by less than the size of the buffer are sorted, and none is lost.
func TestBatcherSorts(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		const n, reorder = 2000, 64
		type placed struct{ at, place int }
		list := make([]placed, n)
		for i := range list {
			list[i] = placed{i / 2, i + rng.IntN(1+rng.IntN(reorder))} // two events per time
		}
		slices.SortStableFunc(list, func(a, b placed) int { return a.place - b.place })
		c := &threadtest.Collector{}
		b := recording.NewBatcher(recording.Options{Reorder: reorder}, c, recording.Session{})
		for i, p := range list {
			if !b.Add(ev(jvmthread.Time(p.at), jvmthread.ThreadID(i+1))) {
				t.Fatalf("seed %d: event %d is late", seed, i)
			}
		}
		err := b.Flush()
		threadtest.CheckDecoded(t, "events", c, b.Stats(), err)
		if len(c.Events) != n {
			t.Fatalf("got %d of %d events", len(c.Events), n)
		}
		for i := 1; i < n; i++ { // events of the same time keep their order
			if a, b := c.Events[i-1], c.Events[i]; a.Time == b.Time && a.Thread > b.Thread {
				t.Fatalf("seed %d: %v precedes %v", seed, a, b)
			}
		}
	}
}

func TestBatcherDropsLateEvents(t *testing.T) {
	c := &threadtest.Collector{}
	b := recording.NewBatcher(recording.Options{Reorder: 10, File: "x"}, c, recording.Session{})
	for i := range 100 {
		b.Add(ev(jvmthread.Time(1000+i), 1))
	}
	b.Add(ev(math.MaxInt64, 2)) // a wrong time in the future does not make other events late
	for i := range 100 {
		if !b.Add(ev(jvmthread.Time(1100+i), 1)) {
			t.Fatalf("event %d is late", i)
		}
	}
	if b.Add(ev(5, 1)) {
		t.Error("event 5 is not late")
	}
	b.Problem(b.Late(recording.Problem{Line: 9}))
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	threadtest.CheckDecoded(t, "events", c, b.Stats(), nil)
	if len(c.Events) != 201 || c.Lost != 1 || c.Events[200].Time != math.MaxInt64 {
		t.Errorf("got %d events, %d lost", len(c.Events), c.Lost)
	}
}

// A failing sink stops the decoder and is not called again.
func TestBatcherStopsOnSinkError(t *testing.T) {
	failure := errors.New("full")
	c := &threadtest.Collector{Failure: failure}
	b := recording.NewBatcher(recording.Options{Reorder: 2}, c, recording.Session{})
	text := recording.NewLines(b, func([]byte) { b.Add(ev(1, 1)) }, nil)
	_, err := text.Write([]byte(strings.Repeat("a\n", 100)))
	if !errors.Is(err, failure) || !errors.Is(text.Close(), failure) || len(c.Sessions) != 1 || len(c.Events) != 0 {
		t.Errorf("got error %v and %d sessions", err, len(c.Sessions))
	}
	if _, err := text.Write([]byte("b\n")); err == nil {
		t.Error("want an error after close")
	}
}

func TestProblemsAreReportedUpToALimit(t *testing.T) {
	c := &threadtest.Collector{}
	b := recording.NewBatcher(recording.Options{MaxProblems: 3}, c, recording.Session{})
	for range 10 {
		b.Problem(recording.Problem{What: "x", Lost: 2})
	}
	if err := b.Flush(); err != nil || len(c.Problems) != 3 || c.Lost != 20 || b.Stats().Problems != 10 {
		t.Errorf("got error %v, %d reported, %d lost, %+v", err, len(c.Problems), c.Lost, b.Stats())
	}
}

// Flush delivers all events of a followed recording; later events continue from there.
func TestFlushBeforeTheEnd(t *testing.T) {
	c := &threadtest.Collector{}
	sym := symbols.New(symbols.DefaultLimits())
	b := recording.NewBatcher(recording.Options{Symbols: sym}, c, recording.Session{SingleEnded: true})
	at := jvmthread.Time(0)
	text := recording.NewLines(b, func(line []byte) {
		at++
		b.Thread(jvmthread.Thread{ID: 1, Name: string(line)})
		b.Add(ev(at, 1))
	}, nil)
	for _, part := range []string{"a\nb", "c\r\n", "d"} {
		if _, err := text.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
		if err := text.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.Events) != 2 || sym.Thread(1).Name != "bc" {
		t.Errorf("got %d events, thread %q", len(c.Events), sym.Thread(1).Name)
	}
	if err := text.Close(); err != nil || len(c.Events) != 3 || c.Threads[1].Name != "d" || text.Stats().Bytes != 7 || !c.Sessions[0].SingleEnded {
		t.Errorf("got error %v, %d events, thread %q, %+v", err, len(c.Events), c.Threads[1].Name, text.Stats())
	}
}
