// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// readBytes reads a complete recording.
func readBytes(t testing.TB, data []byte) *collector {
	t.Helper()
	c := newCollector(t)
	d := NewDecoder(recording.Options{File: "x.jfr", Symbols: c.symbols}, c)
	_, err := d.ReadFrom(bytes.NewReader(data))
	require.NoError(t, err)
	require.NoError(t, d.Close())
	c.unknown = d.Stats().Unknown
	return c
}

// push reads a recording in pieces of step bytes.
func push(t testing.TB, data []byte, step int, flush bool) *collector {
	t.Helper()
	c := newCollector(t)
	d := NewDecoder(recording.Options{File: "x.jfr", Symbols: c.symbols}, c)
	for len(data) > 0 {
		n := min(step, len(data))
		_, err := d.Write(data[:n])
		require.NoError(t, err)
		if flush {
			require.NoError(t, d.Flush())
		}
		data = data[n:]
	}
	require.NoError(t, d.Close())
	c.unknown = d.Stats().Unknown
	return c
}

// print formats the events of a recording, one per line, without gaps.
func (c *collector) print() string {
	var b strings.Builder
	for _, s := range c.sessions {
		fmt.Fprintf(&b, "session pid=%d %v\n", s.PID, s.Attributes)
	}
	for _, ev := range c.recorded() {
		fmt.Fprintf(&b, "%d %s %v peer=%d arg=%d lock=%s/%x flags=%d stack=%q\n", ev.Time, c.threads[ev.Thread].Name, ev.Kind, ev.Peer,
			ev.Arg, c.symbols.Class(ev.Lock.Class), ev.Lock.Hash, ev.Flags, c.symbols.Stack(ev.Stack))
	}
	for _, e := range c.ends {
		fmt.Fprintf(&b, "end %s\n", e.Reason)
	}
	return b.String()
}

func sample(b *builder) {
	b.wait(1000, 1500)
	b.sleep(100, 7000)
	b.enter(3000, 2001)
}

const wantSample = `session pid=42 [{service.name Main} {process.runtime.name Test VM}]
1000050 main sleepStart peer=0 arg=5000000 lock=/0 flags=0 stack=""
1000500 worker wait peer=0 arg=250000000 lock=com.acme.Book/dc8807bf flags=0 stack=""
1001250 worker waited peer=1 arg=0 lock=com.acme.Book/dc8807bf flags=0 stack=""
1001250 worker waitReturned peer=0 arg=0 lock=com.acme.Book/dc8807bf flags=0 stack=""
1001500 worker contendedEnter peer=0 arg=0 lock=com.acme.Book/dc8807bf flags=0 stack="at com.acme.Book.add(:42)"
1002500 worker contendedEntered peer=1 arg=0 lock=com.acme.Book/dc8807bf flags=0 stack=""
1003550 main sleepEnd peer=0 arg=0 lock=/0 flags=0 stack=""
`

// newBuilder returns a builder with two ticks per nanosecond.
func newBuilder(packed bool) *builder {
	return &builder{packed: packed, perSecond: 2e9, nanos: 1_000_000, ticks: 500, pid: 42}
}

func TestTicksAndBothKindsOfIntegers(t *testing.T) {
	for _, packed := range []bool{true, false} {
		c := readBytes(t, newBuilder(packed).chunk(sample))
		if diff := cmp.Diff(wantSample+"end detached\n", c.print()); diff != "" {
			t.Errorf("packed %v: want - got +:\n%s", packed, diff)
		}
		assert.Empty(t, c.problems)
	}
}

func TestInitializationOfAClass(t *testing.T) {
	b := newBuilder(true)
	c := readBytes(t, b.chunk(func(b *builder) { b.initialize(1000, 500) }))
	entered := c.of(17, jvmthread.KindContendedEntered)
	require.Len(t, entered, 1)
	assert.Len(t, c.of(17, jvmthread.KindContendedEnter), 1)
	assert.Empty(t, c.of(17, jvmthread.KindWait))
	assert.EqualValues(t, 1, entered[0].Peer, "main")
	assert.Equal(t, "[I", c.symbols.Class(entered[0].Lock.Class))
}

