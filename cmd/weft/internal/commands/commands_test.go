// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/agent/attach"
	"github.com/weft-otel/weft/cmd/weft/internal/summary"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/threadtest/wiretext"
)

// run executes a command line without a terminal.
func run(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = Run(&Program{Version: "1.2.3", In: strings.NewReader(stdin), Out: &out, Err: &errs}, args)
	return code, out.String(), errs.String()
}

func TestErrorsNameTheRemedy(t *testing.T) {
	missing, folder := filepath.Join(t.TempDir(), "spans.json"), t.TempDir()
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"unknown command", []string{"overview"}, exitUsage, `weft: unknown command "overview"`},
		{"misspelled command", []string{"atach"}, exitUsage, `weft: unknown command "atach": did you mean attach`},
		{"missing file", []string{"shop.jfr"}, exitUsage, `weft: shop.jfr: no such command or file`},
		{"no file", []string{"summary"}, exitUsage, "summary: no file given: want traces such as spans.json, a recording, or - for standard input"},
		{"unknown flag", []string{"summary", "--topp", "3", "x"}, exitUsage, "summary: unknown flag: --topp"},
		{"bad top", []string{"summary", "--top", "0", "x"}, exitUsage, "invalid --top 0: want 1 or more"},
		{"bad format", []string{"summary", "x", "--format", "xml"}, exitUsage, `invalid argument "xml" for "--format" flag: want text or json`},
		{"empty range", []string{"summary", checkout, "--from", "5s", "--to", "5s"}, exitUsage, "summary: from 5s to 5s: want a time to that is later than from"},
		{"bad time", []string{"summary", "x", "--from", "noon"}, exitUsage, `summary: --from: time "noon": want an offset from the start of the recording, such as 12.5s`},
		{"bad time of why", []string{"why", checkout, "--to", "noon"}, exitUsage, `why: --to: time "noon": want an offset from the start of the recording, such as 12.5s`},
		{"range to compare", []string{"summary", "x", "--against", "y", "--to", "9s"}, exitUsage, "summary: --against compares whole recordings: leave out --from and --to"},
		{"bad limit", []string{"summary", "--max-unpacked", "0", "x"}, exitUsage, "summary: invalid --max-unpacked 0: want 1 to 1048576 gibibytes"},
		{"no such file", []string{"summary", missing}, exitFailed, missing + ": no such file or directory"},
		{"no JVM", []string{"attach"}, exitUsage, "attach: no JVM given: want a process ID or a part of a main class; weft list shows them"},
		{"only options", []string{"attach", "depth=8"}, exitUsage, "attach: no JVM given"},
		{"bad timeout", []string{"attach", "1", "--timeout", "-1s"}, exitUsage, `invalid argument "-1s" for "--timeout" flag: want a duration above zero, such as 10s`},
		{"option without value", []string{"attach", "1", "depth="}, exitUsage, `attach: invalid option "depth=": want KEY=VALUE, such as depth=8`},
		{"argument of version", []string{"version", "1"}, exitUsage, `version: unexpected argument "1"`},
		{"bad process ID", []string{"attach", "0"}, exitUsage, `attach: "0" is not a process ID`},
		{"no process", []string{"record", "999999999"}, exitFailed, "record: process 999999999: no such process"},
		{"bad size", []string{"record", "1", "--max-size", "2g"}, exitUsage, "record: invalid --max-size 2147483648: want 1m to 1g"},
		{"existing output", []string{"record", "1", "-o", "commands_test.go"}, exitFailed, "record: commands_test.go exists; replace it with --force, or use another name"},
		{"no dumps", []string{"record", "1", "--dumps", "0"}, exitUsage, "record: invalid --dumps 0: want 1 to 1000"},
		{"interval of nothing", []string{"record", "1", "--interval", "5s"}, exitUsage, "record: --interval needs --dumps"},
		{"dumps with a duration", []string{"record", "1", "--dumps", "3", "-d", "5s"}, exitUsage, "record: --dumps loads no agent and ends with the last dump: leave out --duration"},
		{"dumps with an option", []string{"record", "1", "depth=8", "--dumps", "3"}, exitUsage, `record: "depth=8": options are for the agent, which --dumps does not load`},
		{"dumps of no process", []string{"record", "999999999", "--dumps", "3"}, exitFailed, "record: process 999999999: no such process"},
		{"no program", []string{"run", "java"}, exitUsage, `run: no program given: want -- java and its arguments`},
		{"nothing to view", []string{"view"}, exitUsage, "view: nothing to view: want recordings, or a process ID or a part of a main class"},
		{"view of an empty folder", []string{"view", folder}, exitFailed, "view: " + folder + " has no recording and no thread dump: it is empty"},
		{"view of a missing file", []string{"view", "x.weft"}, exitFailed, "view: x.weft: no such file"},
		{"nothing to ask", []string{"mcp"}, exitUsage, "mcp: want one recording, or --page URL"},
		{"two things to ask", []string{"mcp", "x.weft", "--page", "http://localhost:8090/"}, exitUsage, "mcp: want one recording, or --page URL"},
		{"bad page", []string{"mcp", "--page", "localhost:8090"}, exitUsage, `mcp: --page: address of the page "localhost:8090": want one such as http://localhost:8090/`},
		{"bad limit of mcp", []string{"mcp", "--max-unpacked", "0", "x"}, exitUsage, "mcp: invalid --max-unpacked 0: want 1 to 1048576 gibibytes"},
		{"missing file to ask", []string{"mcp", "orders"}, exitFailed, "mcp: orders: no such file"},
		{"empty folder to ask", []string{"mcp", folder}, exitFailed, "mcp: " + folder + " has no recording and no thread dump: it is empty"},
		{"other JSON", []string{"summary", "-"}, exitFailed, `standard input: this is JSON, but neither spans nor a thread dump; want {"resourceSpans": at its start, or the output of `},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, _, stderr := run(t, "{}\n{\n", test.args...)
			assert.Equal(t, test.code, code)
			assert.Contains(t, stderr, test.want)
			assert.Equal(t, test.code == exitUsage, strings.Contains(stderr, " --help' for usage."))
		})
	}
}

