// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
)

var stressFor = flag.Duration("stress", 3*time.Second, "how long TestStress runs on each JDK and garbage collector")

// TestStress has threads wait in every way at random, with a small heap, on each garbage collector, and with options that are off by default: the
// program's own checks pass, it runs for the requested time, and the spans are consistent and show the option.
func TestStress(t *testing.T) {
	oldest, newest := jdks[0], jdks[len(jdks)-1]
	consistent := func(t *testing.T, c *collector) {
		o := c.finish(t, "stress")
		require.NotEmpty(t, o.Roots("stress"))
		spantest.CheckStructure(t, o)
	}
	shows := func(is func(*span) bool) func(*testing.T, *collector) {
		return func(t *testing.T, c *collector) {
			consistent(t, c)
			assert.NotEmpty(t, c.spans(t).Of("stress", is))
		}
	}
	for _, test := range []struct {
		gc, options string
		on          []jdk
		more        []string // configurations of the collector
		check       func(*testing.T, *collector)
	}{
		{gc: "Serial", on: jdks, check: consistent},
		{gc: "Parallel", on: jdks, check: consistent},
		{gc: "G1", on: jdks, check: consistent},
		{gc: "Z", on: jdks, check: consistent},
		{gc: "Shenandoah", on: jdks, check: consistent},
		{gc: "G1", options: "owner-stacks=on", on: []jdk{newest}, check: shows(func(s *span) bool { return s.Text("weft.lock.owner.stacktrace") != "" })},
		{gc: "Parallel", options: "cpu=on", on: []jdk{oldest}, check: shows(func(s *span) bool { return s.Number("weft.cpu.time") > 0 })},
		{gc: "Z", options: "mounts=on", on: []jdk{newest}, check: shows(func(s *span) bool { return s.Has("weft.thread.carrier") })},
		{gc: "Serial", options: "mode=aggregated,interval=100ms", on: []jdk{oldest}, more: rawToo, check: checkReports},
	} {
		for _, j := range test.on {
			t.Run(fmt.Sprint(j, " ", test.gc, " ", test.options), func(t *testing.T) {
				bin := filepath.Join(j.Home, "bin", "java")
				flags := []string{"-XX:+Use" + test.gc + "GC", "-Xmx64m", "-Xcheck:jni", "-Dvirtual=" + strconv.FormatBool(test.options == "mounts=on")}
				if start(t, nil, bin, append(flags, "-version")...).wait(t) != 0 {
					t.Skipf("%v was built without %sGC", j, test.gc)
				}
				c := startCollector(t, setup{more: test.more})
				agent := strings.TrimSuffix("-agentpath:"+built("libweft.so")+"=endpoint="+c.endpoint+",service=stress"+everything+","+test.options, ",")
				command := slices.Concat([]string{agent, "-cp", classes}, flags, []string{"Stress", strconv.Itoa(int(stressFor.Seconds()))})
				jvm := start(t, nil, bin, command...)
				require.True(t, jvm.within(*stressFor+patience), "the program ends")
				assert.Equal(t, outcome{0, []string{`{"stress":"held"}`}, nil}, jvm.outcome(t))
				test.check(t, c)
			})
		}
	}
}

// rawToo has a collector also write what its receiver delivers.
var rawToo = []string{
	"yaml:exporters::file/raw::path: ${env:WEFT_OUT}/raw.json",
	"yaml:service::pipelines::traces/raw::receivers: [jvm_thread]",
	"yaml:service::pipelines::traces/raw::exporters: [file/raw]",
}

// checkReports checks those of an agent in aggregated mode: they follow each other without a gap, and each series is consistent.
func checkReports(t *testing.T, c *collector) {
	poll(t, "the session ended", func() bool { return strings.Contains(strings.Join(c.errLines(), ""), "Session ended") })
	c.terminate(t)

	var reports []jvmthread.Aggregate
	for _, s := range spantest.Read(t, filepath.Join(c.out, "raw.json")).Of("stress", func(*span) bool { return true }) {
		carrier := new(threadpdata.Carrier)
		require.NoError(t, threadpdata.Parse(s.Span, symbols.New(symbols.DefaultLimits()), carrier))
		if carrier.Aggregate != nil {
			reports = append(reports, *carrier.Aggregate)
		}
	}
	slices.SortStableFunc(reports, func(a, b jvmthread.Aggregate) int { return cmp.Compare(a.To, b.To) })
	require.Greater(t, len(reports), 1)
	waits := map[jvmthread.Kind]uint64{}
	for i, report := range reports {
		if i > 0 && reports[i-1].To != report.To {
			assert.Equal(t, reports[i-1].To, report.From, "report %d", i)
		}
		for j := range report.Series {
			series := &report.Series[j]
			count := series.Count()
			assert.Positive(t, count)
			assert.True(t, series.Max <= series.Sum && series.Sum <= int64(count)*series.Max, "%d waits of at most %d ns took %d ns", count, series.Max, series.Sum)
			waits[series.Kind] += count
		}
	}
	t.Logf("%d reports of %v", len(reports), waits)
	for kind := range jvmthread.NumKinds {
		if kind := jvmthread.Kind(kind); kind.IsWait() {
			assert.Positive(t, waits[kind], kind)
		}
	}
	assert.Equal(t, waits[jvmthread.KindWait]+waits[jvmthread.KindJoinStart], waits[jvmthread.KindWaited], "each wait is followed by a return")
	assert.Empty(t, c.spans(t).Of("stress", (*span).IsState), "no spans of states")
}
