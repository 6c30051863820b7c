// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package jfr

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// printed is an event in the output of jfr print --json.
type printed struct {
	Type   string
	Values struct {
		StartTime    time.Time
		Duration     string
		EventThread  *printedThread
		MonitorClass *printedClass
		ParkedClass  *printedClass
	}
}

type (
	printedThread struct{ JavaThreadID int64 }
	printedClass  struct{ Name string }
)

// printCommand runs the tool of the newest JDK, which reads recordings of older ones.
func printCommand(file string) *exec.Cmd {
	jdks := findJDKs()
	return exec.Command(filepath.Join(jdks[len(jdks)-1].home, "bin", "jfr"), "print", "--json", "--stack-depth", "1", "--events",
		"jdk.JavaMonitorEnter,jdk.JavaMonitorWait,jdk.ThreadPark,jdk.ThreadSleep", file)
}

// TestDurationsMatchJFRPrint compares each duration with the output of jfr print, in order, for each kind of event and thread.
func TestDurationsMatchJFRPrint(t *testing.T) {
	t.Parallel()
	kinds := map[string][2]jvmthread.Kind{
		"jdk.JavaMonitorEnter": {jvmthread.KindContendedEnter, jvmthread.KindContendedEntered},
		"jdk.JavaMonitorWait":  {jvmthread.KindWait, jvmthread.KindWaited},
		"jdk.ThreadPark":       {jvmthread.KindPark, jvmthread.KindUnparked},
		"jdk.ThreadSleep":      {jvmthread.KindSleepStart, jvmthread.KindSleepEnd},
	}
	onEachJDK(t, func(t *testing.T, j jdk) {
		t.Helper()
		file, _ := makeRecording(t, j, "10", "3")
		out, err := printCommand(file).Output()
		require.NoError(t, err)
		var whole struct{ Recording struct{ Events []printed } }
		require.NoError(t, json.Unmarshal(out, &whole))
		c := readFile(t, file)
		total := 0
		var apart []int64 // our times minus theirs
		for name, kind := range kinds {
			for thread := range c.threads {
				want := printedOf(t, whole.Recording.Events, name, int64(thread))
				begins := c.of(int64(thread), kind[0], jvmthread.KindJoinStart)
				ends := c.of(int64(thread), kind[1])
				if kind[0] != jvmthread.KindWait {
					begins = c.of(int64(thread), kind[0])
				}
				require.Len(t, begins, len(want), "%s of %s", name, c.threads[thread].Name)
				require.Len(t, ends, len(want))
				for i := range want {
					assert.Equal(t, want[i].duration, ends[i].Time.Sub(begins[i].Time), "%s %d of %s", name, i, c.threads[thread].Name)
					assert.Equal(t, want[i].class, c.symbols.Class(begins[i].Lock.Class))
					apart = append(apart, int64(begins[i].Time)-want[i].start.UnixNano())
					total++
				}
			}
		}
		assert.Greater(t, total, 100)
		assert.Equal(t, len(whole.Recording.Events), total, "jfr print has no other events")
		slices.Sort(apart)
		const rounding = 1000 // nanoseconds
		apart = slices.CompactFunc(apart, func(a, b int64) bool { return b-a < rounding })
		assert.LessOrEqual(t, len(apart), 3, "one offset per chunk, since each has its own wall clock and ours follows the first")
		assert.True(t, slices.ContainsFunc(apart, func(a int64) bool { return max(a, -a) < rounding }), "one chunk has the wall clock of the first: %v", apart)
	})
}

type span struct {
	start    time.Time
	duration time.Duration
	class    string
}

func printedOf(t *testing.T, events []printed, name string, thread int64) (list []span) {
	t.Helper()
	for i := range events {
		v := &events[i].Values
		if events[i].Type != name || v.EventThread == nil || v.EventThread.JavaThreadID != thread {
			continue
		}
		s := span{start: v.StartTime, duration: parseISO(t, v.Duration)}
		for _, class := range []*printedClass{v.MonitorClass, v.ParkedClass} {
			if class != nil {
				s.class = strings.ReplaceAll(class.Name, "/", ".")
			}
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.start.UnixNano(), b.start.UnixNano()) })
	return list
}

var iso = regexp.MustCompile(`^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?$`)

// parseISO parses a duration such as PT1M0.000001142S exactly.
func parseISO(t *testing.T, text string) time.Duration {
	t.Helper()
	m := iso.FindStringSubmatch(text)
	require.NotNil(t, m, text)
	number := func(digits string) time.Duration {
		n, _ := strconv.ParseInt("0"+digits, 10, 64)
		return time.Duration(n)
	}
	return number(m[1])*time.Hour + number(m[2])*time.Minute + number(m[3])*time.Second + number((m[4] + "000000000")[:9])
}

// BenchmarkRead reads a recording of a busy program. times/jfr is the factor by which jfr print --json is slower on the same file.
func BenchmarkRead(b *testing.B) {
	jdks := findJDKs()
	if len(jdks) == 0 {
		b.Skip("NOTHING WAS MEASURED: no javac on the path; install a JDK")
	}
	j := jdks[len(jdks)-1]
	file, _ := makeRecording(b, j, "1", "1", "300000")
	begin := time.Now()
	require.NoError(b, exec.Command(filepath.Join(j.home, "bin", "jfr"), "print", "--json", file).Run())
	theirs := time.Since(begin)
	f, err := os.Open(file)
	require.NoError(b, err)
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	require.NoError(b, err)
	b.SetBytes(info.Size())
	b.ReportAllocs()
	var events uint64
	for b.Loop() {
		_, err := f.Seek(0, io.SeekStart)
		require.NoError(b, err)
		d := NewDecoder(recording.Options{}, nothing{})
		_, err = io.Copy(d, f)
		require.NoError(b, err)
		require.NoError(b, d.Close())
		events += d.Stats().Events
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(theirs.Seconds()/(b.Elapsed().Seconds()/float64(b.N)), "times/jfr")
}