// TestSilence checks that nothing is known about a thread after the end of its last event, or after the last time when an event of another
// thread shows that it ran, even if that is in a later chunk. The JVM writes an event when it ends, so a wait that has not ended is missing.
func TestSilence(t *testing.T) {
	silence := func(c *collector) (list []string) {
		for _, ev := range c.of(0, jvmthread.KindGap) {
			list = append(list, fmt.Sprintf("%s %d", c.threads[ev.Thread].Name, ev.Time))
			assert.Zero(t, ev.Arg, "no event is lost")
		}
		return list
	}
	b := newBuilder(true)
	first := b.chunk(sample)
	assert.Equal(t, []string{"worker 1002500", "main 1003550"}, silence(readBytes(t, first)))
	b.ticks, b.nanos = b.ticks+100_000, b.nanos+50_000
	second := b.chunk(func(b *builder) { b.enter(200, 600) }) // main handed it the lock
	assert.Equal(t, []string{"main 1050400", "worker 1050400"}, silence(readBytes(t, slices.Concat(first, second))))
	assert.Equal(t, []string{"worker 1002500", "main 1003550"}, silence(push(t, first, 7, false)))
	assert.Empty(t, silence(push(t, first, 7, true)), "when the events were passed on, more could follow")
}

// TestDeadlineIsExactToTheMillisecond covers clocks of the wall that the JVM has rounded.
func TestDeadlineIsExactToTheMillisecond(t *testing.T) {
	for _, test := range [][3]int64{{60e6, 59.3e6, 59.3e6}, {60e6, 60.1e6, 60e6}, {60e6, 20e6, 60e6}, {500, 0, 1}} {
		assert.Equal(t, test[2], untilEnd(test[0], test[1]), "timeout of %d ns after %d ns", test[0], test[1])
	}
}

func TestChunkOfUnknownSize(t *testing.T) {
	b := newBuilder(true)
	b.open = true
	data := b.chunk(sample)
	c := readBytes(t, data)
	assert.Equal(t, wantSample, c.print(), "no end, because the JVM is still writing or was killed")
	assert.Empty(t, c.problems)
	assert.Equal(t, c.print(), push(t, data, 7, true).print())
}

// A JVM that was killed leaves a chunk with a copy of its header for each flush.
func TestHeaderCopiesDoNotStartChunks(t *testing.T) {
	killed, other := newBuilder(true), newBuilder(true)
	killed.open = true
	other.nanos, other.ticks, other.pid = 9_000_000, 9000, 43
	data := killed.chunk(func(b *builder) {
		b.flush()
		sample(b)
		b.flush()
	})
	c := readBytes(t, data)
	assert.Equal(t, wantSample, c.print())
	assert.Empty(t, c.problems)

	end := len(data)
	for cut := range headerSize { // the JVM is killed while writing another copy
		data = append(data[:end], killed.out[:cut]...)
		assert.Equal(t, wantSample, readBytes(t, data).print())
	}
	c = readBytes(t, append(data[:end], other.chunk(sample)...))
	assert.Len(t, c.sessions, 2)
	assert.Len(t, c.recorded(), 14)
	assert.Empty(t, c.problems)
}

// A JVM completes a chunk by changing its header, long after it was read.
func TestChunkCompletedLater(t *testing.T) {
	b := newBuilder(true)
	whole := bytes.Clone(b.chunk(sample))
	b.open = true
	c := newCollector(t)
	d := NewDecoder(recording.Options{File: "x.jfr", Symbols: c.symbols}, c)
	_, err := d.Write(b.chunk(sample))
	require.NoError(t, err)
	require.NoError(t, d.Flush())
	assert.True(t, strings.HasPrefix(wantSample, c.print()))
	readable, live, complete := d.Survey(bytes.NewReader(whole), int64(len(whole)))
	assert.EqualValues(t, len(whole), readable)
	assert.False(t, live)
	assert.True(t, complete)
	require.NoError(t, d.Flush())
	require.NoError(t, d.Close())
	assert.Equal(t, wantSample+"end detached\n", c.print())
	assert.Empty(t, c.problems)
}

// The size of writes does not matter.
func TestPush(t *testing.T) {
	data := newBuilder(true).chunk(sample)
	for _, step := range []int{1, 13, len(data)} {
		assert.Equal(t, wantSample+"end detached\n", push(t, data, step, false).print())
	}
}

