// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/cmd/weft/internal/local/localtest"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/viewapi"
)

var suffixes = []string{".weft", ".orca", ".trcxml", ".triples", ".json", ".pftrace", ".weft.gz", ".json.zst"}

// What precedes the end of a truncated input is converted.
func TestTruncatedInput(t *testing.T) {
	for _, packed := range []string{"", ".gz", ".zst"} {
		dir := t.TempDir()
		in := filepath.Join(dir, "in.weft"+packed)
		recorded(t, in, "native", 5, 20_000)
		data, err := os.ReadFile(in)
		require.NoError(t, err)
		whole, _ := read(t, in, false)
		require.NoError(t, os.WriteFile(in, data[:len(data)*3/4], 0o600))
		for _, suffix := range suffixes {
			report, err := Convert(t.Context(), Request{In: in, Out: filepath.Join(dir, "out"+suffix)})
			require.NoError(t, err)
			assert.Greater(t, report.Events, uint64(len(whole.Events)/4))
			assert.Less(t, report.Events, uint64(len(whole.Events)))
			require.NotEmpty(t, report.Problems)
			assert.Positive(t, report.ProblemCount)
			assert.Contains(t, report.Problems[0], "truncated")
		}
		out, _ := read(t, filepath.Join(dir, "out.weft"), false)
		assert.Empty(t, out.Ends, "the end is not known")
		assert.Equal(t, whole.Events[:len(out.Events)], out.Events)
	}
}

// small is a disk on which little fits.
type small struct {
	*os.File

	room *int
}

func (s small) Write(p []byte) (int, error) {
	if len(p) > *s.room {
		n, _ := s.File.Write(p[:*s.room])
		*s.room = 0
		return n, &os.PathError{Op: "write", Path: s.Name(), Err: syscall.ENOSPC}
	}
	*s.room -= len(p)
	return s.File.Write(p)
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.weft")
	recorded(t, in, "native", 1, 5000)
	for _, suffix := range suffixes {
		for _, room := range []int{0, 1000, 4000} {
			out := filepath.Join(dir, "out"+suffix)
			require.NoError(t, os.WriteFile(out, []byte("before"), 0o600))
			_, err := convert(t.Context(), &Request{In: in, Out: out, Overwrite: true}, func(path string) (temporary, error) {
				file, err := os.CreateTemp(filepath.Dir(path), ".weft-*")
				return small{file, &room}, err
			})
			require.ErrorIs(t, err, syscall.ENOSPC, suffix)
			assert.Contains(t, err.Error(), "write "+out)
			onlyBefore(t, dir, out)
		}
	}
}

// onlyBefore checks that there is nothing but the input, and what was there before.
func onlyBefore(t *testing.T, dir, out string) {
	t.Helper()
	content, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, "before", string(content))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 2)
	require.NoError(t, os.Remove(out))
}

func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.weft")
	recorded(t, in, "native", 1, 100_000)
	for _, suffix := range suffixes {
		out := filepath.Join(dir, "out"+suffix)
		require.NoError(t, os.WriteFile(out, []byte("before"), 0o600))
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		_, err := Convert(ctx, Request{In: in, Out: out, Overwrite: true, Progress: func(done, total int64) {
			calls++
			assert.Less(t, done, total)
			cancel()
		}})
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 1, calls)
		onlyBefore(t, dir, out)
	}
}

// The other end of a pipe need not write for an interrupt to be noticed.
func TestInterruptWhileAPipeIsSilent(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.weft"), filepath.Join(dir, "out.weft")
	recorded(t, in, "native", 1, 30_000)
	data, err := os.ReadFile(in)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(out, []byte("before"), 0o600))
	r, w := io.Pipe()
	defer w.Close() //nolint:errcheck // always nil
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = w.Write(data[:len(data)/2]) // returns when all of it was read
		cancel()
	}()
	_, err = Convert(ctx, Request{In: "-", Out: out, Overwrite: true, Stdin: r})
	require.ErrorIs(t, err, context.Canceled)
	onlyBefore(t, dir, out)
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.orca")
	recorded(t, in, "orca", 1, 200_000)
	info, err := os.Stat(in)
	require.NoError(t, err)
	var places []int64
	_, err = Convert(t.Context(), Request{In: in, Out: filepath.Join(dir, "out.weft"), Progress: func(done, total int64) {
		assert.Equal(t, info.Size(), total)
		places = append(places, done)
	}})
	require.NoError(t, err)
	assert.Greater(t, len(places), 5)
	assert.IsIncreasing(t, places)
	assert.Equal(t, info.Size(), places[len(places)-1])
}

