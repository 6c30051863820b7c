// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump_test

import (
	"fmt"
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
	"github.com/weft-otel/weft/internal/recording/dump"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/golden"
)

var format = dump.Format()

// decoded is what a decoder passes on.
type decoded struct {
	*threadtest.Collector

	symbols *symbols.Table
}

// decode reads files as one recording.
func decode(t *testing.T, files ...[]byte) decoded {
	t.Helper()
	d := decoded{&threadtest.Collector{}, symbols.New(symbols.DefaultLimits())}
	decoder, ok := format.New(recording.Options{File: "0.txt", Symbols: d.symbols}, d).(recording.Joiner)
	require.True(t, ok)
	for i, text := range files {
		if i > 0 {
			require.NoError(t, decoder.Next(fmt.Sprintf("%d.txt", i)))
		}
		_, err := decoder.Write(text)
		require.NoError(t, err)
	}
	require.NoError(t, decoder.Close())
	threadtest.CheckDecoded(t, "dumps", d.Collector, decoder.Stats(), nil)
	return d
}

func read(t *testing.T, names ...string) (files [][]byte) {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		files = append(files, text)
	}
	return files
}

// lines shows sessions, threads and events, one a line.
func (d decoded) lines() (out []string) {
	for i, s := range d.Sessions {
		out = append(out, fmt.Sprintf("session pid=%d %q dumps=%d end=%d", s.PID, s.Attributes, s.Dumps, d.Ends[i].Time))
	}
	for _, ev := range d.Events {
		out = append(out, d.line(ev))
	}
	for _, p := range d.Problems {
		out = append(out, p.Error())
	}
	return out
}

func (d decoded) line(ev jvmthread.Event) string {
	th := d.Threads[ev.Thread]
	line := fmt.Sprintf("%d %s %s", ev.Time, th.Name, ev.Kind)
	if ev.Flags&jvmthread.FlagVirtual != 0 {
		line += " virtual"
	}
	if !ev.Lock.IsZero() {
		line += fmt.Sprintf(" %s#%d", d.symbols.Class(ev.Lock.Class), ev.Lock.Hash)
	}
	if ev.Peer != jvmthread.NoThread {
		line += " of " + d.Threads[ev.Peer].Name
	}
	if ev.Arg != 0 {
		line += fmt.Sprintf(" %d", ev.Arg)
	}
	if stack := d.symbols.Stack(ev.Stack); stack != "" {
		line += fmt.Sprintf(" %s (%d frames)", strings.SplitN(stack, "\n", 2)[0], strings.Count(stack, "\n")+1)
	}
	return line
}

// of returns the lines about the events of a thread, without CPU times.
func (d decoded) of(name string) (out []string) {
	for _, ev := range d.Events {
		if d.Threads[ev.Thread].Name == name && ev.Kind != jvmthread.KindCPU {
			out = append(out, d.line(ev))
		}
	}
	return out
}

func TestFiles(t *testing.T) { golden.Each(t, "testdata/*.golden", compareFiles) }

// compareFiles compares what the files say whose names begin like that of a golden file.
func compareFiles(t *testing.T, file string) {
	t.Helper()
	files, err := filepath.Glob(strings.TrimSuffix(file, ".golden") + "*.*")
	require.NoError(t, err)
	files = slices.DeleteFunc(files, func(f string) bool { return filepath.Ext(f) == ".golden" })
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	golden.Compare(t, file, strings.Join(decode(t, read(t, files...)...).lines(), "\n")+"\n")
}

const (
	second = jvmthread.Time(1e9)
	first  = 1784905200 * second // 2026-07-24 15:00:00
)

// shot is a dump of two threads, with what the first one does.
func shot(at, body string) string {
	return at + "\nFull thread dump OpenJDK 64-Bit Server VM (17.0.1+12 mixed mode):\n\n" + body + "\nJNI global refs: 3, weak refs: 0\n\n"
}

const (
	asleep = `"a "x" b" #7 daemon prio=5 os_prio=0 tid=0x00007f01 nid=0x1 waiting on condition  [0x00007f]` + "\n" +
		"   java.lang.Thread.State: TIMED_WAITING (sleeping)\n\tat java.lang.Thread.sleep(java.base@17.0.1/Native Method)\n\tat shop.A.b(A.java:3)\n"
	runs = `"a "x" b" #7 daemon prio=5 os_prio=0 tid=0x00007f01 nid=0x1 runnable  [0x00007f]` + "\n" +
		"   java.lang.Thread.State: RUNNABLE\n\tat shop.A.b(A.java:4)\n"
)

func TestStatesLastFromDumpToDump(t *testing.T) {
	d := decode(t, []byte(shot("2026-07-24 15:00:00", asleep)), []byte(shot("2026-07-24 15:00:10", asleep)), []byte(shot("2026-07-24 15:00:20", runs)),
		[]byte(shot("2026-07-24 15:00:30", "")), []byte(shot("2026-07-24 15:00:40", runs)))
	const name = `a "x" b`
	assert.Equal(t, []string{
		fmt.Sprintf("%d %s sleepStart at java.lang.Thread.sleep(Native Method) (2 frames)", first, name),
		fmt.Sprintf("%d %s gap", first+10*second+1, name),
		fmt.Sprintf("%d %s threadStart", first+20*second, name),
		fmt.Sprintf("%d %s running at shop.A.b(A.java:4) (1 frames)", first+20*second, name),
	}, d.of(name)[:4])
	require.Len(t, d.Sessions, 1)
	assert.Equal(t, []jvmthread.Time{first, first + 10*second, first + 20*second, first + 40*second}, d.Sessions[0].Dumps)
	assert.Equal(t, []recording.End{{Time: first + 40*second + 1, Reason: "detached"}}, d.Ends)
}
