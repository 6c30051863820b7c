// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/e2e/runtimes"
)

// jarStart is a JVM that gets weft-otel.jar.
type jarStart struct {
	jdk      jdk
	jar      string   // path
	extended bool     // the jar is an extension of OpenTelemetry's Java agent; otherwise it is on the class path
	options  []string // of the JVM
	env      []string
	before   []string // a command that runs the JVM
}

// otelPrograms compiles the programs that use OpenTelemetry's SDK.
func otelPrograms(t *testing.T) string {
	t.Helper()
	for _, jar := range []string{"weft-otel.jar", "weft-otel-only.jar"} {
		require.True(t, exists(built(jar)), "run make build/%s", jar)
	}
	programs := t.TempDir()
	sources, err := filepath.Glob(filepath.Join(root, "e2e/otel/*.java"))
	require.NoError(t, err)
	command := []string{
		"--release", "11", "-cp", filepath.Join(built("otel"), "*") + ":" + built("weft-otel-only.jar"), "-d", programs,
		filepath.Join(root, runtimes.BlockedJava),
	}
	out, err := exec.Command(filepath.Join(jdks[0].Home, "bin", "javac"), append(command, sources...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return programs
}

// copied copies a built file into a folder.
func copied(t *testing.T, name, folder, as string) string {
	t.Helper()
	content, err := os.ReadFile(built(name))
	require.NoError(t, err)
	path := filepath.Join(folder, as)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

// platformLibrary is the name of the agent's build for this machine.
func platformLibrary() string {
	return "libweft-linux-" + map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH] + ".so"
}

// run starts a program whose spans go nowhere; they are numbered and current all the same.
func (s jarStart) run(t *testing.T, programs, endpoint string, program ...string) *process {
	t.Helper()
	path := []string{filepath.Join(built("otel"), "*"), programs}
	options := []string{"-Dotel.traces.exporter=none", "-Dotel.metrics.exporter=none", "-Dotel.logs.exporter=none"}
	if s.extended {
		options = append(options, "-javaagent:"+javaAgent(t), "-Dotel.javaagent.extensions="+s.jar)
	} else {
		options = append(options, "-Dotel.java.global-autoconfigure.enabled=true")
		path = append(path, s.jar)
	}
	options = append(append(options, s.options...), "-cp", strings.Join(path, ":"))
	env := append([]string{"OTEL_SERVICE_NAME=" + s.service(), "WEFT_ENDPOINT=" + endpoint, "WEFT_POOL=64m", "WEFT_EXIT_WAIT=60s"}, s.env...)
	command := slices.Concat(s.before, []string{filepath.Join(s.jdk.Home, "bin", "java")}, options, program)
	return start(t, env, command[0], command[1:]...)
}

func (s jarStart) service() string { return "jar-" + s.jdk.String() }

// answer waits until the program says a word, calls a function, and lets the program continue.
func (p *process) answer(t *testing.T, word string, meanwhile func()) {
	t.Helper()
	said := len(slices.DeleteFunc(p.outLines(), func(line string) bool { return line != word }))
	poll(t, "the program is "+word, func() bool {
		require.True(t, p.running(), "the program ended: %s", clip(strings.Join(p.errLines(), "\n")))
		return said > 0 || slices.Contains(p.outLines(), word)
	})
	if meanwhile != nil {
		meanwhile()
	}
	_, err := p.stdin.Write([]byte("\n"))
	require.NoError(t, err)
}

// libraries returns the agent's files that a process maps, each once.
func (p *process) libraries(t *testing.T) (found []string) {
	t.Helper()
	maps, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/maps")
	require.NoError(t, err)
	for line := range strings.Lines(string(maps)) {
		if at := strings.Index(line, "/"); at >= 0 && strings.Contains(line[at:], "libweft") && strings.HasSuffix(strings.Fields(line[at:])[0], ".so") {
			found = append(found, strings.TrimSpace(line[at:]))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// notes returns what weft attach says about a process.
func (p *process) notes(t *testing.T, options ...string) string {
	t.Helper()
	out, err := exec.Command(built("weft"), append([]string{"attach", "-v", strconv.Itoa(p.cmd.Process.Pid)}, options...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// checkRequests requires that the waits of all requests were recorded once, by one agent, and that they know their spans.
func checkRequests(t *testing.T, o *output, service string, requests int) {
	t.Helper()
	waits := o.Of(service, func(s *span) bool {
		return s.Has("weft.interval.time") && !s.OfIncident() && s.Text("thread.name") == "waiter" && s.Text("weft.state") == "blocked" &&
			s.Text("weft.context.trace.id") != ""
	})
	sessions := map[string]bool{}
	for _, s := range o.Of(service, func(s *span) bool { return s.Session != "" }) {
		sessions[s.Session] = true
	}
	assert.Len(t, waits, requests)
	assert.Len(t, sessions, 1, "sessions")
	spantest.CheckNothingLost(t, o)
}

// checkQuiet requires that a program printed only its own words, and the JVM only warnings that are known.
func (p *process) checkQuiet(t *testing.T, known ...string) {
	t.Helper()
	for _, line := range p.outLines() {
		assert.True(t, slices.Contains([]string{"begin", "ready", "answered"}, line) || strings.HasPrefix(line, "{"), "on standard output: %s", line)
	}
	for _, line := range p.errLines() {
		ours := strings.Contains(strings.ToLower(line), "weft") || strings.Contains(line, "native method") || strings.Contains(line, "JNI")
		expected := slices.ContainsFunc(known, func(k string) bool { return strings.Contains(line, k) })
		assert.False(t, ours && !expected, "on standard error: %s", line)
	}
}

// restricted are parts of the lines that Java 24 and later print about System.load.
func restricted(j jdk) []string {
	if j.Major < 24 {
		return nil
	}
	return []string{"java.lang.System::load has been called by io.github.weftotel.context.Library"}
}

const (
	nativeAccess = "--enable-native-access=ALL-UNNAMED"
	startedByJar = "weft-otel.jar has started the agent"
	ignored      = "WEFT_* variables have no effect"
	dynamic      = "A JVM TI agent has been loaded dynamically" // by weft attach
)

// TestJarStartsAgent gives JVMs the jar and nothing else: as extension of OpenTelemetry's Java agent and on the class path.
func TestJarStartsAgent(t *testing.T) {
	programs := otelPrograms(t)
	onEachJDK(t, func(t *testing.T, j jdk) {
		for _, extended := range []bool{true, false} {
			t.Run(map[bool]string{true: "extension", false: "class path"}[extended], func(t *testing.T) {
				folder, temporary := t.TempDir(), t.TempDir()
				s := jarStart{jdk: j, jar: copied(t, "weft-otel.jar", folder, "weft-otel.jar"), extended: extended}
				s.options = []string{"-Djava.io.tmpdir=" + temporary}
				if !extended { // that Java agent does not pass the checks
					s.options = append(s.options, "-Xcheck:jni")
				}
				c := startCollector(t, wholeRun)
				p := s.run(t, programs, c.endpoint, "OneRequest")
				p.answer(t, "ready", func() {
					assert.Contains(t, p.notes(t), startedByJar)
					loaded := p.libraries(t)
					require.NotEmpty(t, loaded)
					assert.Regexp(t, "^"+temporary+`/weft-\d+/`+platformLibrary()+` \(deleted\)$`, loaded[0], "the one in the jar")
				})
				p.answer(t, "answered", nil)
				require.Zero(t, p.wait(t))
				p.checkQuiet(t, append(restricted(j), dynamic)...)
				left, err := os.ReadDir(temporary)
				require.NoError(t, err)
				assert.Empty(t, slices.DeleteFunc(left, func(e os.DirEntry) bool { return !strings.HasPrefix(e.Name(), "weft-") }))
				o := c.finish(t, s.service())
				checkRequests(t, o, s.service(), 1)
			})
		}
	})
}

// TestJarKnowsPlatforms gives the jar memory maps of processes with glibc and musl, and none.
func TestJarKnowsPlatforms(t *testing.T) {
	programs, folder, loaders := otelPrograms(t), t.TempDir(), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	glibc := write("glibc", "7f0a-7f0b r-xp 00000000 08:01 12 /usr/lib/x86_64-linux-gnu/libc.so.6\n7ffd-7ffe rw-p 00000000 00:00 0 [stack]\n")
	musl := write("musl", "7f0a-7f0b r-xp 00000000 08:01 12 /opt/caf\xe9.jar\n7f1a-7f1b r--p 00000000 08:01 14 /lib/ld-musl-x86_64.so.1\n")
	musl64 := write("musl64", "7f1a-7f1b r--p 00000000 08:01 14 /lib/ld-musl-aarch64.so.1\n")
	require.NoError(t, os.WriteFile(filepath.Join(loaders, "ld-musl-aarch64.so.1"), nil, 0o600))
	none := filepath.Join(folder, "none")
	for _, test := range []struct{ processor, maps, loaders, want string }{
		{"amd64", glibc, loaders, "linux-x86_64"},
		{"amd64", musl, folder, "linux-musl-x86_64"},
		{"aarch64", musl64, folder, "linux-musl-aarch64"},
		{"aarch64", glibc, loaders, "linux-aarch64"}, // it has both, and uses glibc
		{"aarch64", none, loaders, "linux-musl-aarch64"},
		{"x86_64", none, loaders, "linux-x86_64"},
	} {
		out, err := exec.Command(filepath.Join(jdks[0].Home, "bin", "java"), "-cp", programs+":"+built("weft-otel-only.jar"),
			"io.github.weftotel.context.Platforms", "Linux", test.processor, test.maps, test.loaders).CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Equal(t, test.want, strings.TrimSpace(string(out)), "%v", test)
	}
}