// The spans have the locks of the recording.
func TestSpansAreThoseOfThreadSpan(t *testing.T) {
	for seed := range uint64(8) {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in.weft"), filepath.Join(dir, "out.spans.json")
		recorded(t, in, "native", seed, 9000)
		report, err := Convert(t.Context(), Request{In: in, Out: out})
		require.NoError(t, err)
		locks := func(path string) map[string]viewapi.LockRow {
			client, session := localtest.Session(t, path)
			all, err := client.Locks(t.Context(), session.ID, nil)
			require.NoError(t, err)
			rows := map[string]viewapi.LockRow{}
			for _, row := range all.Locks {
				rows[row.Lock.Class+row.Lock.Hash] = viewapi.LockRow{Blocked: row.Blocked, Waited: row.Waited}
			}
			return rows
		}
		want := locks(in)
		assert.NotEmpty(t, want)
		assert.Positive(t, report.Sessions)

		back := filepath.Join(dir, "back.weft")
		again, err := Convert(t.Context(), Request{In: out, Out: back})
		require.NoError(t, err)
		assert.Equal(t, "otlp", again.From)
		assert.Equal(t, want, locks(out))
		assert.Equal(t, want, locks(back))

		data, err := os.ReadFile(out)
		require.NoError(t, err)
		most := 0
		for line := range bytes.Lines(data) {
			td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
			require.NoError(t, err)
			most = max(most, td.SpanCount())
			format, ok := td.ResourceSpans().At(0).Resource().Attributes().Get("weft.recording.format")
			require.True(t, ok)
			assert.Equal(t, "native", format.Str())
		}
		assert.LessOrEqual(t, most, 2048)
	}
}

func TestPerfettoHasAllIntervals(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.weft"), filepath.Join(dir, "out.perfetto-trace")
	events, _ := recorded(t, in, "native", 3, 5000)
	_, err := Convert(t.Context(), Request{In: in, Out: out})
	require.NoError(t, err)
	data, err := os.ReadFile(out)
	require.NoError(t, err)
	packets := 0
	for len(data) > 0 {
		require.Equal(t, byte(1<<3|2), data[0])
		size, n := binary.Uvarint(data[1:])
		data = data[1+n+int(size):]
		packets++
	}
	assert.Greater(t, packets, len(events))
}

// A recording of events without an interval has no spans, but can be converted.
func TestRecordingWithoutIntervals(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.triples")
	require.NoError(t, os.WriteFile(in, []byte("Thread-1, yield, Thread-1\n"), 0o600))
	for _, suffix := range suffixes {
		report, err := Convert(t.Context(), Request{In: in, Out: filepath.Join(dir, "out"+suffix)})
		require.NoError(t, err, suffix)
		assert.Equal(t, uint64(1), report.Events)
	}
	require.NoError(t, os.WriteFile(in, []byte("Thread-1, yield, Thread-1\nnonsense\n"), 0o600))
	report, err := Convert(t.Context(), Request{In: in, Out: filepath.Join(dir, "broken.weft")})
	require.NoError(t, err)
	assert.Equal(t, uint64(1), report.ProblemCount)
	assert.True(t, strings.HasPrefix(report.Problems[0], in+":2 "), report.Problems[0])
}

func TestFlightRecording(t *testing.T) {
	const in = "../../../../internal/recording/jfr/testdata/notifies-jdk25.jfr.gz"
	dir := t.TempDir()
	packed, err := os.Open(in)
	require.NoError(t, err)
	defer packed.Close() //nolint:errcheck // was only read
	r, free, err := formats.Decompress(packed, formats.Limit{})
	require.NoError(t, err)
	defer free()
	plain := filepath.Join(dir, "in.jfr")
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(plain, data, 0o600))
	for _, suffix := range suffixes {
		first, second := filepath.Join(dir, "a"+suffix), filepath.Join(dir, "b"+suffix)
		report, err := Convert(t.Context(), Request{In: in, Out: first})
		require.NoError(t, err)
		assert.Equal(t, "jfr", report.From)
		assert.Positive(t, report.Events)
		again, err := Convert(t.Context(), Request{In: plain, Out: second, Session: "1"})
		require.NoError(t, err)
		assert.Equal(t, report.Events, again.Events)
		if suffix == ".orca" {
			want, err := os.ReadFile(first)
			require.NoError(t, err)
			got, err := os.ReadFile(second)
			require.NoError(t, err)
			assert.Equal(t, string(want), string(got))
		}
	}
}

func TestCounts(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.weft")
	events, _ := recorded(t, in, "native", 4, 3000)
	report, err := Convert(t.Context(), Request{In: in, Out: filepath.Join(dir, "out.weft.zst")})
	require.NoError(t, err)
	assert.Equal(t, uint64(len(events)), report.Events)
	threads := map[jvmthread.ThreadID]bool{}
	for _, ev := range events {
		threads[ev.Thread] = true
	}
	assert.GreaterOrEqual(t, report.Threads, len(threads))
	assert.LessOrEqual(t, report.Threads, 3+4)
	assert.Zero(t, report.Lost)
}
