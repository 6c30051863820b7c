// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/spantest"
)

// convoy is a run of one program with a kind of lock.
type convoy struct {
	kind, class, lock string           // of the lock: its class, and its name in the source
	took              map[string]int64 // by thread
	headline          string
	row               lockRow
	path              []segment
	lane              string  // thread of the path
	saved             int64   // prediction for the thread of the path
	excess            float64 // of saved over what was measured, as a part of it
}

type segment struct {
	thread, kind string
	time         time.Duration
}

func (s segment) String() string { return fmt.Sprintf("%s %s", s.thread, s.kind) }

type lockRow struct {
	Class       string `json:"class"`
	Contentions int64  `json:"contentions"`
	Handoffs    int64  `json:"handoffs"`
	Waiters     int64  `json:"waiters"`
	Holds       int64  `json:"holds"`
	Blocked     int64  `json:"blocked_time"`
	BlockedMax  int64  `json:"blocked_max"`
	Held        int64  `json:"held_time"`
	HeldMax     int64  `json:"held_max"`
}

func (r *lockRow) counts() string {
	return fmt.Sprintf("%d contentions, %d handoffs, %d waiters, %d holds", r.Contentions, r.Handoffs, r.Waiters, r.Holds)
}

// pathOf selects the thread of the critical path: the default, or main.
var pathOf = map[string][]string{
	"longest": nil,
	"main":    {"critical_path::thread: ^main$"},
}

// TestMonitorAndLockAreEqual runs one program with a monitor, with a ReentrantLock and without a lock. The first two must look the same but
// for the lock's name, and the predicted gain must be the difference to the third.
func TestMonitorAndLockAreEqual(t *testing.T) {
	gaps := readGaps(t, "testdata/convoy-gaps.txt")
	onEachJDK(t, func(t *testing.T, j jdk) {
		var without map[string]int64
		p := start(t, nil, filepath.Join(j.home, "bin", "java"), "-cp", classes, "Convoy", "none")
		require.Equal(t, 0, p.wait(t))
		p.truth(t, &without)
		for _, whose := range []string{"longest", "main"} {
			monitor := convoy{kind: "monitor", class: "Convoy$Monitor", lock: "Convoy.monitor"}
			lock := convoy{kind: "lock", class: "java.util.concurrent.locks.ReentrantLock$NonfairSync", lock: "Convoy.lock"}
			for _, c := range []*convoy{&monitor, &lock} {
				c.run(t, j, pathOf[whose])
				c.check(t, gaps, source{"agent", j.major}, whose, without)
			}
			compareConvoys(t, gaps, gap{source{"agent", j.major}.String(), "equal-" + whose, ""}, &monitor, &lock)
		}
	})
}

// run runs the program and reads the results.
func (c *convoy) run(t *testing.T, j jdk, engine []string) {
	t.Helper()
	s := wholeRun
	s.engine = slices.Concat(s.engine, engine)
	collector := startCollector(t, s)
	runJava(t, j, collector.endpoint, "Convoy", &c.took, "Convoy", c.kind)
	o := collector.finish(t, "Convoy")
	c.summary(t, filepath.Join(collector.out, "spans.json"))
	for _, lane := range o.Of("Convoy", func(s *span) bool { return s.Name() == "critical path" }) {
		c.lane = lane.Text("weft.critical_path.thread.name")
		for _, s := range o.Of("Convoy", func(s *span) bool { return s.Parent() == lane.ID() }) {
			next := segment{s.Text("weft.critical_path.thread.name"), s.Text("weft.critical_path.kind"), time.Duration(s.Number("weft.interval.time"))}
			c.path = append(c.path, next)
		}
	}
	for _, root := range o.Roots("Convoy") {
		for _, event := range root.Events().All() {
			if class, _ := event.Attributes().Get("weft.lock.class"); event.Name() == "weft.lock" && class.AsString() == c.class {
				c.saved += spantest.Number(event.Attributes(), "weft.what_if.saved")
			}
		}
	}
	t.Logf("%v, %s: %s\n%s: %v\nsaves %v", j, c.kind, c.headline, c.row.counts(), c.path, time.Duration(c.saved))
}

