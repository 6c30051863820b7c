// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/wire"
)

// The program of the recording called notify 50 times, and each call ended a wait.
func TestSummaryOfARecording(t *testing.T) {
	for _, name := range []string{"notifies-jdk17", "notifies-jdk25"} {
		t.Run(name, func(t *testing.T) { summarize(t, name) })
	}
}

func summarize(t *testing.T, name string) {
	t.Helper()
	f, err := os.Open("../../../../internal/recording/jfr/testdata/" + name + ".jfr.gz")
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	compressed, err := Read(replay.Source{Name: name, Reader: f})
	require.NoError(t, err)
	_, err = f.Seek(0, io.SeekStart)
	require.NoError(t, err)
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	plain, err := Read(replay.Source{Name: name, Reader: bytes.NewReader(data)})
	require.NoError(t, err)
	assert.Equal(t, plain, compressed)
	piped, err := Read(replay.Source{Name: name, Reader: struct{ io.Reader }{bytes.NewReader(data)}})
	require.NoError(t, err)
	assert.Equal(t, plain, piped)

	assert.Equal(t, []string{"Notifies"}, plain.Services)
	for i := range plain.Locks {
		if l := &plain.Locks[i]; l.Class == "Notifies$Bell" {
			assert.EqualValues(t, 50, l.Waits)
		}
	}
	for i := range plain.Longest {
		assert.NotEmpty(t, plain.Longest[i].Owner, "a flight recording names the previous owner")
	}
	require.Len(t, plain.Recordings, 1)
	assert.Equal(t, "jfr", plain.Recordings[0].Format)
	var text strings.Builder
	require.NoError(t, plain.WriteText(&text, 10))
	assert.Contains(t, text.String(), "The jfr recording contains only events that lasted at least:\n  jdk.JavaMonitorEnter: 0 ns  jdk.JavaMonitorWait: 0 ns")

	cut, err := Read(replay.Source{Name: "x.jfr", Reader: bytes.NewReader(data[:len(data)-9])})
	require.ErrorContains(t, err, "(byte 0): truncated chunk")
	assert.Equal(t, []string{"Notifies"}, cut.Services, "the events before the truncation are read")
}

func TestUnknownInputIsReportedOnce(t *testing.T) {
	for name, test := range map[string]struct{ data, want string }{
		"empty":  {"", "x: the recording is empty: nothing has been written yet, or the writer was killed"},
		"binary": {"\x7fELF\x02\x01\x01\x00\n\n\n", `x: not OTLP JSON, and unknown recording format: the file starts with "\x7fELF\x02\x01\x01\x00\n\n\n"`},
		"text":   {"hello\nworld", "x: line 1: not OTLP JSON: ReadObject: expect { or , or } or n, but found h\nline 2: not OTLP JSON: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(replay.Source{Name: "x", Reader: strings.NewReader(test.data)})
			require.Error(t, err)
			assert.Contains(t, err.Error(), test.want)
			assert.NotContains(t, err.Error(), "bigger context")
		})
	}
}

func TestSummaryOfAggregates(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	e := native.NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true})
	book := sym.InternClass("com.acme.OrderBook")
	session := recording.Session{ID: jvmthread.SessionID{1}, Attributes: []wire.Attribute{{Key: "service.name", Value: "orders"}}}
	data := e.Begin(nil, &session)
	const second = jvmthread.Time(time.Second)
	for from := range jvmthread.Time(2) {
		data = e.Batch(data, &recording.Batch{Watermark: (from + 1) * second, Aggregate: &jvmthread.Aggregate{
			From: from * second, To: (from + 1) * second, Series: []jvmthread.Series{
				{Kind: jvmthread.KindContendedEnter, Class: book, Sum: 30, Max: 16, Zero: 1, Offset: 3, Buckets: []uint64{1, 1}},
				{Kind: jvmthread.KindWait, Class: book, Sum: 500, Max: 400, Offset: 7, Buckets: []uint64{2}},
				{Kind: jvmthread.KindContendedEnter, Overflow: true, Sum: 5, Max: 5, Offset: 2, Buckets: []uint64{1}},
			},
		}})
	}
	data = e.End(data, &recording.End{Time: 2 * second, Reason: "exit"})
	s, err := Read(replay.Source{Name: "x.weft", Reader: bytes.NewReader(data)})
	require.NoError(t, err)
	assert.Equal(t, []Lock{
		{Class: "com.acme.OrderBook", Kind: "lock", Contentions: 6, Blocked: 60, BlockedMax: 16, Waits: 4, Waited: 1000},
		{Class: otherLocks, Kind: "lock", Contentions: 2, Blocked: 10, BlockedMax: 5},
	}, s.Locks)
	assert.Equal(t, []State{{"blocked", 8, 70}, {"waiting", 4, 1000}}, s.States)
	var text strings.Builder
	require.NoError(t, s.WriteText(&text, 10))
	assert.Contains(t, text.String(), "orders: 2.00 s of aggregated waits in 1 session; an agent in aggregated mode does not report threads\n")
	assert.NotContains(t, text.String(), "CHAIN")
}

func TestProblemsOfARecordingHaveAPosition(t *testing.T) {
	_, err := Read(replay.Source{Name: "x.orca", Reader: strings.NewReader("1.0,ThreadEnded,00000001\n2.0,ThreadSleep\n")})
	require.EqualError(t, err, "x.orca: line 2 (byte 25): missing thread; the line may be truncated")
}

func TestSidecarOfARecordingIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.orca")
	require.NoError(t, os.WriteFile(strings.TrimSuffix(path, ".orca")+".meta", []byte("00000001,match,,Lcom/acme/Book;,-1\n"), 0o600))
	log := "1.0,MonitorContendedEnter,00000001,0000000A,00000002,1,1,0\n2.0,MonitorContendedEntered,00000001,0000000A,0\n3.0,ThreadEnded,00000001\n"
	s, err := Read(replay.Source{Name: path, Path: path, Reader: strings.NewReader(log)})
	require.NoError(t, err)
	require.Len(t, s.Longest, 1)
	assert.Equal(t, "com.acme.Book.match", s.Longest[0].Function)
}

// ORCA logs have no classes.
func TestLocksOfUnknownClassAreListed(t *testing.T) {
	s, err := Read(replay.Source{Name: "x.orca", Reader: strings.NewReader(`1.0,MonitorContendedEnter,00000001,0000000A,00000002,0
2.0,MonitorContendedEntered,00000001,0000000A,0
3.0,ThreadEnded,00000001
`)})
	require.NoError(t, err)
	var text strings.Builder
	require.NoError(t, s.WriteText(&text, 10))
	assert.Regexp(t, `(?m)^\(class unknown\) +lock +1 `, text.String())
}
