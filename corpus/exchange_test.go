// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/corpus/spantest"
)

// checkExchange checks the sample of the documentation, whose report blocks all other threads, as its users see it in a trace store.
func checkExchange(t spantest.T, r *run) {
	t.Helper()
	assert.Empty(t, r.Unnamed([]string{"matcher-1", "gateway-1", "report", "market-data", "blocked OrderBook", "wait OrderQueue", "wait Tape", "runnable", "sleep"}))
	windows, longest := map[pcommon.TraceID]bool{}, int64(0)
	for _, l := range r.Links(r.service, "handoff") {
		windows[l.From.TraceID()] = true
	}
	assert.GreaterOrEqual(t, len(windows), 3, "windows with a handoff")
	for _, s := range r.Spans {
		if s.Name() == "blocked OrderBook" && s.Text("weft.lock.holder.thread.name") == "report" && s.Number("weft.interval.time") > longest {
			longest = s.Number("weft.interval.time")
			assert.Contains(t, s.Text("code.stacktrace"), "com.acme.orders.")
		}
	}
	assert.Greater(t, longest, int64(100*time.Millisecond), "the report blocks a thread for long")
	checkWindows(t, r)
	checkIncidentsOfReport(t, r)
	checkPatterns(t, r)
}

// checkWindows checks the lanes of critical paths, and that waits have links to those who ended them.
func checkWindows(t spantest.T, r *run) {
	t.Helper()
	lanes := map[spantest.ID]int{}
	for _, s := range r.Of(r.service, func(s *spantest.Span) bool { return !s.IsRoot() }) {
		switch {
		case s.Name() == "critical path":
			lanes[s.Parent()]++
		case s.Has("weft.critical_path.kind"):
			spantest.CheckSegment(t, r.Output, s)
		case s.Text("weft.state") == "blocked" && s.Text("weft.wait.cause") == "handoff":
			assert.Contains(t, kindsOfLinks(s), "handoff", "%s at %d", s.Name(), s.Begin())
		}
	}
	for _, root := range r.Roots(r.service) {
		if root.Number("weft.time.blocked") > 0 {
			assert.Equal(t, 1, lanes[root.ID()], "lanes in a window with a blocked thread")
		}
	}
}

func kindsOfLinks(s *spantest.Span) (kinds []string) {
	for _, l := range s.Links().All() {
		kinds = append(kinds, spantest.Link{SpanLink: l}.Kind())
	}
	return kinds
}

// checkIncidentsOfReport checks that a search for the lock, longest first, finds the report that blocks all others.
func checkIncidentsOfReport(t spantest.T, r *run) {
	t.Helper()
	var found []*spantest.Span
	for _, s := range r.Incidents {
		if s.IsRoot() && s.Name() == "contention OrderBook" {
			found = append(found, s)
		}
	}
	length := func(s *spantest.Span) int64 { return int64(s.EndTimestamp() - s.StartTimestamp()) }
	slices.SortFunc(found, func(a, b *spantest.Span) int { return int(length(b) - length(a)) })
	require.GreaterOrEqual(t, len(found), 3)
	first := found[0]
	assert.Equal(t, "report", first.Text("weft.lock.holder.thread.name"))
	assert.Regexp(t, `^report held OrderBook for .*, asleep in .*; .* waited .* for it`, first.Text("weft.explanation"))
	has := func(is func(s *spantest.Span) bool) bool {
		return slices.ContainsFunc(r.Incidents, func(s *spantest.Span) bool { return s.TraceID() == first.TraceID() && is(s) })
	}
	assert.True(t, has(func(s *spantest.Span) bool {
		return s.Name() == "held OrderBook: sleeping" && s.Text("thread.name") == "report"
	}))
	assert.True(t, has(func(s *spantest.Span) bool { return s.Name() == "blocked OrderBook" }))
}

// pattern makes links of attributes on Jaeger's page.
type pattern struct {
	Type string `json:"type"`
	Key  string `json:"key"`
	URL  string `json:"url"`
}

// checkPatterns checks that each link of config/jaeger-ui.json leads somewhere: to a thread of the session at the time of the span.
func checkPatterns(t spantest.T, r *run) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "config/jaeger-ui.json"))
	require.NoError(t, err)
	var config struct {
		Patterns []pattern `json:"linkPatterns"`
	}
	require.NoError(t, json.Unmarshal(text, &config))
	links := map[string]int{}
	for _, s := range r.ByID {
		for _, p := range config.Patterns {
			if !s.Has(p.Key) || p.Type != "tags" {
				continue
			}
			links[p.Key]++
			checkPattern(t, r, s, p)
		}
	}
	for _, key := range []string{"thread.name", "thread.id", "weft.window.start", "weft.incident.kind"} {
		assert.Positive(t, links[key], key)
	}
}

func checkPattern(t spantest.T, r *run, s *spantest.Span, p pattern) {
	t.Helper()
	root := s
	for !root.IsRoot() {
		root = r.ByID[root.Parent()]
	}
	complete := true
	address := regexp.MustCompile(`#\{([^{}]*)\}`).ReplaceAllStringFunc(p.URL, func(match string) string {
		name, of := match[2:len(match)-1], s
		if inTrace := regexp.MustCompile(`^trace\.(startTime|duration)$`).FindStringSubmatch(name); inTrace != nil {
			of, name = root, inTrace[1]
		}
		value, ok := parameter(r.Output, of, name)
		complete = complete && ok
		return url.QueryEscape(value)
	})
	require.True(t, complete, "%s on %s", p.Key, s.Name())
	to, err := url.Parse(address)
	require.NoError(t, err)
	if to.Fragment == "" {
		return // to another trace
	}
	query, err := url.ParseQuery(to.Fragment)
	require.NoError(t, err)
	assert.Equal(t, s.Session, query.Get("s"))
	if thread := query.Get("thread"); thread != "" {
		assert.Equal(t, strconv.FormatInt(s.Number("thread.id"), 10), thread)
	}
	from, err := strconv.ParseInt(query.Get("time"), 10, 64)
	require.NoError(t, err)
	length, err := strconv.ParseInt(query.Get("length"), 10, 64)
	require.NoError(t, err)
	assert.True(t, from <= s.Begin()/spantest.Microsecond && s.Begin()/spantest.Microsecond <= from+length, "%s of %s: %d for %d", p.Key, s.Name(), from, length)
}

// parameter looks up a parameter as Jaeger's page does (jaeger-ui 2.20, src/model/link-patterns.ts): in the attributes of the span, then, from
// the span to its ancestors, in the span's fields, its attributes and those of its resource.
func parameter(o *spantest.Output, s *spantest.Span, name string) (string, bool) {
	if value, ok := s.Attributes().Get(name); ok {
		return value.AsString(), true
	}
	for ; s != nil; s = o.ByID[s.Parent()] {
		switch name {
		case "startTime":
			return strconv.FormatInt(s.Begin()/spantest.Microsecond, 10), true
		case "duration":
			return strconv.FormatInt(int64(s.EndTimestamp()-s.StartTimestamp())/spantest.Microsecond, 10), true
		case "weft.session.id":
			return s.Session, true // of the resource
		}
		if value, ok := s.Attributes().Get(name); ok {
			return value.AsString(), true
		}
	}
	return "", false
}