// summary reads the first line and the lock's row of weft summary, and what the path's thread would have saved.
func (c *convoy) summary(t *testing.T, file string) {
	t.Helper()
	text, err := exec.Command(built("weft"), "summary", file).Output()
	require.NoError(t, err)
	c.headline, _, _ = strings.Cut(string(text), "\n")
	var all struct {
		Locks []lockRow `json:"locks"`
	}
	out, err := exec.Command(built("weft"), "summary", "--format", "json", file).Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &all))
	for _, row := range all.Locks {
		if row.Class == c.class {
			c.row = row
		}
	}
}

const (
	convoyMatchers = 8
	convoyReport   = 600 * time.Millisecond // at least
	convoyMatch    = 60 * time.Millisecond
)

// check compares one run with what the program knows.
func (c *convoy) check(t *testing.T, gaps *gapList, from source, whose string, without map[string]int64) {
	t.Helper()
	check := func(aspect string, ok bool, details string) {
		t.Helper()
		gaps.check(t, gap{from.String(), c.kind + "-" + whose, aspect}, ok, details)
	}
	var blocked int64
	for thread, took := range c.took {
		if strings.HasPrefix(thread, "matcher-") {
			blocked += took - int64(convoyMatch)
		}
	}
	row := c.row
	check("counts", row.Contentions == convoyMatchers && row.Handoffs == convoyMatchers && row.Waiters == convoyMatchers, row.counts())
	check("blocked", near(row.Blocked, blocked), fmt.Sprintf("%v, want %v", time.Duration(row.Blocked), time.Duration(blocked)))
	held := fmt.Sprintf("%v, want %v to %v", time.Duration(row.HeldMax), convoyReport, time.Duration(c.took["held"]))
	check("held", row.HeldMax >= int64(convoyReport) && row.HeldMax <= c.took["held"], held)
	check("headline", strings.Contains(c.headline, c.lock) && strings.Contains(c.headline, "report"), c.headline)
	want := "report sleep" + strings.Repeat(", matcher sleep", convoyMatchers)
	check("path", c.shape() == want, c.shape())
	saved := c.took[c.lane] - without[c.lane]
	c.excess = float64(c.saved-saved) / float64(max(1, saved))
	check("what-if", saved > 0 && near(c.saved, saved), fmt.Sprintf("%s saves %v, measured: %v", c.lane, time.Duration(c.saved), time.Duration(saved)))
}

// near accepts 5 percent.
func near(got, want int64) bool {
	return math.Abs(float64(got-want)) <= 0.05*math.Abs(float64(want))
}

// shape lists the long segments of the path without the numbers of threads; the first is the sleep of the report. Runs and latencies are
// left out: on a loaded machine they are long, too.
func (c *convoy) shape() string {
	const long = 20 * time.Millisecond
	var shape []string
	for _, s := range c.path {
		if s.time >= long && s.kind != "run" && !strings.HasSuffix(s.kind, "latency") && (len(shape) > 0 || s.String() == "report sleep") {
			shape = append(shape, regexp.MustCompile(`-\d`).ReplaceAllString(s.String(), ""))
		}
	}
	return strings.Join(shape, ", ")
}

// compareConvoys compares the two kinds of locks. Each run's times were compared with its own truth, since it takes a while to see that
// all threads wait.
func compareConvoys(t *testing.T, gaps *gapList, g gap, monitor, lock *convoy) {
	t.Helper()
	check := func(aspect string, ok bool, details string) {
		t.Helper()
		g.aspect = aspect
		gaps.check(t, g, ok, details)
	}
	check("counts", monitor.row.counts() == lock.row.counts(), monitor.row.counts()+" and "+lock.row.counts())
	check("what-if", math.Abs(lock.excess-monitor.excess) <= 0.05, fmt.Sprintf("%v and %v", time.Duration(monitor.saved), time.Duration(lock.saved)))
	check("path", monitor.shape() == lock.shape(), monitor.shape()+" and "+lock.shape())
	one, two := monitor.anonymous(), lock.anonymous()
	check("headline", one == two, one+" and "+two)
}

// anonymous is the headline without numbers and the lock's name.
func (c *convoy) anonymous() string {
	text := strings.NewReplacer(c.lock, "LOCK", c.class, "LOCK").Replace(c.headline)
	return regexp.MustCompile(`[\d.,]+ ?(ns|µs|ms|s)?`).ReplaceAllString(text, "#")
}