// Joined errors are on lines of their own, but not within a sentence.
func TestJoinedErrors(t *testing.T) {
	a, b := errors.New("no a"), errors.New("no b")
	inner := fmt.Errorf("no folder: %w; set one", errors.Join(a, b))
	assert.Equal(t, []string{"no a", "no folder: no a; no b; set one", "no b"}, problems(errors.Join(a, errors.Join(inner, b))))
	assert.Equal(t, []string{"no a: no b"}, problems(fmt.Errorf("%w: %w", a, b)))
}

func TestHelpAndVersion(t *testing.T) {
	code, version, _ := run(t, "", "version")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, "weft 1.2.3\n", version)
	_, flag, _ := run(t, "", "--version")
	assert.Equal(t, version, flag)
	_, root, _ := run(t, "")
	_, help, _ := run(t, "", "--help")
	assert.Equal(t, help, root)
	assert.Contains(t, root, "JVMs of this machine:")
}

// Help fits a terminal, and each command explains itself.
func TestHelpOfEachCommand(t *testing.T) {
	for _, cmd := range Root(&Program{}).Commands() {
		t.Run(cmd.Name(), func(t *testing.T) {
			code, out, _ := run(t, "", cmd.Name(), "--help")
			assert.Equal(t, exitOK, code)
			for line := range strings.Lines(out) {
				assert.LessOrEqual(t, len(line), 121, line)
			}
			for line := range strings.Lines(cmd.Long) {
				assert.LessOrEqual(t, len(line), 105, line)
			}
			assert.NotEmpty(t, cmd.Short)
			assert.False(t, strings.HasSuffix(cmd.Short, "."))
		})
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, out, stderr := run(t, "", "completion", shell)
		assert.Equal(t, exitOK, code, stderr)
		assert.True(t, strings.Contains(out, "__weft") || strings.Contains(out, "#compdef weft"), "%.200s", out)
	}
	_, out, _ := run(t, "", "__complete", "summary", "--fo")
	assert.Contains(t, out, "--format\ttables for people")
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]string{"1": "1", "1024": "1k", "1k": "1k", "256m": "256m", "1G": "1g", "1536m": "1536m"} {
		var s size
		require.NoError(t, s.Set(text))
		assert.Equal(t, want, s.String())
	}
	for _, text := range []string{"", "m", "-1", "0", "1t", "9999999g", "1.5g"} {
		var s size
		require.Error(t, s.Set(text), text)
	}
}

func TestUptimes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 59 * time.Minute: "59m", 5*time.Hour + 3*time.Minute: "5h03m", 52 * time.Hour: "2d04h",
	} {
		assert.Equal(t, want, up(d))
	}
}

func TestListedJVMs(t *testing.T) {
	now := time.Unix(100_000, 0)
	rows := []jvmRow{
		{PID: 7, User: "me", Version: "17.0.1", Start: now.Add(-time.Hour), MainClass: "com.acme.Shop", CanAttach: true},
		{PID: 12345, User: "me", Version: "25", Start: now.Add(-time.Minute), MainClass: hostile, CanAttach: true, Agent: "/x/libweft.so", Sends: "connected to unix:///run/weft/weft.sock"},
		{PID: 8, User: "me", Version: "25", Start: now, MainClass: "a.jar", CanAttach: true, Agent: "/x/libweft.so", Sends: "not connected to tcp://h:1: refused"},
		{PID: 9, User: "me", Version: "25", Start: now, MainClass: "a.jar", CanAttach: true, Agent: "/x/libweft.so"},
		{PID: 10, User: "root", Start: now, Problem: "it belongs to root"},
	}
	var out strings.Builder
	p := Program{Out: &out}
	require.NoError(t, p.writeJVMs(rows, now))
	assert.Equal(t, `PID    USER  JAVA    UP     AGENT                       MAIN CLASS
7      me    17.0.1  1h00m  -                           com.acme.Shop
12345  me    25      1m     unix:///run/weft/weft.sock  `+printable.Text(hostile)+`
8      me    25      0s     not connected to tcp://h:1  a.jar
9      me    25      0s     idle                        a.jar
10     root  ?       0s     ?                           ?
`, out.String())
}

