// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
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

// printer is a sink that prints the output of a decoder and checks the contract of recording.Sink.
type printer struct {
	t         testing.TB
	symbols   *symbols.Table
	text      strings.Builder
	problems  []string
	watermark jvmthread.Time
	last      jvmthread.Time
	events    int
	lost      uint64
}

func newPrinter(t testing.TB) *printer {
	t.Helper()
	return &printer{t: t, symbols: symbols.New(symbols.DefaultLimits())}
}

func (s *printer) Session(session *recording.Session) error {
	fmt.Fprintf(&s.text, "session %s pid=%d %v\n", session.ID, session.PID, session.Attributes)
	s.watermark, s.last = -1<<63, -1<<63
	return nil
}

func (s *printer) Batch(b *recording.Batch) error {
	for _, th := range b.Threads {
		fmt.Fprintf(&s.text, "thread %+v\n", th)
	}
	for i := range b.Events {
		ev := &b.Events[i]
		if ev.Time < s.last || ev.Time < s.watermark {
			s.t.Errorf("event at %d follows an event at %d and watermark %d", ev.Time, s.last, s.watermark)
		}
		s.last = ev.Time
		s.print(ev)
	}
	if b.Aggregate != nil {
		s.aggregate(b.Aggregate)
	}
	if b.Watermark < s.watermark {
		s.t.Errorf("watermark decreases from %d to %d", s.watermark, b.Watermark)
	}
	s.watermark = b.Watermark
	s.lost += b.Lost
	return nil
}

func (s *printer) print(ev *jvmthread.Event) {
	s.events++
	fmt.Fprintf(&s.text, "%d %d %v %d %d %s/%x %q %d\n", ev.Time, ev.Thread, ev.Kind, ev.Peer, ev.Arg, s.symbols.Class(ev.Lock.Class), ev.Lock.Hash,
		s.symbols.Stack(ev.Stack), ev.Flags)
}

func (s *printer) Problem(p recording.Problem) error {
	s.problems = append(s.problems, p.Error())
	return nil
}

func (s *printer) End(e recording.End) error {
	fmt.Fprintf(&s.text, "end %d %s\n", e.Time, e.Reason)
	return nil
}

func read(t testing.TB, r io.Reader) *printer {
	t.Helper()
	s := newPrinter(t)
	d := NewDecoder(recording.Options{File: "x.weft", Symbols: s.symbols}, s)
	_, err := d.ReadFrom(r)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	return s
}

const stream = `
preamble version=1
hello session=0a0b0c0d0e0f0102030405060708090a wall=1000000 monotonic=400 pid=42 "service.name"="orders"
thread id=1 name="main" group="main"
thread id=2 flags=1 name="worker"
class id=7 name="com.acme.OrderBook"
method id=3 class=7 name="add" file="OrderBook.java" lines=0:41,9:42
stack id=2 frames=3:9,3:-1
batch sequence=1 watermark=900 before=0
 section thread=1
  event threadStart time=500
  event notify time=700 lock=7/1a
  event sleepStart time=950 arg=5
 section thread=2
  event threadStart time=600
  event contendedEnter time=650 peer=1 lock=7/1a2b3c4d stack=2
batch sequence=2 watermark=1500 before=5
 section thread=2
  event contendedEntered time=940 lock=7/1a2b3c4d
batch sequence=3 watermark=1600 before=8
end time=1700 reason=2
`

const wantStream = `session 0a0b0c0d0e0f0102030405060708090a pid=42 [{service.name orders}]
thread {ID:1 Name:main Group:main Daemon:false Virtual:false}
thread {ID:2 Name:worker Group: Daemon:true Virtual:false}
1000100 1 threadStart 0 0 /0 "" 0
1000200 2 threadStart 0 0 /0 "" 0
1000250 2 contendedEnter 1 0 com.acme.OrderBook/1a2b3c4d "at com.acme.OrderBook.add(OrderBook.java:42)\nat com.acme.OrderBook.add(Native Method)" 0
1000300 1 notify 0 0 com.acme.OrderBook/1a "" 0
1000540 2 contendedEntered 0 0 com.acme.OrderBook/1a2b3c4d "" 0
1000550 1 sleepStart 0 5 /0 "" 0
end 1001300 detached
`

func sample(t testing.TB) []byte {
	t.Helper()
	data, err := wiretext.AppendStream(nil, stream)
	require.NoError(t, err)
	return data
}

func TestStreamInAFile(t *testing.T) {
	s := read(t, bytes.NewReader(sample(t)))
	got := strings.ReplaceAll(s.text.String(), " Carrier:false Foreign:", "")
	if diff := cmp.Diff(wantStream, got); diff != "" {
		t.Errorf("want - got +:\n%s", diff)
	}
	assert.Empty(t, s.problems)
	assert.EqualValues(t, 2, s.lost, "according to batch 3")
}

