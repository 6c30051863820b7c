// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadlogexporter

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap/confmaptest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/golden"
)

// TestCases runs testdata/cases: each folder is a case. It has the exporter's config.yaml, one history per session (1.test, 2.test, …),
// and in want the files that the exporter writes; native recordings are dumped as text.
//
// A history starts with a description. Its batches follow in the order in which they arrive, as sections named "batch NUMBER",
// "batch NUMBER again" (a repetition), "batch NUMBER lost" (it does not arrive), or "batch NUMBER REASON" (the session ends with it).
// Events are those of threadtest.Parse; locks are named by their class.
func TestCases(t *testing.T) {
	folders, err := filepath.Glob("testdata/cases/*")
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) { runCase(t, folder) })
	}
}

func runCase(t *testing.T, folder string) {
	t.Helper()
	conf, err := confmaptest.LoadConf(filepath.Join(folder, "config.yaml"))
	require.NoError(t, err)
	r := start(t, func(c *Config) { require.NoError(t, conf.Unmarshal(c)) })
	histories, err := filepath.Glob(filepath.Join(folder, "*.test"))
	require.NoError(t, err)
	require.NotEmpty(t, histories)
	for i, path := range histories {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, td := range requests(t, jvmthread.SessionID{byte(i + 1)}, string(text)) {
			require.NoError(t, r.ConsumeTraces(t.Context(), td), path)
		}
	}
	r.stop(t)
	got := make(map[string]string)
	for _, name := range r.files(t) {
		data, err := os.ReadFile(filepath.Join(r.dir, name))
		require.NoError(t, err)
		if strings.HasSuffix(name, ".weft") {
			name, data = name+".txt", dumpNative(t, data)
		}
		got[name] = string(data)
	}
	compare(t, filepath.Join(folder, "want"), got)
}

// compare compares the files of a folder, by name, or replaces them.
func compare(t *testing.T, folder string, got map[string]string) {
	t.Helper()
	if golden.Updating() {
		require.NoError(t, os.RemoveAll(folder))
		require.NoError(t, os.MkdirAll(folder, 0o755))
		for name, text := range got {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
		}
	}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	want := make(map[string]string)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		require.NoError(t, err)
		want[e.Name()] = string(text)
	}
	assert.Empty(t, cmp.Diff(want, got), "rewrite with go test -update")
}

// requests returns the batches of a history as the receiver sends them.
func requests(t *testing.T, id jvmthread.SessionID, text string) (all []ptrace.Traces) {
	t.Helper()
	names, bodies := golden.Sections(text)
	byNumber := make(map[uint64]string)
	for _, name := range names[1:] {
		number, _ := batchOf(t, name)
		byNumber[number] = bodies[name]
	}
	events, sym := parseBatches(t, byNumber)
	for _, name := range names[1:] {
		number, end := batchOf(t, name)
		switch end {
		case "lost":
			continue
		case "again":
			end = ""
		}
		before := uint64(0)
		for n := range events {
			if n < number {
				before += uint64(len(events[n]))
			}
		}
		all = append(all, carriers(id, number, before, events[number], sym, end))
	}
	return all
}

func batchOf(t *testing.T, name string) (number uint64, end string) {
	t.Helper()
	fields := strings.Fields(name)
	require.GreaterOrEqual(t, len(fields), 2, name)
	require.Equal(t, "batch", fields[0], name)
	number, err := strconv.ParseUint(fields[1], 10, 64)
	require.NoError(t, err, name)
	return number, strings.Join(fields[2:], " ")
}

// parseBatches parses the events of a session, by number of the batch.
func parseBatches(t *testing.T, bodies map[uint64]string) (map[uint64][]jvmthread.Event, *symbols.Table) {
	t.Helper()
	sym := symbols.New(symbols.DefaultLimits())
	sym.InternStack("at com.acme.OrderBook.match(OrderBook.java:42)\nat com.acme.Main.main(Main.java:7)")
	numbers := slices.Sorted(maps.Keys(bodies))
	var all strings.Builder
	for _, number := range numbers {
		all.WriteString(bodies[number])
	}
	text := all.String()
	h, err := threadtest.Parse(text)
	require.NoError(t, err)
	for word := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "lock":
			require.Equal(t, h.Lock(value).Class, sym.InternClass(value))
		case "owner", "target":
			sym.SetThread(jvmthread.Thread{ID: h.Thread(value), Name: value})
		}
	}
	for line := range strings.Lines(text) {
		name := strings.Fields(line)[1]
		sym.SetThread(jvmthread.Thread{ID: h.Thread(name), Name: name})
	}
	events := make(map[uint64][]jvmthread.Event)
	for _, number := range numbers {
		n := strings.Count(bodies[number], "\n")
		events[number], h.Events = h.Events[:n], h.Events[n:]
	}
	return events, sym
}

// dumpNative returns a native recording as text.
func dumpNative(t *testing.T, data []byte) []byte {
	t.Helper()
	d := &dump{symbols: symbols.New(symbols.DefaultLimits())}
	decoder := native.NewDecoder(recording.Options{Symbols: d.symbols}, d)
	_, err := decoder.Write(data)
	require.NoError(t, err)
	require.NoError(t, decoder.Close())
	return d.Bytes()
}

// dump is the recording.Sink that prints what it gets.
type dump struct {
	bytes.Buffer

	symbols *symbols.Table
}

func (d *dump) Session(s *recording.Session) error {
	fmt.Fprintf(d, "session %v pid=%d\n", s.ID, s.PID)
	for _, a := range s.Attributes {
		fmt.Fprintf(d, "  %s=%s\n", a.Key, a.Value)
	}
	return nil
}

func (d *dump) Batch(b *recording.Batch) error {
	fmt.Fprintf(d, "batch watermark=%d lost=%d\n", b.Watermark, b.Lost)
	for _, th := range b.Threads {
		fmt.Fprintf(d, "  thread %d %q\n", th.ID, th.Name)
	}
	for i := range b.Events {
		fmt.Fprintf(d, "  %s\n", threadtest.EventText(b.Events[i], d.symbols))
	}
	return nil
}

func (*dump) Problem(p recording.Problem) error { return p }

func (d *dump) End(e recording.End) error {
	fmt.Fprintf(d, "end %d %s\n", e.Time, e.Reason)
	return nil
}
