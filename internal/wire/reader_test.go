// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
)

func TestReaderRejectsBadPreamble(t *testing.T) {
	_, err := NewReader(strings.NewReader("GET / HTTP/1.1\r\n"), MaxFrame).Preamble()
	require.EqualError(t, err, `preamble: begins with "GET ", want "WEFT"`)
	var bad *Error
	require.ErrorAs(t, err, &bad)

	_, err = NewReader(strings.NewReader("WEFT"), MaxFrame).Preamble()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.EqualError(t, err, "preamble: unexpected EOF")
}

func TestReaderReportsPositionAndSkippedFrames(t *testing.T) {
	stream := AppendPreamble(nil)
	stream = append(stream, 2, 0, 0, 0, 99, 0, 0, 0, 'h', 'i')
	stream = AppendAck(stream, 7)
	stream = append(stream, 0xff, 0xff, 0, 0, 77, 0, 0, 0)
	r := NewReader(iotest.OneByteReader(bytes.NewReader(stream)), MaxFrame)

	version, err := r.Preamble()
	require.NoError(t, err)
	assert.EqualValues(t, Version, version)
	frame, err := r.Next()
	require.NoError(t, err)
	assert.Equal(t, FrameAck, frame.Kind)
	assert.EqualValues(t, 2, frame.Number)
	assert.EqualValues(t, 18, frame.Byte)
	assert.EqualValues(t, 1, r.Skipped())
	_, err = r.Next()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.EqualError(t, err, "frame 3 at byte 34: unexpected EOF")
}

func TestReaderAllocatesByReceivedBytes(t *testing.T) {
	r := NewReader(bytes.NewReader([]byte{0, 0, 0, 0x40, 6, 0, 0, 0, 1, 2, 3}), math.MaxInt32)
	_, err := r.Next()
	require.EqualError(t, err, "frame 1 at byte 0: unexpected EOF")
	assert.LessOrEqual(t, cap(r.buf), 2*readBuffer)
}

func TestReaderReturnsConnectionErrors(t *testing.T) {
	stream := AppendAck(nil, 7)
	r := NewReader(iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader(stream))), MaxFrame)
	_, err := r.Next()
	require.ErrorIs(t, err, iotest.ErrTimeout)
	var bad *Error
	assert.NotErrorAs(t, err, &bad)
}

func TestAppendTruncates(t *testing.T) {
	long := strings.Repeat("x", MaxString-1) + "ü"
	frame := readOne(t, AppendClass(nil, Class{ID: 1, Name: long}))
	class, err := frame.Class()
	require.NoError(t, err)
	assert.Equal(t, long[:MaxString-1], class.Name)

	frame = readOne(t, AppendStack(nil, &Stack{ID: 1, Frames: make([]StackFrame, MaxString+1)}))
	var stack Stack
	require.NoError(t, frame.Stack(&stack))
	assert.Len(t, stack.Frames, MaxString)

	refuse := AppendRefuse(nil, Refuse{Message: strings.Repeat("x", MaxControl)})
	assert.Len(t, refuse, FrameHeaderSize+MaxControl)
	_, err = readOne(t, refuse).Refuse()
	require.NoError(t, err)
}

func readOne(t *testing.T, stream []byte) Frame {
	t.Helper()
	frame, err := NewReader(bytes.NewReader(stream), MaxFrame).Next()
	require.NoError(t, err)
	return frame
}

func TestReadBatchDoesNotAllocate(t *testing.T) {
	stream := sampleBatch(100, 10)
	src := bytes.NewReader(stream)
	r := NewReader(src, MaxFrame)
	var events []jvmthread.Event
	allocs := testing.AllocsPerRun(100, func() {
		src.Reset(stream)
		events = readAll(t, r, events)
	})
	assert.Zero(t, allocs)
	assert.Len(t, events, 10)
}

