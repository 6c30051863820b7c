// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package profiles_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/internal/local/localtest"
	"github.com/weft-otel/weft/cmd/weft/internal/profiles"
	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/stackprofile"
	"github.com/weft-otel/weft/internal/threadtest"
)

// recorded writes a recording of events.
func recorded(t *testing.T, events []jvmthread.Event, sym *symbols.Table) string {
	t.Helper()
	return recordedAs(t, 1, events, sym)
}

func recordedAs(t *testing.T, session byte, events []jvmthread.Event, sym *symbols.Table) string {
	t.Helper()
	format, err := formats.Find("native")
	require.NoError(t, err)
	e := format.NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true})
	data := e.Begin(nil, &recording.Session{ID: jvmthread.SessionID{session}})
	batch := recording.Batch{Events: events, Watermark: events[len(events)-1].Time}
	known := make(map[jvmthread.ThreadID]bool)
	for i := range events {
		if id := events[i].Thread; !known[id] {
			known[id] = true
			batch.Threads = append(batch.Threads, sym.Thread(id))
		}
	}
	data = e.Batch(data, &batch)
	data = e.End(data, &recording.End{Time: batch.Watermark, Reason: "exit"})
	path := filepath.Join(t.TempDir(), "x.weft")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

func source(t *testing.T, path string) replay.Source {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	return replay.Source{Name: path, Path: path, Reader: file}
}

// checkTotals compares the profiles of a recording with its page, to the nanosecond.
func checkTotals(t *testing.T, path string) (contended profile.Sum) {
	t.Helper()
	client, session := localtest.Session(t, path)
	callers, err := client.Callers(t.Context(), session.ID, page.Query{"kind": {"blocked"}})
	require.NoError(t, err)
	contended = profile.Sum{Count: uint64(callers.Sum.Stats.Count), Time: time.Duration(callers.Sum.Stats.Time)}
	for _, f := range []profile.Family{profile.Block, profile.Mutex} {
		p, err := profiles.Read(source(t, path), profiles.Request{Family: f})
		require.NoError(t, err)
		assert.Equal(t, contended, p.Total(), "%s of %s", f, path)
	}
	return contended
}

func TestTotalsAreThoseOfThePage(t *testing.T) {
	for seed := range uint64(10) {
		events, sym := threadtest.Recorded(seed, 3+int(seed), 4, 600)
		require.NotZero(t, checkTotals(t, recorded(t, events, sym)))
	}
	for _, name := range []string{"notifies-jdk17", "notifies-jdk25"} {
		checkTotals(t, "../../../../internal/recording/jfr/testdata/"+name+".jfr.gz")
	}
}

// Go's own tool reads the files.
func TestGoToolPprof(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	path := recorded(t, threadtest.ReportAndMatchers(sym), sym)
	for f, want := range map[profile.Family]string{
		profile.Block: "com.acme.Matcher.match", profile.Mutex: "com.acme.Report.write", profile.OffCPU: "com.acme.Shop.buy",
	} {
		p, err := profiles.Read(source(t, path), profiles.Request{Family: f})
		require.NoError(t, err)
		var file bytes.Buffer
		require.NoError(t, stackprofile.WritePprof(&file, p))
		out := filepath.Join(t.TempDir(), "out.pb.gz")
		require.NoError(t, os.WriteFile(out, file.Bytes(), 0o600))
		top := pprofTool(t, "-top", "-cum", "-unit=ns", out)
		assert.Contains(t, top, want)
		assert.Contains(t, top, "Type: delay")
		raw := pprofTool(t, "-raw", out)
		for _, word := range []string{"PeriodType: " + f.String() + " count", "delay/nanoseconds[dflt]", "weft.lock.name:[OrderBook.lock]"} {
			assert.Contains(t, raw, word, f)
		}
	}
}

func pprofTool(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"tool", "pprof"}, args...)...)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func TestProfileOfAPart(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	events := threadtest.ReportAndMatchers(sym)
	whole := source(t, recorded(t, events, sym))
	part := whole
	p, err := profiles.Read(whole, profiles.Request{})
	require.NoError(t, err)
	middle := time.Unix(0, int64(events[len(events)/2].Time))
	part.Reader = source(t, whole.Path).Reader
	part.Span = replay.Span{To: middle}
	first, err := profiles.Read(part, profiles.Request{})
	require.NoError(t, err)
	assert.Less(t, first.Total().Time, p.Total().Time)
	assert.NotZero(t, first.Total())
}

func TestWhatIsNoRecording(t *testing.T) {
	for text, want := range map[string]string{"": "empty", "hello": "no thread dump in this text", "{}": "JSON"} {
		p, err := profiles.Read(replay.Source{Name: "x", Reader: strings.NewReader(text)}, profiles.Request{})
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want)
		assert.Nil(t, p)
	}
}
