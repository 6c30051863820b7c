// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/threadtest"
)

// began is when simulated recordings begin: a time before 1970 is an error.
const began = jvmthread.Time(1_700_000_000_000_000_000)

// recorded writes a simulated session, and returns its events.
func recorded(t *testing.T, path, format string, seed uint64, actions int) ([]jvmthread.Event, *symbols.Table) {
	t.Helper()
	events, sym := threadtest.Recorded(seed, 3+int(seed%7), 1+int(seed%4), actions)
	for i := range events {
		events[i].Time += began
	}
	f, err := formats.Find(format)
	require.NoError(t, err)
	e := f.NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true})
	text := e.Begin(nil, &recording.Session{ID: jvmthread.SessionID{byte(seed + 1)}, PID: 77})
	var threads []jvmthread.Thread
	for th := range sym.Platform {
		threads = append(threads, th)
	}
	for _, ev := range events {
		th := sym.Thread(ev.Thread)
		if th.Virtual && !slices.ContainsFunc(threads, func(known jvmthread.Thread) bool { return known.ID == th.ID }) {
			threads = append(threads, th)
		}
	}
	for rest := events; len(rest) > 0; {
		n := min(len(rest), 700)
		text = e.Batch(text, &recording.Batch{Threads: threads, Events: rest[:n], Watermark: rest[n-1].Time})
		rest, threads = rest[n:], nil
	}
	text = e.End(text, &recording.End{Time: events[len(events)-1].Time, Reason: "exit"})
	for _, s := range e.Sidecars(true) {
		require.NoError(t, os.WriteFile(formats.SidecarPath(path, s.Extension), s.Text, 0o600))
	}
	_, suffix := formats.CutCompression(path)
	var packed bytes.Buffer
	w, err := formats.Compress(&packed, suffix)
	require.NoError(t, err)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(path, packed.Bytes(), 0o600))
	return events, sym
}

// read returns what a recording contains, with waits completed if a conversion would complete them.
func read(t *testing.T, path string, complete bool) (*threadtest.Collector, *symbols.Table) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close() //nolint:errcheck // was only read
	f, r, free, err := formats.Open(file, "", formats.Limit{})
	require.NoError(t, err)
	defer free()
	sym := symbols.New(symbols.DefaultLimits())
	c := &threadtest.Collector{}
	var sink recording.Sink = c
	if complete {
		sink = recording.CompleteWaits(c)
	}
	d := f.New(recording.Options{File: path, Symbols: sym, Sidecar: formats.Sidecar(path)}, sink)
	_, err = io.Copy(d, r)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	for _, th := range c.Threads {
		sym.SetThread(th)
	}
	require.Empty(t, c.Faults)
	return c, sym
}

// carried lists the events as a format carries them. What the pages of the formats define otherwise is left out: which object a join waits
// for, and the stack of the end of a wait. Triples write a notify once for each thread that it wakes. A wait in triples has the number of
// its thread as its object, which other formats read as a join of the thread itself.
func carried(f *recording.Format, events []jvmthread.Event, sym *symbols.Table) (lines []string) {
	for _, ev := range events {
		ev, ok := threadtest.Carry(&f.Carries, ev)
		switch {
		case !ok:
			continue
		case f.Name == "native":
		case ev.Peer == ev.Thread && ev.Kind == jvmthread.KindJoinStart:
			ev.Kind, ev.Peer = jvmthread.KindWait, jvmthread.NoThread
		case ev.Peer == ev.Thread && ev.Kind == jvmthread.KindJoinEnd:
			ev.Kind, ev.Peer = jvmthread.KindWaitReturned, jvmthread.NoThread
		case f.Name == "triples":
			if ev.Kind == jvmthread.KindNotify || ev.Kind == jvmthread.KindNotifyAll {
				continue
			}
			ev.Time = 0
			if ev.Kind != jvmthread.KindJoinStart {
				ev.Lock = jvmthread.LockID{}
			}
		}
		if f.Name != "native" {
			switch ev.Kind {
			case jvmthread.KindJoinStart, jvmthread.KindJoinEnd:
				ev.Lock, ev.Stack = jvmthread.LockID{}, 0
			case jvmthread.KindWait, jvmthread.KindWaited, jvmthread.KindWaitReturned:
				ev.Lock, ev.Stack = jvmthread.LockID{}, 0
			case jvmthread.KindContendedEntered, jvmthread.KindSleepEnd:
				ev.Stack = 0
			}
		}
		lines = append(lines, threadtest.EventText(ev, sym))
	}
	return lines
}