// Data of another version is not interpreted; data of this version after it is read.
func TestOtherVersionIsNotRead(t *testing.T) {
	data := sample(t)
	other := slices.Clone(data)
	other[len(wire.Magic)]++
	s := read(t, bytes.NewReader(slices.Concat(other, data)))
	assert.Equal(t, wantStream, strings.ReplaceAll(s.text.String(), " Carrier:false Foreign:", ""))
	assert.Equal(t, []string{"x.weft (byte 0): unknown protocol version 2; read the recording with the version of Weft that wrote it"}, s.problems)
}

func TestTruncatedAtEveryByte(t *testing.T) {
	t.Parallel()
	data := sample(t)
	whole := read(t, bytes.NewReader(data)).text.String()
	for n := range data {
		s := read(t, bytes.NewReader(data[:n]))
		if !strings.HasPrefix(whole, s.text.String()) && s.events < 5 {
			t.Errorf("at byte %d: %s", n, s.text.String())
		}
		byBytes := newPrinter(t)
		d := NewDecoder(recording.Options{Symbols: byBytes.symbols}, byBytes)
		for i := range n {
			_, err := d.Write(data[i : i+1])
			require.NoError(t, err)
		}
		require.NoError(t, d.Close())
		assert.Equal(t, s.text.String(), byBytes.text.String())
	}
}

func TestReadingResumesAfterGarbage(t *testing.T) {
	data := sample(t)
	at := bytes.Index(data, []byte("com.acme.OrderBook")) - 2 - 4 // the payload of the class
	broken := slices.Concat(data[:at-headerSize], []byte("some garbage, longer than a frame's head"), data[at-headerSize:])
	s := read(t, bytes.NewReader(broken))
	assert.Equal(t, read(t, bytes.NewReader(data)).text.String(), s.text.String())
	require.Len(t, s.problems, 1)
	assert.Contains(t, s.problems[0], fmt.Sprintf("x.weft (byte %d): expected a frame; skipping 40 bytes", at-headerSize))
}

func TestEveryBitFlipped(t *testing.T) {
	t.Parallel()
	data := sample(t)
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			read(t, bytes.NewReader(data))
			data[i] ^= 1 << bit
		}
	}
}

// random returns a session of random batches.
func random(r *rand.Rand, sym *symbols.Table, batches int) (list []recording.Batch) {
	at := jvmthread.Time(1_700_000_000_000_000_000)
	for range batches {
		var b recording.Batch
		for range r.IntN(200) {
			at += jvmthread.Time(r.IntN(1000))
			ev := jvmthread.Event{
				Time: at, Thread: jvmthread.ThreadID(1 + r.IntN(9)), Kind: jvmthread.Kind(1 + r.IntN(jvmthread.NumKinds-1)),
				Peer: jvmthread.ThreadID(r.IntN(3)), Arg: r.Int64N(5), Flags: jvmthread.Flags(r.IntN(8)),
			}
			if !ev.Kind.Valid() || ev.Kind == jvmthread.KindGap {
				ev.Kind = jvmthread.KindYield
			}
			switch ev.Kind {
			case jvmthread.KindContext, jvmthread.KindOwnerContext:
				b.Events = append(b.Events, jvmthread.Event{
					Time: at, Thread: ev.Thread, Kind: ev.Kind, Span: jvmthread.SpanContext{TraceID: [16]byte{0: byte(r.Uint()), 15: 1}, SpanID: [8]byte{0: 2, 7: 255}},
				})
				continue
			case jvmthread.KindRequestEnd:
				ev.Peer, ev.Span.SpanID = jvmthread.NoThread, [8]byte{0: byte(r.Uint()), 7: 255}
			}
			if r.IntN(2) == 0 {
				ev.Lock = jvmthread.LockID{Class: sym.InternClass(fmt.Sprintf("C%d", r.IntN(9))), Hash: r.Uint32()}
				ev.Stack = sym.InternStack(fmt.Sprintf("at a.B.c(B.java:%d)\nat a.B.d(Native Method)\nat e(Unknown Source)\n...", r.IntN(9)))
			}
			b.Events = append(b.Events, ev)
		}
		at++
		b.Watermark = at
		list = append(list, b)
	}
	return list
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		want := newPrinter(t)
		batches := random(r, want.symbols, 30)
		data := write(want.symbols, batches)
		session := recording.Session{ID: jvmthread.SessionID{1, 2}, PID: 7, Attributes: []wire.Attribute{{Key: "service.name", Value: "x"}}}
		require.NoError(t, want.Session(&session))
		for i := range batches {
			require.NoError(t, want.Batch(&batches[i]))
		}
		require.NoError(t, want.End(recording.End{Time: want.watermark, Reason: "exit"}))
		got := read(t, bytes.NewReader(data))
		if diff := cmp.Diff(eventsOnly(want), eventsOnly(got)); diff != "" {
			t.Fatal(diff)
		}
		assert.Empty(t, got.problems)
		assert.Zero(t, got.lost)
	}
}

func TestNamedLocksAreKept(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	const stack = "at jdk.internal.misc.Unsafe.park(Native Method)\nat com.acme.A.b(A.java:1)\n- lock A.rw.readLock()\nat com.acme.A.main(A.java:2)\n..."
	events := []jvmthread.Event{{Time: 5, Thread: 1, Kind: jvmthread.KindPark, Stack: sym.InternStack(stack)}}
	got := read(t, bytes.NewReader(write(sym, []recording.Batch{{Events: events, Watermark: 9}})))
	assert.Contains(t, got.text.String(), strconv.Quote(stack))
}

