// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// Parts add up to the path and, by color, to what the thread's lane shows; the sentence has their numbers.
func TestPathInWords(t *testing.T) {
	for seed := range uint64(6) {
		f := newFixture(t, seed, 10, 4, 1500, 700)
		for thread := 1; thread <= 10; thread++ {
			for _, span := range []string{"", "&from=2000&to=9000"} {
				path := ask[viewapi.Path](f, fmt.Sprintf("/path?thread=%d%s", thread, span))
				inWords(t, &path)
				shown := map[int]int64{}
				for _, p := range path.Parts {
					shown[p.Shown] += p.Time
				}
				for state := range jvmthread.NumStates {
					if s := jvmthread.State(state); s != jvmthread.StateUnknown && s != jvmthread.StateDead { // also before its start and after its end
						assert.Equal(t, laneTime(f, thread, state, &path), shown[state], "thread %d in the color of %v%s", thread, s, span)
					}
				}
			}
		}
		path := ask[viewapi.Path](f, "/path?mode=unbounded")
		inWords(t, &path)
		assert.Contains(t, path.Text, "The program took ")
	}
}

// laneTime returns for how long a thread has the color of a state within a path.
func laneTime(f *fixture, thread, state int, path *viewapi.Path) (sum int64) {
	sn := f.session.Snapshot()
	for c := sn.Walk(sn.Thread(jvmthread.ThreadID(thread)), sn.Origin+jvmthread.Time(path.From), sn.Origin+jvmthread.Time(path.To)); c.Next(); {
		if int(c.Shown()) == state {
			sum += max(0, min(int64(c.End-sn.Origin), path.To)-max(int64(c.Start-sn.Origin), path.From))
		}
	}
	return sum
}

var sentencePart = regexp.MustCompile(`(<?\d+ %) `)

func inWords(t *testing.T, path *viewapi.Path) {
	t.Helper()
	require.NotEmpty(t, path.Parts)
	var sum int64
	for _, p := range path.Parts {
		sum += p.Time
		assert.NotContains(t, p.Name, "_")
		assert.Equal(t, float64(p.Time)/float64(path.To-path.From), p.Share)
	}
	assert.Equal(t, path.To-path.From, sum)
	assert.Contains(t, path.Text, " "+wording.Duration(time.Duration(sum)))
	var named int64
	at := strings.Index(path.Text, ": ")
	numbers := sentencePart.FindAllStringSubmatch(path.Text[at:], -1)
	for i, p := range path.Parts {
		if !strings.Contains(path.Text, wording.Percent(p.Share)+" "+p.Name) {
			assert.True(t, i >= 4 || p.Share < .01)
			break
		}
		assert.Equal(t, wording.Percent(p.Share), numbers[i][1])
		named += p.Time
	}
	if rest := sum - named; rest*1000 >= sum && rest > 0 {
		assert.Contains(t, path.Text, ", "+wording.Percent(float64(rest)/float64(sum))+" otherwise.")
	}
}

// Who held the lock, whose end a thread waited for, and who had the result is said.
func TestPathSaysForWhom(t *testing.T) {
	f := historyOf(t, `
0    main threadStart
0    report threadStart
100  report sleepStart
200  main contendedEnter lock=OrderBook owner=report
500  report sleepEnd
600  main contendedEntered lock=OrderBook
700  main joinStart target=report
900  report threadEnd
900  main joinEnd
1000 main threadEnd
`, time.Second)
	path := ask[viewapi.Path](f, "/path?thread=1&to=1000")
	assert.Equal(t, "main took 1 µs: 40 % blocked by report, which held OrderBook, 40 % runnable, 20 % waiting for report to end.", path.Text)
	assert.Empty(t, path.NoSavings)
	path = ask[viewapi.Path](f, "/path?thread=1&to=950")
	assert.Contains(t, path.Text, "main spent 950 ns: ")
	assert.Contains(t, path.NoSavings, "main does not end in this range")
}

// What a wait would save means something in a request, and nothing for a thread of a pool.
func TestSavingsMeanSomething(t *testing.T) {
	f, truth := shop(t, 100, time.Second)
	origin := f.events[0].Time
	assert.Contains(t, ask[viewapi.Path](f, "/path?thread=1").NoSavings, "http-nio-8080-exec-1 waits for tasks in this range")
	assert.Contains(t, ask[viewapi.Path](f, "/path?thread=13").NoSavings, "report does not end in this range")
	for _, r := range truth {
		path := ask[viewapi.Path](f, fmt.Sprintf("/path?thread=%d&from=%d&to=%d", r.Threads[0], r.From-origin, r.To-origin))
		assert.Empty(t, path.NoSavings)
		inWords(t, &path)
	}
}
