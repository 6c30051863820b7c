// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/command"
	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// checkSums checks that all that Weft says about one run has the same sums: the spans, the metrics, the profiles, the page and weft summary.
func checkSums(t spantest.T, r *run) {
	t.Helper()
	contended := sum{int(r.RootTotal(r.service, "weft.contended.count")), r.RootTotal(r.service, "weft.contended.time")}
	metrics := sum{r.played.total("weft.lock.contentions", nil).count, r.played.total("weft.lock.blocked.time", nil).time}
	if !slices.Contains(r.entry.program, "mode=aggregated") { // in which there are sums without intervals
		assert.Equal(t, contended, metrics, "metrics")
	}
	profiles := r.played.profileSums()
	assert.Equal(t, metrics, profiles["block"], "profile block")
	assert.Equal(t, metrics, profiles["mutex"], "profile mutex")
	assert.GreaterOrEqual(t, profiles["off_cpu"].time, metrics.time, "profile off_cpu")
	for _, family := range []string{"block", "mutex"} {
		assert.Equal(t, metrics, profileFile(t, r, family), "weft profile --type %s", family)
	}
	checkTimes(t, r)
	checkSummarySums(t, r, contended)
	checkPageSums(t, r, contended)
	checkAnswer(t, r)
}

// checkTimes checks that the roots of windows, the metrics and the page have the same time of each state, and the roots and the page that of each
// kind of waits: each live thread counts in each window, with or without an event. What a thread did before it was known is in the page only.
func checkTimes(t spantest.T, r *run) {
	t.Helper()
	ctx, client := context.Background(), page.Of(r.played.page)
	id := r.sessionOnPage(t)
	threads, err := client.Threads(ctx, id, nil)
	require.NoError(t, err)
	roots, metrics, onPage := map[string]int64{}, map[string]int64{}, map[string]int64{}
	for i := range jvmthread.NumStates {
		s := jvmthread.State(i)
		name := s.String()
		as := name
		if s == jvmthread.StateUnknown || s == jvmthread.StateDead {
			continue
		}
		if s == jvmthread.StateBlocked || s == jvmthread.StateParked || s == jvmthread.StateDeadlocked {
			as = "blocked, parked or deadlocked" // which one may be known only later
		}
		roots[as] += r.RootTotal(r.service, "weft.time."+name)
		metrics[as] += r.played.total("weft.thread.time", map[string]string{"weft.state": name}).time
		onPage[as] += threads.Sum.States[s].Time
	}
	assert.Equal(t, roots, onPage, "time by state, of roots and of the page")
	if !slices.Contains(r.entry.program, "mode=aggregated") {
		assert.Equal(t, roots, metrics, "time by state, of roots and of metrics")
	}
	kinds, err := client.Kinds(ctx, id, nil)
	require.NoError(t, err)
	byKind, waits := map[string]int64{}, map[string]int64{}
	for _, root := range r.Roots(r.service) {
		for _, event := range root.Events().All() {
			if event.Name() == "weft.wait" {
				byKind[spantest.Text(event.Attributes(), "weft.wait.kind")] += spantest.Number(event.Attributes(), "weft.wait.time")
			}
		}
	}
	for i := range kinds.Kinds {
		waits[kinds.Kinds[i].Wait] += kinds.Kinds[i].Stats.Time
	}
	assert.Equal(t, byKind, waits, "time by kind of waits, of roots and of the page")
}

// profileSums adds up all samples by the type of their period.
func (p *played) profileSums() sums {
	of := sums{}
	for _, pd := range p.profiles.AllProfiles() {
		text := func(i int32) string { return pd.Dictionary().StringTable().At(int(i)) }
		for _, rp := range pd.ResourceProfiles().All() {
			for _, sp := range rp.ScopeProfiles().All() {
				for _, one := range sp.Profiles().All() {
					s := of[text(one.PeriodType().TypeStrindex())]
					for _, sample := range one.Samples().All() {
						if value := sample.Values().At(0); text(one.SampleType().TypeStrindex()) == "contentions" {
							s.count += int(value)
						} else {
							s.time += value
						}
					}
					of[text(one.PeriodType().TypeStrindex())] = s
				}
			}
		}
	}
	return of
}

// profileFile adds up the samples of the file that weft profile writes, as go tool pprof reads them.
func profileFile(t spantest.T, r *run, family string) (of sum) {
	t.Helper()
	dir, err := os.MkdirTemp("", "weft-corpus-")
	require.NoError(t, err)
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, family+".pb.gz")
	var said bytes.Buffer // how to open the file
	code := command.Run("test", strings.NewReader(""), &said, &said, "profile", r.recording, "--type", family, "-o", file)
	require.Zero(t, code, "%s", &said)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	p, err := profile.ParseData(content)
	require.NoError(t, err)
	assert.Equal(t, family, p.PeriodType.Type)
	for _, s := range p.Sample {
		of.count += int(s.Value[0])
		of.time += s.Value[1]
	}
	return of
}

