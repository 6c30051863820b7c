// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// endless generates a recording with any number of consecutive chunks.
type endless struct {
	chunks int64
	number int64 // of chunk
	chunk  []byte
}

func newEndless(chunks int64) *endless {
	e := &endless{chunks: chunks}
	e.make(0)
	return e
}

func (e *endless) make(number int64) {
	b := newBuilder(false) // with uncompressed integers, all chunks have the same length
	const length = 500_000
	b.ticks += 2 * number * length
	b.nanos += number * length
	e.number = number
	e.chunk = b.chunk(func(b *builder) {
		for i := range int64(500) {
			b.wait(i*2000, 900)
		}
	})
}

func (e *endless) size() int64 { return e.chunks * int64(len(e.chunk)) }

func (e *endless) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		number, from := (at+int64(n))/int64(len(e.chunk)), (at+int64(n))%int64(len(e.chunk))
		if number >= e.chunks {
			return n, io.EOF
		}
		if number != e.number {
			e.make(number)
		}
		n += copy(p[n:], e.chunk[from:])
	}
	return n, nil
}

// TestMemoryIsBoundedIfTimeDoesNotAdvance checks that events are passed on unsorted in that case.
func TestMemoryIsBoundedIfTimeDoesNotAdvance(t *testing.T) {
	c := newCollector(t)
	d := NewDecoder(recording.Options{}, c)
	d.watermark = 100
	for i := range 5 {
		d.splitter.late = append(d.splitter.late, jvmthread.Event{Thread: 1, Kind: jvmthread.KindYield, Time: jvmthread.Time(98 + i)})
	}
	d.Session(&recording.Session{ID: jvmthread.SessionID{1}})
	d.news = append(d.news, jvmthread.Thread{ID: 1})
	d.pass(d.splitter.split(nil, 200), 200)
	require.NoError(t, d.Err())
	assert.Equal(t, []jvmthread.Time{100, 100, 100, 101, 102}, []jvmthread.Time{c.events[0].Time, c.events[1].Time, c.events[2].Time, c.events[3].Time, c.events[4].Time})
	assert.EqualValues(t, 1, d.Stats().Problems)

	var s splitter
	records := make([]record, maxLate+2)
	for i := range records {
		records[i].event = jvmthread.Event{Thread: 1, Kind: jvmthread.KindThreadStart, Time: jvmthread.Time(i)}
	}
	assert.Len(t, records, s.split(records, 0))
	assert.Empty(t, s.late)
}