// io.Copy calls the WriteTo of a bufio.Reader, which first writes its buffer.
func TestCopyFromBufferedReader(t *testing.T) {
	data := newBuilder(true).chunk(sample)
	for _, peek := range []int{0, 1, 100, len(data)} {
		c := newCollector(t)
		r := bufio.NewReaderSize(bytes.NewReader(data), len(data))
		_, err := r.Peek(peek)
		require.NoError(t, err)
		d := NewDecoder(recording.Options{Symbols: c.symbols}, c)
		_, err = io.Copy(d, struct{ io.Reader }{r})
		require.NoError(t, err)
		require.NoError(t, d.Close())
		assert.Equal(t, wantSample+"end detached\n", c.print())

		c = newCollector(t)
		r = bufio.NewReader(struct{ io.Reader }{bytes.NewReader(data)})
		_, err = r.Peek(peek)
		require.NoError(t, err)
		d = NewDecoder(recording.Options{Symbols: c.symbols}, c)
		_, err = io.Copy(d, r)
		require.NoError(t, err)
		require.NoError(t, d.Close())
		assert.Equal(t, wantSample+"end detached\n", c.print())
	}
}

// Input from a pipe and compressed input pass through a temporary file of limited size.
func TestUnpackedSizeIsLimited(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	a, b := newBuilder(true), newBuilder(true)
	b.nanos, b.ticks = 2_000_000, 2_000_500
	data := a.chunk(sample)
	first := len(data)
	data = append(data, b.chunk(sample)...)
	read := func(limit int) *collector {
		c := newCollector(t)
		d := NewDecoder(recording.Options{File: "x.jfr", Symbols: c.symbols, MaxUnpacked: int64(limit)}, c)
		_, err := io.Copy(d, struct{ io.Reader }{bytes.NewReader(data)})
		require.NoError(t, err)
		require.NoError(t, d.Close())
		assert.LessOrEqual(t, d.Stats().Bytes, int64(limit))
		return c
	}
	whole := read(len(data))
	assert.Empty(t, whole.problems, "within the limit")
	assert.Len(t, whole.recorded(), 14)
	cut := read(first)
	assert.Len(t, cut.recorded(), 7)
	require.Len(t, cut.problems, 1)
	assert.Equal(t, fmt.Sprintf("x.jfr (byte %d): the recording has more than %d bytes; skipping the rest; "+
		"read it from a plain file, which is read in place, or raise max_unpacked_size", first, first), cut.problems[0].Error())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestAnotherJVMStartsAnotherSession(t *testing.T) {
	first, second := newBuilder(true), newBuilder(false)
	second.nanos, second.ticks, second.pid = 9_000_000, 9000, 43
	data := append(first.chunk(sample), second.chunk(sample)...)
	c := readBytes(t, data)
	require.Len(t, c.sessions, 2)
	assert.NotEqual(t, c.sessions[0].ID, c.sessions[1].ID)
	assert.Len(t, c.ends, 2)
	assert.Equal(t, c.print(), push(t, data, 100, false).print())
}

func TestGarbageBetweenChunksIsSkipped(t *testing.T) {
	a, b := newBuilder(true), newBuilder(true)
	b.nanos, b.ticks = 2_000_000, 2_000_500
	data := append([]byte("what is this?"), a.chunk(sample)...)
	data = append(append(data, Magic+"garbage"...), b.chunk(sample)...)
	for _, c := range []*collector{readBytes(t, data), push(t, data, 50, false)} {
		assert.Len(t, c.recorded(), 14)
		require.NotEmpty(t, c.problems)
		assert.Equal(t, `x.jfr (byte 0): invalid chunk signature "what": want "FLR\x00"; skipping 13 bytes`, c.problems[0].Error())
		assert.Len(t, c.sessions, 1)
	}
}

func TestMalformedEventEndsOnlyItsChunk(t *testing.T) {
	a, b := newBuilder(true), newBuilder(true)
	b.nanos, b.ticks = 2_000_000, 2_000_500
	first := a.chunk(func(b *builder) {
		b.sleep(10, 20)
		b.byte(0).byte(0)
		b.sleep(40, 20)
	})
	c := readBytes(t, append(first, b.chunk(sample)...))
	assert.Contains(t, c.problems[0].What, "invalid event size of 0 bytes")
	assert.Len(t, c.recorded(), 9)
}
