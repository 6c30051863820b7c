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

func TestMistakesAreToldWithTheRemedy(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "spans.json")
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no command", nil, exitUsage, "no command given; the commands are summary, attach, detach, version and help"},
		{"unknown command", []string{"overview"}, exitUsage, `there is no command "overview"; the commands are`},
		{"unknown help", []string{"help", "me"}, exitUsage, `there is no command "me"`},
		{"no file", []string{"summary"}, exitUsage, "summary: no file given; name the spans.json of a run, or -"},
		{"unknown flag", []string{"summary", "--topp", "3", "x"}, exitUsage, "flag provided but not defined: -topp"},
		{"bad top", []string{"summary", "--top", "0", "x"}, exitUsage, "--top is 0: give it 1 or more"},
		{"bad format", []string{"summary", "x", "--format", "xml"}, exitUsage, `--format is "xml": give it text or json`},
		{"no time", []string{"summary", "x", "--from", "2026-11-21T17:00:00Z", "--to", "2026-11-21T17:00:00Z"}, exitUsage, "summary: there is no time from --from 2026-11-21T17:00:00Z to --to 2026-11-21T17:00:00Z"},
		{"no such file", []string{"summary", missing}, exitFailed, missing + ": no such file or directory"},
		{"no pid", []string{"attach"}, exitUsage, "attach: no process id given"},
		{"no time", []string{"attach", "1", "--timeout", "-1s"}, exitUsage, "attach: --timeout is -1s: give it more than 0, such as 10s"},
		{"flag behind the pid", []string{"attach", "1", "--agent", "x", "depth"}, exitFailed, `attach: option "depth": write key=value`},
		{"version of what", []string{"version", "1"}, exitUsage, `version: takes nothing, but there is "1"`},
		{"bad pid", []string{"attach", "java"}, exitUsage, `attach: "java" is no process id; jps or ps -C java tells them`},
		{"bad option", []string{"attach", "--agent", "x", "1", "depth"}, exitFailed, `attach: option "depth": write key=value, without a comma`},
		{"detach takes none", []string{"detach", "1", "depth=1"}, exitUsage, `detach: takes no options, but there is "depth=1"`},
		{"bad line", []string{"summary", "-"}, exitFailed, "standard input: line 2: not OTLP JSON"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := run(test.args, strings.NewReader("{}\n{\n"), &stdout, &stderr)
			assert.Equal(t, test.code, code)
			assert.Contains(t, stderr.String(), test.want)
			assert.Equal(t, test.code == exitUsage, strings.Contains(stderr.String(), "weft help"))
			if test.code == exitUsage && len(test.args) > 0 && help[test.args[0]] != "" {
				assert.Contains(t, stderr.String(), "Run 'weft help "+test.args[0]+"' for how to use it.")
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
	for line := range strings.Lines(usage) {
		assert.LessOrEqual(t, len(line), 100)
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

func TestSummaryOfATimeThatIsNone(t *testing.T) {
	var stdout, stderr strings.Builder
	assert.Equal(t, exitUsage, run([]string{"summary", "--from", "noon", "x"}, nil, &stdout, &stderr))
	assert.Contains(t, stderr.String(), `invalid value "noon" for flag -from: give a time such as 2026-11-21T16:50:00Z`)
}

func TestSummaryOfTheFilesThatAreThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spans.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"resourceSpans":[]}`+"\n"), 0o600))
	var stdout, stderr strings.Builder
	assert.Equal(t, exitFailed, run([]string{"summary", file + ".gone", file}, nil, &stdout, &stderr))
	assert.Equal(t, "No window of a JVM is in these traces.\n", stdout.String())
	assert.Equal(t, "weft: summary: open "+file+".gone: no such file or directory\n", stderr.String())
}
