// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// TestLinksOfJaegersPage checks that a Jaeger has the links of config/jaeger-ui.json. Package corpus checks where they lead.
func TestLinksOfJaegersPage(t *testing.T) {
	server := startJaegerWith(t, "jaeger.yaml", "JAEGER_UI_CONFIG="+filepath.Join(root, "config/jaeger-ui.json"))
	var file struct {
		LinkPatterns []linkPattern `json:"linkPatterns"`
	}
	require.NoError(t, json.Unmarshal([]byte(configText(t, "config/jaeger-ui.json")), &file))
	require.NotEmpty(t, file.LinkPatterns)
	assert.Equal(t, file.LinkPatterns, server.linkPatterns(t))
}