// withoutObjects leaves time, kind and thread of events; a join may be read as a wait.
func withoutObjects(lines []string) []string {
	for i, line := range lines {
		fields := strings.Fields(line)[:3]
		fields[1] = strings.NewReplacer("joinStart", "wait", "joinEnd", "waitReturned").Replace(fields[1])
		lines[i] = strings.Join(fields, " ")
	}
	return lines
}

// same fails the test at the first difference: recordings are long.
func same(t *testing.T, want, got []string, seed uint64) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		require.Equal(t, want[i], got[i], "seed %d, event %d", seed, i)
	}
	require.Len(t, got, len(want), "seed %d", seed)
}

func TestEachFormatToEachOther(t *testing.T) {
	t.Parallel()
	all := formats.Writable()
	for i := range all {
		for k := range all {
			from, to := &all[i], &all[k]
			t.Run(from.Name+" to "+to.Name, func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(12) {
					dir := t.TempDir()
					packed := []string{"", ".gz", ".zst"}
					in := filepath.Join(dir, "in"+from.Extension+packed[seed%3])
					out := filepath.Join(dir, "out"+to.Extension+packed[seed/3%3])
					recorded(t, in, from.Name, seed, 1500)
					report, err := Convert(t.Context(), Request{In: in, Out: out})
					require.NoError(t, err)
					require.Empty(t, report.Problems)
					source, sourceNames := read(t, in, true)
					got, gotNames := read(t, out, false)
					want, have := carried(to, source.Events, sourceNames), carried(to, got.Events, gotNames)
					require.NotEmpty(t, want)
					if from.Name == "triples" && to.Name == "tptp" { // which knows by its start which object a thread is
						want, have = withoutObjects(want), withoutObjects(have)
					}
					same(t, want, have, seed)
					require.Empty(t, got.Problems)
					assert.Equal(t, uint64(len(source.Events)), report.Events)
					assert.Equal(t, 1, report.Sessions)
					assert.Equal(t, from.Name, report.From)
					assert.Equal(t, to.Name, report.To)
					for id, th := range got.Threads {
						if known := sourceNames.Thread(id); known.Name != "" {
							assert.Equal(t, threadtest.CarryThread(&to.Carries, known).Name, th.Name)
						}
					}
					for _, file := range report.Files {
						assert.FileExists(t, file)
					}
					files, err := os.ReadDir(dir)
					require.NoError(t, err)
					for _, file := range files {
						assert.False(t, strings.HasPrefix(file.Name(), "."), file.Name())
					}
				}
			})
		}
	}
}

// A session without an ID gets the one that the receiver gives it, so that two files are two sessions.
func TestNativeRecordingsOfOtherFormatsHaveIDs(t *testing.T) {
	ids := map[jvmthread.SessionID]bool{}
	for seed := range uint64(3) {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in.orca"), filepath.Join(dir, "out.weft")
		recorded(t, in, "orca", seed, 300)
		_, err := Convert(t.Context(), Request{In: in, Out: out})
		require.NoError(t, err)
		got, _ := read(t, out, false)
		data, err := os.ReadFile(in)
		require.NoError(t, err)
		assert.Equal(t, formats.SessionID(data[:formats.SeedSize], 0), got.Sessions[0].ID)
		ids[got.Sessions[0].ID] = true
		streamed := filepath.Join(dir, "streamed.weft")
		_, err = Convert(t.Context(), Request{In: "-", Out: streamed, Stdin: bytes.NewReader(data)})
		require.NoError(t, err)
		again, _ := read(t, streamed, false)
		assert.Equal(t, got.Sessions[0].ID, again.Sessions[0].ID)
	}
	assert.Len(t, ids, 3)
}