func TestFileNames(t *testing.T) {
	for class, want := range map[string]string{
		"com.acme.Shop$Main": "Shop_Main", "/opt/shop-1.2.jar": "shop-1_2_jar", "": "jvm-7", hostile: "x__2J__2J____FORGED", "Main": "Main",
	} {
		got := fileName(&attach.JVM{PID: 7, MainClass: class})
		assert.NotContains(t, got, "/")
		if class != hostile {
			assert.Equal(t, want, got)
		}
		assert.Regexp(t, `^[A-Za-z0-9_-]+$`, got)
	}
}

func TestQuotedNames(t *testing.T) {
	assert.Equal(t, "/tmp/x-1.weft", quoted("/tmp/x-1.weft"))
	assert.Equal(t, `'it'\''s $x'`, quoted("it's $x"))
}

func TestSummaryOfSeveralFilesAsJSON(t *testing.T) {
	data, err := os.ReadFile("testdata/checkout.weft.zst")
	require.NoError(t, err)
	code, stdout, stderr := run(t, string(data), "summary", wiretext.File(t, hung), "--format", "json", "-")
	require.Equal(t, exitOK, code, stderr)
	var got summary.Summary
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Sessions, 2)
	assert.Equal(t, "checkout", got.Sessions[0].Session.Service, "whose threads waited longest")
	assert.Equal(t, "hung", got.Sessions[1].Session.Service)
}

func TestWhyOfOneEvent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cut.orca")
	require.NoError(t, os.WriteFile(file, []byte("1795901850.319435539,ThreadStarted,00000003,main\n"), 0o600))
	code, _, stderr := run(t, "", "why", file)
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, "weft: why: the recording has no two events at different times, so there is nothing to explain\n", stderr)
}

func TestSummarySkipsMissingFiles(t *testing.T) {
	code, stdout, stderr := run(t, "", "summary", "x.gone", wiretext.File(t, hung))
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stdout, "request-1 waited 25 s for it.\n")
	assert.Equal(t, "weft: summary: x.gone: no such file or directory\n", stderr)
}

func TestSummaryOfNothing(t *testing.T) {
	code, stdout, stderr := run(t, `{"resourceSpans":[]}`, "summary", "-")
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, stdout)
	assert.Equal(t, "weft: summary: the file contains no events of a JVM; record some with weft record PID, or jcmd PID JFR.start settings=profile\n", stderr)
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
		"bad lines":       {[]string{"summary", file}, 1},
		"unknown flag":    {[]string{"summary", "--" + hostile}, 2},
		"unknown command": {[]string{hostile}, 2},
		"time":            {[]string{"summary", "--from", hostile, file}, 2},
		"option":          {[]string{"attach", "1", "x=y," + hostile}, 2},
		"JVM":             {[]string{"attach", hostile}, 2},
		"file to view":    {[]string{"view", file + ".gone.weft"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := run(t, "", test.args...)
			assert.NotEqual(t, exitOK, code)
			oneLine(t, stderr, test.lines)
		})
	}
}

func TestHostileReport(t *testing.T) {
	var out strings.Builder
	p := Program{Out: &out}
	p.writeAgent(&agentRow{PID: 7, Warning: hostile, Connection: hostile, Notes: []string{hostile}, Options: []string{hostile, "depth=7"}}, true, true)
	oneLine(t, out.String(), 5)
}

// JSON has the names themselves, but no character that a terminal obeys.
func TestHostileNamesOfAJVM(t *testing.T) {
	text := hung
	for _, name := range []string{"hung", "com.acme.Rates", "com.acme.Main", "refresher", "request-1"} {
		escaped := fmt.Sprintf("%q", name)
		for _, c := range []byte(hostile) {
			escaped = strings.TrimSuffix(escaped, `"`) + fmt.Sprintf(`\x%02x"`, c)
		}
		text = strings.ReplaceAll(text, fmt.Sprintf("%q", name), escaped)
	}
	file := wiretext.File(t, text)
	for _, format := range []string{"json", "text"} {
		code, stdout, stderr := run(t, "", "summary", "--format", format, file)
		require.Equal(t, exitOK, code, stderr)
		oneLine(t, stdout, strings.Count(stdout, "\n"))
		if format == "json" {
			var got summary.Summary
			require.NoError(t, json.Unmarshal([]byte(stdout), &got))
			assert.Equal(t, "hung"+hostile, got.Sessions[0].Session.Service)
		}
	}
}
