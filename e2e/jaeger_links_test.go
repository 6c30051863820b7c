// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/spantest"
)

// linkPattern makes links of attributes on Jaeger's page.
type linkPattern struct {
	Type string `json:"type"`
	Key  string `json:"key"`
	URL  string `json:"url"`
}

// linkPatterns returns the patterns in the configuration that a Jaeger embeds in the HTML of its page.
func (j *jaeger) linkPatterns(t *testing.T) []linkPattern {
	t.Helper()
	response, err := http.Get("http://" + j.query + "/search")
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	page, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	found := regexp.MustCompile(`JAEGER_CONFIG *= *(\{.*\});`).FindSubmatch(page)
	require.NotNil(t, found, "%s", page)
	var config struct {
		LinkPatterns []linkPattern `json:"linkPatterns"`
	}
	require.NoError(t, json.Unmarshal(found[1], &config))
	return config.LinkPatterns
}

// parameter looks up a parameter as Jaeger's page does (jaeger-ui 2.20, src/model/link-patterns.ts): in the attributes of the span, then, from
// the span to its ancestors, in the span's fields, its attributes and those of its resource.
func parameter(o *output, s *span, name string) (string, bool) {
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

// Each link of config/jaeger-ui.json leads somewhere: to a thread of the session at the time of the span.
func TestLinksOfJaegersPage(t *testing.T) {
	server := startJaegerWith(t, "jaeger.yaml", "JAEGER_UI_CONFIG="+filepath.Join(root, "config/jaeger-ui.json"))
	patterns := server.linkPatterns(t)
	require.NotEmpty(t, patterns)
	c := startCollector(t, server.setup())
	require.Equal(t, 0, java(t, jdks[0], c.endpoint, "exchange", "com.acme.orders.Exchange", "3").wait(t))
	o := server.takes(t, c.finish(t, "exchange"), "exchange")
	links := map[string]int{}
	for _, s := range o.ByID {
		root := s
		for !root.IsRoot() {
			root = o.ByID[root.Parent()]
		}
		for _, p := range patterns {
			if _, ok := s.Attributes().Get(p.Key); !ok || p.Type != "tags" {
				continue
			}
			complete := true
			address := regexp.MustCompile(`#\{([^{}]*)\}`).ReplaceAllStringFunc(p.URL, func(match string) string {
				name := match[2 : len(match)-1]
				of := s
				if inTrace := regexp.MustCompile(`^trace\.(startTime|duration)$`).FindStringSubmatch(name); inTrace != nil {
					of, name = root, inTrace[1]
				}
				value, ok := parameter(o, of, name)
				complete = complete && ok
				return url.QueryEscape(value)
			})
			require.True(t, complete, "%s on %s", p.Key, s.Name())
			to, err := url.Parse(address)
			require.NoError(t, err)
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
			links[p.Key]++
		}
	}
	for _, key := range []string{"thread.name", "thread.id", "weft.window.start", "weft.incident.kind"} {
		assert.Positive(t, links[key], key)
	}
}