func TestSeveralSessions(t *testing.T) {
	dir := t.TempDir()
	var all []byte
	for seed := range uint64(3) {
		path := filepath.Join(dir, fmt.Sprintf("%d.weft", seed))
		recorded(t, path, "native", seed, 300)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		all = append(all, data...)
	}
	in := filepath.Join(dir, "all.weft")
	require.NoError(t, os.WriteFile(in, all, 0o600))

	for _, suffix := range []string{".orca", ".trcxml", ".triples", ".pftrace"} {
		_, err := Convert(t.Context(), Request{In: in, Out: filepath.Join(dir, "x"+suffix)})
		require.ErrorContains(t, err, "all.weft has several sessions, and a file in format ")
		require.ErrorContains(t, err, "select one with --session NUMBER (1: 01000000000000000000000000000000, 2: 02")
		assert.NoFileExists(t, filepath.Join(dir, "x"+suffix))
	}
	for _, suffix := range []string{".weft", ".json"} {
		report, err := Convert(t.Context(), Request{In: in, Out: filepath.Join(dir, "several"+suffix)})
		require.NoError(t, err)
		assert.Equal(t, 3, report.Sessions)
	}
	whole, _ := read(t, in, false)
	got, _ := read(t, filepath.Join(dir, "several.weft"), false)
	assert.Equal(t, whole.Sessions, got.Sessions)
	assert.Len(t, got.Events, len(whole.Events))
	assert.Equal(t, whole.Ends, got.Ends)

	for _, session := range []string{"2", "0200"} {
		out := filepath.Join(dir, "second-"+session+".orca")
		report, err := Convert(t.Context(), Request{In: in, Out: out, Session: session})
		require.NoError(t, err)
		second, names := read(t, filepath.Join(dir, "1.weft"), false)
		orca, err := formats.Find("orca")
		require.NoError(t, err)
		got, gotNames := read(t, out, false)
		assert.Equal(t, carried(&orca, second.Events, names), carried(&orca, got.Events, gotNames))
		assert.Equal(t, 1, report.Sessions)
	}
	_, err := Convert(t.Context(), Request{In: in, Out: filepath.Join(dir, "x.orca"), Session: "7"})
	require.ErrorContains(t, err, `all.weft has no session "7": it has 1: 01`)
}

func TestReportOfLosses(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.weft"), filepath.Join(dir, "out.orca")
	recorded(t, in, "native", 1, 2000)
	report, err := Convert(t.Context(), Request{In: in, Out: out})
	require.NoError(t, err)
	var text strings.Builder
	require.NoError(t, report.WriteText(&text))
	for _, want := range []string{"in.weft (native) → ", "out.orca, ", "1 session, ", "orca cannot express:\n", "group, daemon"} {
		assert.Contains(t, text.String(), want)
	}
	got, _ := read(t, out, false)
	assert.Equal(t, uint64(len(got.Events)), report.Events-report.Omitted)

	back := filepath.Join(dir, "back.weft")
	report, err = Convert(t.Context(), Request{In: in, Out: back})
	require.NoError(t, err)
	assert.Empty(t, report.CannotExpress)
	assert.Zero(t, report.Omitted)
}