func BenchmarkReadBatch(b *testing.B) {
	const threads, perThread = 50, 100
	stream := sampleBatch(threads, perThread)
	src := bytes.NewReader(stream)
	r := NewReader(src, MaxFrame)
	var events []jvmthread.Event
	b.ReportAllocs()
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		src.Reset(stream)
		events = readAll(b, r, events)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(threads*perThread), "ns/event")
}

func BenchmarkAppendBatch(b *testing.B) {
	const threads, perThread = 50, 100
	sections := sampleSections(threads, perThread)
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendBatch(dst[:0], BatchHeader{Sequence: 1}, sections...)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(threads*perThread), "ns/event")
}

// readAll reads batches until the end of the stream and returns the events of the last section.
func readAll(tb testing.TB, r *Reader, events []jvmthread.Event) []jvmthread.Event {
	tb.Helper()
	for {
		frame, err := r.Next()
		if err == io.EOF { //nolint:errorlint // Next returns io.EOF unwrapped
			return events
		}
		if err != nil {
			tb.Fatal(err)
		}
		batch, err := frame.Batch()
		if err != nil {
			tb.Fatal(err)
		}
		for batch.More() {
			if _, events, err = batch.Section(events[:0]); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

func sampleBatch(threads, perThread int) []byte {
	return AppendBatch(nil, BatchHeader{Sequence: 1, Watermark: 1 << 40}, sampleSections(threads, perThread)...)
}

func sampleSections(threads, perThread int) []Section {
	sections := make([]Section, threads)
	for i := range sections {
		sections[i].Thread = jvmthread.ThreadID(i + 1)
		for j := range perThread {
			sections[i].Events = append(sections[i].Events, jvmthread.Event{
				Time: jvmthread.Time(1000*j + i), Kind: jvmthread.KindContendedEnter + jvmthread.Kind(j%2),
				Peer: 7, Lock: jvmthread.LockID{Class: 3, Hash: 0x1234}, Stack: jvmthread.StackID(j),
			})
		}
	}
	return sections
}

// meter is a Source with a limit.
type meter struct{ limit, held, most, awaited int }

func (m *meter) Await(n int) { m.awaited = max(m.awaited, n) }

func (m *meter) TryRoom(from, to int) bool { return m.Room(from, to) == nil }

func (m *meter) Room(from, to int) error {
	if m.held+to-from > m.limit {
		return io.ErrShortBuffer
	}
	m.held += to - from
	m.most = max(m.most, m.held)
	return nil
}

// Memory for a frame is taken before it is used, as the frame arrives, and given back with the next frame.
func TestSourceIsAsked(t *testing.T) {
	text := strings.Repeat("n", 60_000)
	big := AppendClass(nil, Class{ID: 1, Name: text})
	small := AppendClass(nil, Class{ID: 2, Name: "x"})
	m := &meter{limit: 1 << 20}
	r := NewReader(bytes.NewReader(append(append([]byte(nil), big...), small...)), MaxFrame)
	r.SetSource(m)
	frame, err := r.Next()
	require.NoError(t, err)
	class, err := frame.Class()
	require.NoError(t, err)
	assert.Equal(t, text, class.Name)
	assert.Equal(t, 64<<10, m.held)
	assert.Equal(t, len(big)-FrameHeaderSize, m.awaited)
	_, err = r.Next()
	require.NoError(t, err)
	assert.Equal(t, 16<<10, m.held)
	r.Release()
	assert.Zero(t, m.held)

	m = &meter{limit: 1 << 20}
	r = NewReader(io.MultiReader(bytes.NewReader([]byte{0, 0, 0x10, 0, 6, 0, 0, 0}), bytes.NewReader(make([]byte, 100))), MaxFrame)
	r.SetSource(m)
	_, err = r.Next()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.LessOrEqual(t, m.most, 1<<20, "1 MiB was announced, and may be lent at most")

	m = &meter{limit: 40 << 10}
	r = NewReader(bytes.NewReader(big), MaxFrame)
	r.SetSource(m)
	_, err = r.Next()
	require.ErrorIs(t, err, io.ErrShortBuffer)
	r.Release()
	assert.Zero(t, m.held)
}
