// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestErrorsNameTheRemedy(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "spans.json")
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no command", nil, exitUsage, "no command given: want summary, attach, detach, version or help"},
		{"unknown command", []string{"overview"}, exitUsage, `unknown command "overview": want summary, `},
		{"unknown help", []string{"help", "me"}, exitUsage, `unknown command "me"`},
		{"no file", []string{"summary"}, exitUsage, "summary: no file given: want traces such as spans.json, a recording, or - for standard input"},
		{"unknown flag", []string{"summary", "--topp", "3", "x"}, exitUsage, "flag provided but not defined: -topp"},
		{"bad top", []string{"summary", "--top", "0", "x"}, exitUsage, "invalid --top 0: want 1 or more"},
		{"bad format", []string{"summary", "x", "--format", "xml"}, exitUsage, `invalid --format "xml": want text or json`},
		{"empty span", []string{"summary", "x", "--from", "2026-11-21T17:00:00Z", "--to", "2026-11-21T17:00:00Z"}, exitUsage, "summary: --from 2026-11-21T17:00:00Z must be before --to 2026-11-21T17:00:00Z"},
		{"no such file", []string{"summary", missing}, exitFailed, missing + ": no such file or directory"},
		{"no process ID", []string{"attach"}, exitUsage, "attach: no process ID given"},
		{"bad timeout", []string{"attach", "1", "--timeout", "-1s"}, exitUsage, "attach: invalid --timeout -1s: want a positive duration such as 10s"},
		{"flag after the process ID", []string{"attach", "1", "--agent", "x", "depth"}, exitFailed, `attach: invalid option "depth": want key=value`},
		{"argument of version", []string{"version", "1"}, exitUsage, `version: unexpected argument "1"`},
		{"bad process ID", []string{"attach", "java"}, exitUsage, `attach: "java" is not a process ID; list the JVMs with jps or ps -C java`},
		{"bad option", []string{"attach", "--agent", "x", "1", "depth"}, exitFailed, `attach: invalid option "depth": want key=value, without a comma`},
		{"argument of detach", []string{"detach", "1", "depth=1"}, exitUsage, `detach: unexpected argument "depth=1"`},
		{"bad line", []string{"summary", "-"}, exitFailed, "standard input: line 2: not OTLP JSON"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := run(test.args, strings.NewReader("{}\n{\n"), &stdout, &stderr)
			assert.Equal(t, test.code, code)
			assert.Contains(t, stderr.String(), test.want)
			assert.Equal(t, test.code == exitUsage, strings.Contains(stderr.String(), "weft help"))
			if test.code == exitUsage && len(test.args) > 0 && help[test.args[0]] != "" {
				assert.Contains(t, stderr.String(), "Run 'weft help "+test.args[0]+"' for usage.")
			}
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--help"}, usage},
		{[]string{"help", "version"}, usage},
		{[]string{"help", "summary"}, summaryUsage},
		{[]string{"summary", "--help"}, summaryUsage},
		{[]string{"help", "attach"}, attachUsage},
		{[]string{"attach", "--help"}, attachUsage},
		{[]string{"help", "detach"}, detachUsage},
		{[]string{"help", "--help"}, usage},
		{[]string{"detach", "1", "-h"}, detachUsage},
		{[]string{"version", "--help"}, "weft " + versionText() + "\n"},
		{[]string{"version"}, "weft " + versionText() + "\n"},
	} {
		var stdout, stderr strings.Builder
		assert.Equal(t, exitOK, run(test.args, nil, &stdout, &stderr))
		assert.Equal(t, test.want, stdout.String())
		assert.Empty(t, stderr.String())
	}
	for line := range strings.Lines(usage + summaryUsage + attachUsage + detachUsage) {
		assert.LessOrEqual(t, len(line), 101, line)
	}
}

func TestSummaryOfSeveralFilesAsJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spans.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"resourceSpans":[]}`+"\n"), 0o600))
	var stdout, stderr strings.Builder
	require.Equal(t, exitOK, run([]string{"summary", file, "--format", "json", "-"}, strings.NewReader("\n"), &stdout, &stderr), stderr.String())
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout.String()), &got))
	assert.InDelta(t, 0, got["windows"], 0)
}

func TestSummaryOfAnInvalidTime(t *testing.T) {
	var stdout, stderr strings.Builder
	assert.Equal(t, exitUsage, run([]string{"summary", "--from", "noon", "x"}, nil, &stdout, &stderr))
	assert.Contains(t, stderr.String(), `invalid value "noon" for flag -from: want a time such as 2026-11-21T16:50:00Z`)
}

func TestSummarySkipsMissingFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spans.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"resourceSpans":[]}`+"\n"), 0o600))
	var stdout, stderr strings.Builder
	assert.Equal(t, exitFailed, run([]string{"summary", file + ".gone", file}, nil, &stdout, &stderr))
	assert.Equal(t, "The input contains no windows of a JVM.\n", stdout.String())
	assert.Equal(t, "weft: summary: open "+file+".gone: no such file or directory\n", stderr.String())
}