func TestErrorsOfTheRequest(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.weft")
	recorded(t, in, "native", 1, 300)
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, []byte("hello\n"), 0o600))
	for _, test := range []struct {
		req  Request
		want string
	}{
		{Request{In: in, Out: "-"}, "the output must be a file: its name selects the format"},
		{Request{In: in, Out: filepath.Join(dir, "x.csv")}, "x.csv: unknown suffix; use one of .weft, .trcxml, .orca, .triples, .spans.json, "},
		{Request{In: in, Out: filepath.Join(dir, "x"), Format: "csv"}, `unknown format "csv": want one of native, `},
		{Request{In: in, Out: filepath.Join(dir, "x"), Format: "jfr"}, "format jfr can only be read: want one of native, "},
		{Request{In: in, Out: in}, "in.weft exists; use another name, or replace it with --force"},
		{Request{In: in, Out: dir, Format: "native"}, "is not a regular file; use another name"},
		{Request{In: in, Out: filepath.Join(dir, "none", "x.weft")}, "x.weft: no such file or directory"},
		{Request{In: in + "x", Out: filepath.Join(dir, "x.weft")}, "in.weftx: no such file or directory"},
		{Request{In: t.TempDir(), Out: filepath.Join(dir, "x.weft")}, "has no recording and no thread dump: it is empty"},
		{Request{In: empty, Out: filepath.Join(dir, "x.weft")}, "empty: the recording is empty"},
		{Request{In: text, Out: filepath.Join(dir, "x.weft")}, "text (byte 0): no thread dump in this text; want the output of jstack, "},
		{Request{In: "-", Out: filepath.Join(dir, "x.weft")}, "standard input is closed; give the path of a recording"},
		{Request{In: in, Out: filepath.Join(dir, "x.meta"), Format: "orca"}, "use a suffix other than .meta"},
	} {
		_, err := Convert(t.Context(), test.req)
		require.ErrorContains(t, err, test.want)
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 3)
}

func TestOverwrite(t *testing.T) {
	dir := t.TempDir()
	in, out, link := filepath.Join(dir, "in.weft"), filepath.Join(dir, "out.orca"), filepath.Join(dir, "link.orca")
	recorded(t, in, "native", 1, 300)
	require.NoError(t, os.WriteFile(out, []byte("before"), 0o600))
	require.NoError(t, os.Symlink(out, link))
	_, err := Convert(t.Context(), Request{In: in, Out: link})
	require.ErrorContains(t, err, "--force")
	content, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, "before", string(content))
	_, err = Convert(t.Context(), Request{In: in, Out: link, Overwrite: true})
	require.NoError(t, err)
	target, err := os.Readlink(link)
	require.NoError(t, err, "the link remains")
	assert.Equal(t, out, target)
	content, err = os.ReadFile(out)
	require.NoError(t, err)
	assert.NotEqual(t, "before", string(content))

	// The files that accompany a log are not replaced either.
	require.NoError(t, os.Remove(out))
	_, err = Convert(t.Context(), Request{In: in, Out: out})
	require.ErrorContains(t, err, "out.classtable exists")
	assert.NoFileExists(t, out)
	_, err = Convert(t.Context(), Request{In: in, Out: in, Overwrite: true})
	require.NoError(t, err, "in place")
}

// hostile clears a terminal, reorders its line, and begins a new one.
const hostile = "x\x1b[2J\u009b2J\u202e\r\nFORGED"

func TestHostileNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), hostile)
	require.NoError(t, os.Mkdir(dir, 0o700))
	in, out := filepath.Join(dir, hostile+".weft"), filepath.Join(dir, hostile+".trcxml")
	recorded(t, in, "native", 1, 300)
	data, err := os.ReadFile(in)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(in, data[:len(data)-7], 0o600))
	report, err := Convert(t.Context(), Request{In: in, Out: out})
	require.NoError(t, err)
	require.NotEmpty(t, report.Problems)
	var text strings.Builder
	require.NoError(t, report.WriteText(&text))
	_, failed := Convert(t.Context(), Request{In: in, Out: out})
	require.Error(t, failed)
	_, unknown := Convert(t.Context(), Request{In: in, Out: out + hostile})
	require.Error(t, unknown)
	for line := range strings.Lines(text.String() + errors.Join(failed, unknown).Error()) {
		assert.Equal(t, -1, strings.IndexAny(line, "\x1b\u009b\u202e\r"), "%q", line)
		assert.False(t, strings.HasPrefix(line, "FORGED"))
	}
}