// costs returns what weft summary says about what cost the most.
func (p *played) costs(t spantest.T) (answer viewapi.Answer) {
	t.Helper()
	out, err := p.summary("--format", "json", "--top", "100")
	require.NoError(t, err)
	var summary struct {
		Sessions []struct {
			Answer     viewapi.Answer `json:"answer"`
			Aggregated bool           `json:"aggregated"`
		} `json:"sessions"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &summary))
	require.NotEmpty(t, summary.Sessions)
	for i := range summary.Sessions {
		if !summary.Sessions[i].Aggregated {
			answer = summary.Sessions[i].Answer
		}
	}
	return answer
}

// checkSummarySums checks the table of locks in weft summary.
func checkSummarySums(t spantest.T, r *run, contended sum) {
	t.Helper()
	answer := r.played.costs(t)
	assert.Equal(t, contended.time, answer.Time)
	var all sum
	for i := range answer.Costs {
		row := &answer.Costs[i]
		assert.True(t, i == 0 || row.Time <= answer.Costs[i-1].Time, "%s comes too late", row.Name)
		all.count += int(row.Count)
		all.time += row.Time
	}
	require.Len(t, answer.Costs, answer.Total)
	assert.Equal(t, contended, all, "all locks of weft summary")
}

// checkPageSums checks the tables of the page, and follows them to the longest interval and its span.
func checkPageSums(t spantest.T, r *run, contended sum) {
	t.Helper()
	ctx, client := context.Background(), page.Of(r.played.page)
	id := r.sessionOnPage(t)
	threads, err := client.Threads(ctx, id, nil)
	require.NoError(t, err)
	onPage := sum{int(threads.Sum.Blocked.Count), threads.Sum.Blocked.Time}
	assert.Equal(t, contended, onPage, "threads on the page")
	callers, err := client.Callers(ctx, id, url.Values{"kind": {"blocked"}})
	require.NoError(t, err)
	onPage = sum{int(callers.Sum.Stats.Count), callers.Sum.Stats.Time}
	assert.Equal(t, contended, onPage, "callers on the page")
	if len(callers.Callers) == 0 {
		return
	}
	longest := callers.Callers[0].Longest
	interval, err := client.Interval(ctx, id, longest.Thread.ID, longest.Time)
	require.NoError(t, err)
	require.NotNil(t, interval.Span)
	s := r.ByID[spanOnPage(t, interval.Span.TraceID, interval.Span.SpanID)]
	require.NotNil(t, s, "the span of %s", interval.Title)
	assert.True(t, strings.HasPrefix(interval.Title, s.Name()), "%s, %s: names of spans leave out locks if there are many", interval.Title, s.Name())
	assert.EqualValues(t, interval.Thread.ID, s.Number("thread.id"))
	if s.Has("weft.wait.cause") { // it is the last part of the interval
		assert.Equal(t, interval.Why, s.Text("weft.wait.cause"))
	}
}

// checkAnswer compares the holders of the lock that cost most with those of the table.
func checkAnswer(t spantest.T, r *run) {
	t.Helper()
	ctx, client := context.Background(), page.Of(r.played.page)
	id := r.sessionOnPage(t)
	answer, err := client.Answer(ctx, id, nil)
	require.NoError(t, err)
	checkCauses(t, r, &answer)
	if answer.Most == nil || answer.Most.Kind != "lock" { // holders of permits overlap in the answer, and have equal parts in the table
		return
	}
	body, err := r.played.get("/api/sessions/" + id + "/holders?limit=200")
	require.NoError(t, err)
	var table viewapi.Holders
	require.NoError(t, json.Unmarshal([]byte(body), &table))
	waited := map[uint64]int64{}
	for i := range table.Holders {
		row := &table.Holders[i]
		if row.Lock == wording.LockOf(answer.Most.Name, answer.Most.Caller) && row.What == viewapi.HolderThread {
			waited[row.ID] += row.Time
		}
	}
	for _, h := range answer.Most.Holders {
		if of, ok := waited[h.Thread.ID]; ok { // the table folds threads of a pool
			assert.Equal(t, of, h.Waited, "that others waited for %s", h.Thread.Name)
		}
		assert.Equal(t, float64(h.Waited)/float64(answer.Most.Time), h.Share, "share of %s", h.Thread.Name)
	}
}

// checkCauses checks that the list of causes begins with the answer, and that what it shows over time adds up.
func checkCauses(t spantest.T, r *run, answer *viewapi.Answer) {
	t.Helper()
	list, err := page.Of(r.played.page).Causes(context.Background(), r.sessionOnPage(t), nil)
	require.NoError(t, err)
	if answer.Most == nil || answer.Small {
		assert.Empty(t, list.Causes)
		return
	}
	require.NotEmpty(t, list.Causes)
	assert.Contains(t, wording.Plain(answer.Text), wording.Plain(list.Causes[0].Text)) // after that of pauses, if they cost more
	for i := range list.Causes {
		cause, sum := &list.Causes[i], int64(0)
		for _, time := range cause.Trend {
			sum += time
		}
		assert.Equal(t, cause.Time, sum, "%s, over time", wording.Plain(cause.Text))
	}
}

// sessionOnPage is the ID of the only session.
func (r *run) sessionOnPage(t spantest.T) string {
	t.Helper()
	sessions, err := page.Of(r.played.page).Sessions(context.Background())
	require.NoError(t, err)
	require.Len(t, sessions.Sessions, 1)
	s := sessions.Sessions[0]
	assert.False(t, s.Live)
	assert.Equal(t, "end", s.Ended)
	assert.Zero(t, s.Lost+s.Missed)
	assert.Equal(t, r.service, s.Service)
	return s.ID
}

// spanOnPage is the ID of a span in hexadecimal digits.
func spanOnPage(t spantest.T, trace, span string) (id spantest.ID) {
	t.Helper()
	for text, into := range map[string][]byte{trace: id.Trace[:], span: id.Span[:]} {
		decoded, err := hex.DecodeString(text)
		require.NoError(t, err)
		copy(into, decoded)
	}
	return id
}
