// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/internal/viewapi"
)

// What Convoy.java does.
const (
	convoyMatchers = 8
	convoyReport   = 600 * time.Millisecond // at least
	convoyMatch    = 60 * time.Millisecond
)

// convoySentence is what Weft says about the lock of either kind, but for its name and the numbers.
const convoySentence = "report slept # in Convoy.sleep holding LOCK; # matchers waited # for it, # % of that while report held it, # % while # matchers did."

// locks are the two kinds of locks by the argument of the program. They must look the same but for their names.
var locks = map[string]struct{ class, name string }{
	"monitor": {"Convoy$Monitor", "Convoy.monitor"},
	"lock":    {"java.util.concurrent.locks.ReentrantLock$NonfairSync", "Convoy.lock"},
}

// convoyTruth are the times of threads with the lock, and without it.
type convoyTruth struct {
	With    map[string]int64 `json:"truth"`
	Without map[string]int64 `json:"also"`
}

// checkConvoy checks a report that holds a lock, for which all matchers wait, and then each for the others.
func checkConvoy(t spantest.T, r *run) {
	t.Helper()
	var truth convoyTruth
	r.know(t, &truth)
	lock := locks[r.entry.program[1]]
	row := convoyRow(t, r, lock.class)
	assert.Equal(t, [3]int{convoyMatchers, convoyMatchers, convoyMatchers}, [3]int{int(row.Count), row.Handoffs, row.Threads}, "contentions, handoffs, waiters")
	var blocked int64
	for thread, took := range truth.With {
		if strings.HasPrefix(thread, "matcher-") {
			blocked += took - int64(convoyMatch)
		}
	}
	assert.True(t, row.Time <= blocked && near(row.Time, blocked), "blocked for %v, not %v", time.Duration(row.Time), time.Duration(blocked))
	assert.True(t, row.Held >= int64(convoyReport) && row.Held <= truth.With["held"], "held for %v, not for %v to %v", time.Duration(row.Held),
		convoyReport, time.Duration(truth.With["held"]))
	assert.Equal(t, convoySentence, convoyHeadline(t, r, lock.class, lock.name))
	lane, path := convoyPath(r)
	assert.Equal(t, "report sleep"+strings.Repeat(", matcher sleep", convoyMatchers), path)
	saved, measured := convoySaved(r, lock.class), truth.With[lane]-truth.Without[lane]
	assert.True(t, measured > 0 && near(saved, measured), "%s saves %v, measured: %v", lane, time.Duration(saved), time.Duration(measured))
}

// near accepts 5 percent: without the lock, the program runs once more, and no two runs take the same time.
func near(got, want int64) bool { return math.Abs(float64(got-want)) <= 0.05*math.Abs(float64(want)) }

// convoyRow returns the row of a lock in weft summary.
func convoyRow(t spantest.T, r *run, class string) (found viewapi.CostRow) {
	t.Helper()
	costs := r.played.costs(t).Costs
	for i := range costs {
		if costs[i].Class == class {
			found = costs[i]
		}
	}
	return found
}

// convoyHeadline returns the first sentence of weft summary without numbers and the name of the lock.
func convoyHeadline(t spantest.T, r *run, class, name string) string {
	t.Helper()
	out, err := r.played.summary()
	require.NoError(t, err)
	headline, _, _ := strings.Cut(out, "\n\n")
	require.Contains(t, headline, name)
	headline = strings.NewReplacer(name, "LOCK", class, "LOCK", "\n", " ").Replace(headline)
	return regexp.MustCompile(`\d[\d.]*( (ns|µs|ms|s)\b)?`).ReplaceAllString(headline, "#")
}

// convoyPath returns the thread of the critical path, and the path's long segments without the numbers of threads; the first is the sleep of the
// report.
func convoyPath(r *run) (lane, shape string) {
	const long = 20 * time.Millisecond
	var segments []string
	for _, l := range r.Of(r.service, func(s *spantest.Span) bool { return s.Name() == "critical path" }) {
		lane = l.Text("weft.critical_path.thread.name")
		for _, s := range r.Of(r.service, func(s *spantest.Span) bool { return s.Parent() == l.ID() }) {
			segment := fmt.Sprintf("%s %s", s.Text("weft.critical_path.thread.name"), s.Text("weft.critical_path.kind"))
			if s.Number("weft.interval.time") >= int64(long) && (len(segments) > 0 || segment == "report sleep") {
				segments = append(segments, regexp.MustCompile(`-\d`).ReplaceAllString(segment, ""))
			}
		}
	}
	return lane, strings.Join(segments, ", ")
}

// convoySaved returns by how much the thread of the path would end earlier without the lock.
func convoySaved(r *run, class string) (saved int64) {
	for _, root := range r.Roots(r.service) {
		for _, event := range root.Events().All() {
			if event.Name() == "weft.lock" && spantest.Text(event.Attributes(), "weft.lock.class") == class {
				saved += spantest.Number(event.Attributes(), "weft.what_if.saved")
			}
		}
	}
	return saved
}
