// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"flag"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

var stressFor = flag.Duration("stress", 3*time.Second, "how long TestStress runs on each JDK and garbage collector")

// TestStress has threads wait in every way at random, with a small heap, on each garbage collector: the program's own checks pass, it runs
// for the requested time, and the spans are consistent.
func TestStress(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		for _, gc := range []string{"Serial", "Parallel", "G1", "Z", "Shenandoah"} {
			t.Run(gc, func(t *testing.T) {
				flags := []string{"-XX:+Use" + gc + "GC", "-Xmx64m", "-Xcheck:jni"}
				bin := filepath.Join(j.home, "bin", "java")
				if start(t, nil, bin, append(flags, "-version")...).wait(t) != 0 {
					t.Skipf("%v was built without %sGC", j, gc)
				}
				o := stress(t, j, *stressFor, "", append(flags, "Stress")...)
				require.NotEmpty(t, o.roots("stress"))
				checkStructure(t, o)
			})
		}
	})
}

// stress runs Stress with options of the agent and returns the collector's spans. The command is JVM flags and the class.
func stress(t *testing.T, j jdk, lasts time.Duration, options string, command ...string) *output {
	t.Helper()
	c := startCollector(t, setup{})
	runStress(t, j, c.endpoint, lasts, options, command...)
	return c.finish(t, "stress")
}

func runStress(t *testing.T, j jdk, endpoint string, lasts time.Duration, options string, command ...string) {
	t.Helper()
	agent := strings.TrimSuffix("-agentpath:"+built("libweft.so")+"=endpoint="+endpoint+",service=stress"+everything+","+options, ",")
	command = append(command, strconv.Itoa(int(lasts.Seconds())))
	jvm := start(t, nil, filepath.Join(j.home, "bin", "java"), append([]string{agent, "-cp", classes}, command...)...)
	select {
	case <-jvm.exited:
	case <-time.After(lasts + patience):
		t.Fatal("the program hangs")
	}
	assert.Equal(t, outcome{0, []string{`{"stress":"held"}`}, nil}, jvm.outcome(t))
}

// TestStressWithOptions repeats it with options that are off by default, each on one garbage collector, and checks their effect.
func TestStressWithOptions(t *testing.T) {
	oldest, newest := jdks[0], jdks[len(jdks)-1]
	for _, test := range []struct {
		options string
		j       jdk
		flags   []string
		shown   func(*span) bool
	}{
		{"owner-stacks=on", newest, []string{"-XX:+UseG1GC"}, func(s *span) bool { return s.text("weft.lock.owner.stacktrace") != "" }},
		{"cpu=on", oldest, []string{"-XX:+UseParallelGC"}, func(s *span) bool { return s.number("weft.cpu.time") > 0 }},
		{"mounts=on", newest, []string{"-XX:+UseZGC", "-Dvirtual=true"}, func(s *span) bool { return s.has("weft.thread.carrier") }},
	} {
		t.Run(test.options, func(t *testing.T) {
			o := stress(t, test.j, 2*time.Second, test.options, append(test.flags, "-Xmx64m", "-Xcheck:jni", "Stress")...)
			checkStructure(t, o)
			assert.NotEmpty(t, o.of("stress", test.shown))
		})
	}
}

// TestStressAggregated repeats it in aggregated mode: reports follow each other without a gap, and each series is consistent.
func TestStressAggregated(t *testing.T) {
	const lasts = 2 * time.Second
	c := startCollector(t, setup{more: []string{
		"yaml:exporters::file/raw::path: ${env:WEFT_OUT}/raw.json",
		"yaml:service::pipelines::traces/raw::receivers: [jvm_thread]",
		"yaml:service::pipelines::traces/raw::exporters: [file/raw]",
	}})
	runStress(t, jdks[0], c.endpoint, lasts, "mode=aggregated,interval=100ms", "-XX:+UseSerialGC", "-Xmx64m", "-Xcheck:jni", "Stress")
	poll(t, "the session ended", func() bool { return strings.Contains(strings.Join(c.errLines(), ""), "Session ended") })
	c.terminate(t)

	raw := readSpans(t, filepath.Join(c.out, "raw.json"))
	reports := raw.of("stress", func(s *span) bool { return s.has("weft.aggregate.to") })
	slices.SortStableFunc(reports, func(a, b *span) int {
		return cmp.Compare(a.number("weft.aggregate.to"), b.number("weft.aggregate.to"))
	})
	require.Greater(t, len(reports), 1)
	waits := map[string]int64{}
	for i, report := range reports {
		if i > 0 && reports[i-1].number("weft.aggregate.to") != report.number("weft.aggregate.to") {
			assert.Equal(t, reports[i-1].number("weft.aggregate.to"), report.number("weft.aggregate.from"), "report %d", i)
		}
		for _, series := range report.Events().All() {
			if kind, ok := series.Attributes().Get("weft.aggregate.kind"); ok {
				waits[kind.Str()] += checkSeries(t, series.Attributes())
			}
		}
	}
	t.Logf("%d reports of %v", len(reports), waits)
	for _, kind := range []string{"contendedEnter", "wait", "waited", "joinStart", "sleepStart", "park"} {
		assert.Positive(t, waits[kind], kind)
	}
	assert.Equal(t, waits["wait"]+waits["joinStart"], waits["waited"], "each wait is followed by a return")
	assert.Empty(t, c.spans(t).of("stress", (*span).isState), "no spans of states")
}

// checkSeries returns the number of waits of a series, and checks that its sum fits its maximum and its buckets.
func checkSeries(t *testing.T, series pcommon.Map) (count int64) {
	t.Helper()
	count = number(series, "weft.aggregate.zero")
	if buckets, ok := series.Get("weft.aggregate.buckets"); ok {
		for _, bucket := range buckets.Slice().All() {
			count += bucket.Int()
		}
	}
	sum, longest := number(series, "weft.aggregate.sum"), number(series, "weft.aggregate.max")
	assert.Positive(t, count)
	assert.True(t, longest <= sum && sum <= count*longest, "%d waits of at most %d ns took %d ns", count, longest, sum)
	return count
}
