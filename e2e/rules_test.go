// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRules checks the rules and evaluates each on synthetic series.
func TestRules(t *testing.T) {
	promtool := installed(t, "promtool")
	for _, args := range [][]string{
		{"check", "rules", "config/recording-rules.yaml", "config/alerts.yaml"},
		{"test", "rules", "e2e/testdata/rules_test.yaml"},
	} {
		cmd := exec.Command(promtool, args...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, "promtool %s\n%s", strings.Join(args, " "), out)
	}
}

func configText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(text)
}

// TestEachRuleIsTested checks that each alert has a test in which it fires and one in which it does not, and each recording rule any test.
func TestEachRuleIsTested(t *testing.T) {
	tests := configText(t, "e2e/testdata/rules_test.yaml")
	for _, match := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(configText(t, "config/alerts.yaml"), -1) {
		assert.Contains(t, tests, "- name: "+match[1]+" fires\n")
		assert.Contains(t, tests, "- name: "+match[1]+" is quiet\n")
	}
	for _, match := range regexp.MustCompile(`- record: (\S+)`).FindAllStringSubmatch(configText(t, "config/recording-rules.yaml"), -1) {
		assert.Contains(t, tests, "expr: '"+match[1]+"'")
	}
}

// TestRulesAndDashboardsUseKnownMetrics checks that queries use documented metrics of the connector or the collector.
func TestRulesAndDashboardsUseKnownMetrics(t *testing.T) {
	known := map[string]bool{}
	for _, match := range regexp.MustCompile("`(weft_[a-z_]+)` \\|").FindAllStringSubmatch(configText(t, "docs/metrics.md"), -1) {
		known[match[1]] = true
	}
	documents, err := filepath.Glob(filepath.Join(root, "*", "*", "documentation.md"))
	require.NoError(t, err)
	for _, document := range documents {
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		for _, match := range regexp.MustCompile(`### (otelcol_\w+)`).FindAllStringSubmatch(string(text), -1) {
			known[match[1]] = true
		}
	}
	require.Greater(t, len(known), 20)
	labels := regexp.MustCompile(`^weft_(lock_class|wait_kind|wait_cause|state|lock_holder_state|virtual_carrier_state|lock_order_(first|second))$`)
	dashboards, err := filepath.Glob(filepath.Join(root, "config/grafana/weft-*.json"))
	require.NoError(t, err)
	require.Len(t, dashboards, 3)
	used := map[string]bool{}
	for _, file := range append(dashboards, filepath.Join(root, "config/alerts.yaml"), filepath.Join(root, "config/recording-rules.yaml")) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, name := range regexp.MustCompile(`(?:^|[^:\w.])((?:weft|otelcol)_\w+)`).FindAllStringSubmatch(string(text), -1) {
			used[name[1]] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if !labels.MatchString(name) && !strings.HasPrefix(name, "otelcol_exporter_") {
			base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
			assert.True(t, known[name] || known[base], "neither docs/metrics.md nor any documentation.md lists %s", name)
		}
	}
}
