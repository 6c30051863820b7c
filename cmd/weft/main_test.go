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

	"github.com/weft-otel/weft/agent/attach"
	"github.com/weft-otel/weft/internal/printable"
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
		{"bad limit", []string{"summary", "--max-unpacked", "0", "x"}, exitUsage, "summary: invalid --max-unpacked 0: want 1 to 1048576 gibibytes"},
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

// hostile clears a terminal, reorders its line, hides itself and begins a new one.
const hostile = "x\x1b[2J\u009b2J\u202e\u200b\x7f\r\nFORGED"

// oneLine checks what commands print about something with a hostile name.
func oneLine(t *testing.T, output string, lines int) {
	t.Helper()
	got := strings.Split(strings.TrimSuffix(output, "\n"), "\n")
	assert.Len(t, got, lines)
	for _, line := range got {
		assert.Equal(t, line, printable.Text(line))
		assert.False(t, strings.HasPrefix(line, "FORGED"), line)
	}
	assert.Contains(t, output, "FORGED")
}

func TestHostileNamesInErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, hostile)
	require.NoError(t, os.WriteFile(file, []byte("{}\n{\""+hostile+"\n"), 0o600))
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for name, test := range map[string]struct {
		args  []string
		lines int
	}{
		"missing file":    {[]string{"summary", file + ".gone", empty}, 2},
		"bad lines":       {[]string{"summary", file}, 2},
		"unknown flag":    {[]string{"summary", "--" + hostile}, 2},
		"unknown command": {[]string{hostile}, 2},
		"time":            {[]string{"summary", "--from", hostile}, 2},
		"option":          {[]string{"attach", "--agent", "x", "1", hostile}, 1},
		"process ID":      {[]string{"attach", hostile}, 2},
		"library":         {[]string{"attach", "--agent", file + ".gone", "1", "x=y" + hostile + ",z"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			assert.NotEqual(t, exitOK, run(test.args, nil, &stdout, &stderr))
			oneLine(t, stderr.String(), test.lines)
		})
	}
}

func TestHostileReport(t *testing.T) {
	var stdout strings.Builder
	printResult(&stdout, &attach.Result{Warning: hostile, Connection: hostile, Notes: []string{hostile}, Options: []string{hostile, "depth=7"}})
	oneLine(t, stdout.String(), 5)
}

// JSON has the names themselves, but no character that a terminal obeys.
func TestHostileNamesAsJSON(t *testing.T) {
	service, err := json.Marshal(hostile)
	require.NoError(t, err)
	trace := `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":` + string(service) + `}},` +
		`{"key":"service.instance.id","value":{"stringValue":"1"}}]},"scopeSpans":[{"spans":[{"traceId":"01020304050607080102030405060708",` +
		`"spanId":"0102030405060708","name":"threads","startTimeUnixNano":"1","endTimeUnixNano":"2",` +
		`"attributes":[{"key":"weft.window.cut","value":{"stringValue":"boundary"}}]}]}]}]}`
	for _, format := range []string{"json", "text"} {
		var stdout, stderr strings.Builder
		require.Equal(t, exitOK, run([]string{"summary", "--format", format, "-"}, strings.NewReader(trace), &stdout, &stderr), stderr.String())
		oneLine(t, stdout.String(), strings.Count(stdout.String(), "\n"))
		if format == "json" {
			var got struct{ Services []string }
			require.NoError(t, json.Unmarshal([]byte(stdout.String()), &got))
			assert.Equal(t, []string{hostile}, got.Services)
		}
	}
}