// eventsOnly returns the sorted lines without thread definitions, since events of the same time are ordered by thread.
func eventsOnly(s *printer) []string {
	lines := slices.DeleteFunc(strings.Split(s.text.String(), "\n"), func(l string) bool { return strings.HasPrefix(l, "thread ") })
	slices.Sort(lines)
	return lines
}

func write(sym *symbols.Table, batches []recording.Batch) []byte {
	e := NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true})
	session := recording.Session{ID: jvmthread.SessionID{1, 2}, PID: 7, Attributes: []wire.Attribute{{Key: "service.name", Value: "x"}}}
	data := e.Begin(nil, &session)
	var end recording.End
	for i := range batches {
		data = e.Batch(data, &batches[i])
		end = recording.End{Time: batches[i].Watermark, Reason: "exit"}
	}
	return e.End(data, &end)
}

// The index states the positions of each batch and its definitions, and the time of the batch.
func TestIndexMatchesTheBatches(t *testing.T) {
	t.Parallel()
	sym := symbols.New(symbols.DefaultLimits())
	batches := random(rand.New(rand.NewPCG(3, 4)), sym, 50)
	data := write(sym, batches)
	r := wire.NewReader(bytes.NewReader(data), wire.MaxFrame)
	_, err := r.Preamble()
	require.NoError(t, err)
	var want []wire.IndexEntry
	var index wire.Index
	definitions := uint64(0)
	for {
		frame, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		at := uint64(frame.Byte)
		switch frame.Kind {
		case wire.FrameHello, wire.FrameEnd:
		case wire.FrameBatch:
			batch, err := frame.Batch()
			require.NoError(t, err)
			var events []jvmthread.Event
			for batch.More() {
				_, events, err = batch.Section(events)
				require.NoError(t, err)
			}
			e := wire.IndexEntry{Definitions: at, Batch: at, Time: batch.Watermark, Until: batch.Watermark}
			if definitions > 0 {
				e.Definitions = definitions
			}
			for i, ev := range events {
				if i == 0 || ev.Time < e.Time {
					e.Time = ev.Time
				}
				e.Until = max(e.Until, ev.Time)
			}
			want = append(want, e)
			definitions = 0
		case wire.FrameIndex:
			require.NoError(t, frame.Index(&index))
			assert.Equal(t, at, index.At)
		default:
			if definitions == 0 {
				definitions = at
			}
		}
	}
	require.GreaterOrEqual(t, len(want), len(batches))
	assert.Equal(t, want, index.Entries)
	const end = wire.FrameHeaderSize + 10
	assert.Equal(t, index.At, binary.LittleEndian.Uint64(data[len(data)-end-8:]), "the position of the index precedes the end frame")
}

func FuzzDecoder(f *testing.F) {
	data, err := wiretext.AppendStream(nil, stream)
	require.NoError(f, err)
	f.Add(data)
	sym := symbols.New(symbols.DefaultLimits())
	f.Add(write(sym, random(rand.New(rand.NewPCG(3, 4)), sym, 3)))
	f.Fuzz(func(t *testing.T, data []byte) {
		read(t, bytes.NewReader(data))
	})
}

// BenchmarkDecode reads a recording of a busy JVM, with batches of 8 threads.
func BenchmarkDecode(b *testing.B) {
	var events uint64
	data, count := busy()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	d := NewDecoder(recording.Options{}, nothing{})
	for b.Loop() {
		d.began = false // accept the same session again
		_, err := d.Write(data)
		require.NoError(b, err)
		events += count
	}
	require.Equal(b, events, d.Stats().Events)
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}

func busy() (data []byte, count uint64) {
	data = wire.AppendHello(wire.AppendPreamble(nil), &wire.Hello{Session: jvmthread.SessionID{1}})
	data = wire.AppendClass(data, wire.Class{ID: 1, Name: "com.acme.Book"})
	at := jvmthread.Time(0)
	for batch := range uint64(40) {
		sections := make([]wire.Section, 8)
		for i := range 4000 {
			at += 300
			s := &sections[(i/3)%8]
			s.Thread = jvmthread.ThreadID(1 + (i/3)%8)
			s.Events = append(s.Events, jvmthread.Event{Time: at, Kind: jvmthread.KindNotify, Lock: jvmthread.LockID{Class: 1, Hash: 5}})
			count++
		}
		data = wire.AppendBatch(data, wire.BatchHeader{Sequence: batch + 1, Watermark: at, Before: count - 4000}, sections...)
	}
	return wire.AppendEnd(data, wire.End{Time: at}), count
}

type nothing struct{}

func (nothing) Session(*recording.Session) error { return nil }
func (nothing) Batch(*recording.Batch) error     { return nil }
func (nothing) Problem(recording.Problem) error  { return nil }
func (nothing) End(recording.End) error          { return nil }
