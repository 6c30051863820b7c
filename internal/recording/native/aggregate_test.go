// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadtest/wiretext"
	"github.com/weft-otel/weft/internal/wire"
)

const sums = `
preamble version=1
hello session=0a0b0c0d0e0f0102030405060708090a wall=1000000 monotonic=400
class id=1 name="com.acme.OrderBook"
class id=2 name="com.acme.Desk"
method id=1 class=2 name="sell" file="Desk.java" lines=0:7
stack id=1 frames=1:0
batch sequence=1 watermark=600 before=0
 section thread=1
  event sleepStart time=500 arg=5
  event sleepEnd time=700
aggregate sequence=2 watermark=800 before=2 from=500 to=800 scale=2
 series contendedEnter class=1 stack=1 sum=30 max=16 zero=1 offset=8 buckets=1,2
 series notify sum=1
 series park sum=3 max=3 offset=6 buckets=1 overflow
aggregate sequence=3 watermark=900 before=5 from=800 to=900 scale=2
`

const sumsAgain = `
preamble version=1
hello session=0a0b0c0d0e0f0102030405060708090a wall=1000000 monotonic=400
aggregate sequence=3 watermark=900 before=5 from=800 to=900 scale=2
end time=1000 reason=1
`

const wantSums = `session 0a0b0c0d0e0f0102030405060708090a pid=0 []
1000100 1 sleepStart 0 5 /0 "" 0
1000300 1 sleepEnd 0 0 /0 "" 0
aggregate from 1000100 to 1000400 scale 2
  contendedEnter com.acme.OrderBook "at com.acme.Desk.sell(Desk.java:7)" 30 16 1 8 [1 2] false
  park  "" 3 3 0 6 [1] true
aggregate from 1000400 to 1000500 scale 2
end 1000600 exit
`

func (s *printer) aggregate(a *jvmthread.Aggregate) {
	fmt.Fprintf(&s.text, "aggregate from %d to %d scale %d\n", a.From, a.To, a.Scale)
	for _, e := range a.Series {
		fmt.Fprintf(&s.text, "  %v %s %q %d %d %d %d %v %t\n", e.Kind, s.symbols.Class(e.Class), s.symbols.Stack(e.Stack), e.Sum, e.Max, e.Zero, e.Offset,
			e.Buckets, e.Overflow)
	}
}

// writer is a sink that writes its input with an Encoder.
type writer struct {
	*printer

	encoder *Encoder
	data    []byte
}

func (w *writer) Session(s *recording.Session) error {
	w.data = w.encoder.Begin(w.data, s)
	return nil
}

func (w *writer) Batch(b *recording.Batch) error {
	w.data = w.encoder.Batch(w.data, b)
	return nil
}

func (w *writer) End(e recording.End) error {
	w.data = w.encoder.End(w.data, &e)
	return nil
}

// Aggregates keep their place among the batches, and are counted once even if they were sent repeatedly.
func TestAggregatesAreReadAndWritten(t *testing.T) {
	data, err := wiretext.AppendStream(nil, sums+sumsAgain)
	require.NoError(t, err)
	s := read(t, bytes.NewReader(data))
	if diff := cmp.Diff(wantSums, s.text.String()); diff != "" {
		t.Errorf("want - got +:\n%s", diff)
	}
	assert.Empty(t, s.problems)
	assert.EqualValues(t, 3, s.lost, "according to the third batch")

	w := &writer{printer: newPrinter(t)}
	w.encoder = NewEncoder(recording.EncoderOptions{Symbols: w.symbols, Stacks: true})
	d := NewDecoder(recording.Options{Symbols: w.symbols}, w)
	_, err = d.ReadFrom(bytes.NewReader(data))
	require.NoError(t, err)
	require.NoError(t, d.Close())
	assert.EqualValues(t, 1, d.Stats().Unknown, "notify begins no wait")
	again := read(t, bytes.NewReader(w.data))
	if diff := cmp.Diff(wantSums, again.text.String()); diff != "" {
		t.Errorf("want - written and read +:\n%s", diff)
	}
	assert.EqualValues(t, 3, again.lost)
	assert.Empty(t, again.problems)
}

func TestTruncatedAggregates(t *testing.T) {
	t.Parallel()
	data, err := wiretext.AppendStream(nil, sums)
	require.NoError(t, err)
	for n := range data {
		s := read(t, bytes.NewReader(data[:n]))
		if text := s.text.String(); strings.Contains(text, "aggregate") && !strings.HasPrefix(wantSums, text) {
			t.Errorf("at byte %d: %s", n, text)
		}
	}
}

// Aggregates that do not fit into one frame are split.
func TestLargeAggregates(t *testing.T) {
	t.Parallel()
	a := jvmthread.Aggregate{From: 10, To: 20, Scale: 2}
	for i := range 3000 {
		a.Series = append(a.Series, jvmthread.Series{Kind: jvmthread.KindPark, Sum: int64(i), Max: int64(i), Buckets: make([]uint64, 160)})
	}
	e := NewEncoder(recording.EncoderOptions{Symbols: symbols.New(symbols.DefaultLimits())})
	data := e.Begin(nil, &recording.Session{ID: jvmthread.SessionID{1}})
	data = e.End(e.Batch(data, &recording.Batch{Aggregate: &a, Watermark: 20}), nil)
	s := read(t, bytes.NewReader(data))
	assert.Empty(t, s.problems)
	text := s.text.String()
	assert.Equal(t, 3000, strings.Count(text, "  park"))
	assert.Equal(t, len(data)/wire.MaxFrame+1, strings.Count(text, "aggregate from 10 to 20"))
}
