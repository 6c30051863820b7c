// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package house_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLinksOfJaegersPage checks config/jaeger-ui.json against the form that Jaeger's page reads (jaeger-ui, src/types/config.ts), the attributes
// of the code, and the parameters of Weft's own page. The page ignores a pattern with a parameter that it does not find.
func TestLinksOfJaegersPage(t *testing.T) {
	const file, code, page = "config/jaeger-ui.json", "internal/threadpdata/attributes.go", "web/src/lib/link.ts"
	read := func(path string) string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	var config struct {
		LinkPatterns []struct {
			Type string `json:"type"`
			Key  string `json:"key"`
			URL  string `json:"url"`
			Text string `json:"text"`
		} `json:"linkPatterns"`
	}
	decoder := json.NewDecoder(strings.NewReader(read(file)))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&config))
	require.NotEmpty(t, config.LinkPatterns)
	attributes, link := read(code), read(page)
	isAttribute := func(name string) bool { return strings.Contains(attributes, `"`+name+`"`) }
	for _, p := range config.LinkPatterns {
		assert.Contains(t, []string{"tags", "process", "logs"}, p.Type, p.Text)
		assert.True(t, isAttribute(p.Key), "%s is not an attribute", p.Key)
		for _, parameter := range regexp.MustCompile(`#\{([^{}]*)\}`).FindAllStringSubmatch(p.URL+p.Text, -1) {
			known := slices.Contains([]string{"startTime", "duration", "trace.startTime", "trace.duration"}, parameter[1])
			assert.True(t, known || isAttribute(parameter[1]), "%s: %s is not an attribute", p.Key, parameter[1])
		}
		address, fragment, toPage := strings.Cut(p.URL, "/#s=")
		if !toPage {
			assert.Regexp(t, `^/trace/#\{[a-z.]+\.trace\.id\}(\?uiFind=#\{[a-z.]+\.span\.id\})?$`, p.URL)
			continue
		}
		assert.Equal(t, "http://localhost:8090", address, "the page's address in config/all-in-one.yaml")
		for field := range strings.SplitSeq("s="+fragment, "&") {
			name, _, _ := strings.Cut(field, "=")
			read := strings.Contains(link, `whole("`+name+`")`) || strings.Contains(link, `get("`+name+`")`)
			assert.True(t, read, "the page does not read %s", name)
		}
	}
}

// TestQueriesDoNotAddUpSpans checks documents and configurations: the spans of a trace are a sample, so their sum is too low.
func TestQueriesDoNotAddUpSpans(t *testing.T) {
	for _, f := range files(t) {
		for number, line := range strings.Split(f.text, "\n") {
			if strings.Contains(line, "sum_over_time("+"span.") {
				t.Errorf("%s:%d: %s: use the metrics of the connector", f.path, number+1, line)
			}
		}
	}
}
