// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const notStarted = "Weft's agent was not started: "

// jarCase is a way to give a JVM the jar, and what follows.
type jarCase struct {
	name         string
	jar          string // default: weft-otel.jar
	extended     bool
	env, options []string
	before       []string
	nextTo       func(t *testing.T, folder string) // puts a library next to the jar
	on           []jdk                             // default: all

	log         string // one line says why the agent was not started
	says, lacks string // on standard error
	loads       string // regular expression for the agent's file, which starts and reports requests; "" none
	mayLoad     bool   // the agent's file is loaded, but does not start
}

// TestJarCases runs a program with a jar that is switched off or lacks something, or finds several libraries. The program's output is the same, the
// log has at most one line, and a library is only used if no other user can change it.
func TestJarCases(t *testing.T) {
	programs := otelPrograms(t)
	oldest, newest := jdks[:1], jdks[len(jdks)-1:]
	warning := slices.DeleteFunc(slices.Clone(jdks), func(j jdk) bool { return j.Major < 24 }) // of native access, JEP 472
	managed := slices.DeleteFunc(slices.Clone(jdks), func(j jdk) bool { return j.Major > 17 })
	open := t.TempDir()
	require.NoError(t, os.Chmod(open, 0o777))
	const inJar = ` \(deleted\)$`
	cases := []jarCase{
		{name: "off", env: []string{"WEFT_ENABLED=false"}},
		{name: "SDK off", env: []string{"OTEL_SDK_DISABLED=true"}},
		{name: "neither on nor off", env: []string{"WEFT_ENABLED=never"}, log: "WEFT_ENABLED=never (want true or false)"},
		{name: "invalid option", env: []string{"WEFT_DEPTH=deep"}, log: `WEFT_DEPTH: option "depth": invalid number`, mayLoad: true},
		{name: "no library", jar: "weft-otel-only.jar", log: "does not contain " + platformLibrary()},
		{name: "other system", options: []string{"-Dos.name=Plan 9"}, log: "no build for Plan 9"},
		{name: "no temporary folder", options: []string{"-Djava.io.tmpdir=/nowhere"}, log: "/nowhere"},
		{name: "open temporary folder", options: []string{"-Djava.io.tmpdir=" + open}, log: "other users may replace files in " + open},
		{name: "native access denied", on: warning, options: []string{"--illegal-native-access=deny"}, log: "Illegal native access"},
		{name: "native access allowed", on: warning, options: []string{nativeAccess}, lacks: "java.lang.System::load", loads: inJar},
		{name: "native access by default", on: warning, says: "java.lang.System::load", loads: inJar},
		{
			name: "security manager", on: managed, options: []string{"-Djava.security.manager", "-Djava.security.policy==" + policyWithoutLibraries(t, programs)},
			log: "access denied",
		},
		// The layout of an operator's folder of extensions.
		{name: "library next to it", jar: "weft-otel-only.jar", on: oldest, extended: true, nextTo: library("libweft.so"), loads: `/libweft\.so$`},
		{name: "library of a platform next to it", jar: "weft-otel-only.jar", on: newest, extended: true, nextTo: library(platformLibrary()), loads: platformLibrary() + "$"},
	}
	for name, change := range filesOfOthers() {
		cases = append(cases, jarCase{name: "library of others: " + name, on: oldest, nextTo: change, loads: inJar})
	}
	if mounted, temporary := withoutExecution(t); mounted != nil {
		options := []string{"-Djava.io.tmpdir=" + temporary}
		cases = append(
			cases,
			jarCase{name: "no execution", on: oldest, before: mounted, options: options, log: "put " + platformLibrary() + " next to weft-otel.jar", mayLoad: true},
			jarCase{name: "no execution but next to it", on: oldest, before: mounted, options: options, nextTo: library("libweft.so"), loads: `/libweft\.so$`},
		)
	}
	for _, c := range cases {
		if c.on == nil {
			c.on = jdks
		}
		for _, j := range c.on {
			t.Run(c.name+" on "+j.String(), func(t *testing.T) { c.run(t, j, programs) })
		}
	}
}

func (c *jarCase) run(t *testing.T, j jdk, programs string) {
	t.Helper()
	folder, endpoint := t.TempDir(), "unix:///nowhere/weft.sock"
	s := jarStart{jdk: j, jar: copied(t, cmp.Or(c.jar, "weft-otel.jar"), folder, "weft-otel.jar"), extended: c.extended, env: c.env, options: c.options, before: c.before}
	if c.extended {
		s.jar = folder
	}
	if c.nextTo != nil {
		c.nextTo(t, folder)
	}
	var to *collector
	if c.loads != "" {
		to = startCollector(t, wholeRun)
		endpoint = to.endpoint
	}
	p := s.run(t, programs, endpoint, "OneRequest")
	p.answer(t, "ready", func() {
		loaded := p.libraries(t)
		if c.loads != "" {
			require.Len(t, loaded, 1)
			assert.Regexp(t, c.loads, loaded[0])
		} else if !c.mayLoad {
			assert.Empty(t, loaded)
		}
	})
	p.answer(t, "answered", nil)
	require.Zero(t, p.wait(t))
	p.checkQuiet(t, append(restricted(j), notStarted, "io.github.weftotel.context.Start log")...)
	said := strings.Join(p.errLines(), "\n")
	assert.Equal(t, map[bool]int{true: 1}[c.log != ""], strings.Count(said, notStarted), "lines in the log: %s", said)
	assert.Contains(t, said, c.log)
	assert.Contains(t, said, c.says)
	assert.NotContains(t, said, "\tat ", "stack trace")
	if c.lacks != "" {
		assert.NotContains(t, said, c.lacks)
	}
	if to != nil {
		checkRequests(t, to.finish(t, s.service()), s.service(), 1)
	}
}

// library puts the agent's library next to the jar.
func library(name string) func(t *testing.T, folder string) {
	return func(t *testing.T, folder string) { copied(t, "libweft.so", folder, name) }
}

// filesOfOthers put a library next to the jar that another user owns, has linked, or may write to. Only root can give files away.
func filesOfOthers() map[string]func(t *testing.T, folder string) {
	const other, name = 65533, "libweft.so"
	if os.Getuid() != 0 {
		return nil
	}
	return map[string]func(t *testing.T, folder string){
		"owner": func(t *testing.T, folder string) {
			require.NoError(t, os.Chown(copied(t, name, folder, name), other, other))
		},
		"mode": func(t *testing.T, folder string) { require.NoError(t, os.Chmod(copied(t, name, folder, name), 0o666)) },
		"link": func(t *testing.T, folder string) {
			link := filepath.Join(folder, platformLibrary())
			require.NoError(t, os.Symlink(copied(t, name, folder, "hidden"), link))
			require.NoError(t, os.Lchown(link, other, other))
		},
	}
}

// withoutExecution returns a command whose temporary folder does not allow programs; nil: such a file system cannot be mounted, or the kernel maps
// programs from it.
func withoutExecution(t *testing.T) (command []string, temporary string) {
	t.Helper()
	const mounted = `mount -t tmpfs -o noexec,mode=1777 weft "$0" && exec "$@"`
	const mapped = `cp /bin/true "$0" && for loader in /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.*; do ! "$loader" "$0/true" || exit 1; done`
	temporary = t.TempDir()
	command = []string{"unshare", "--mount", "sh", "-c", mounted, temporary}
	if out, err := exec.Command(command[0], slices.Concat(command[1:], []string{"sh", "-c", mapped, temporary})...).CombinedOutput(); err != nil {
		t.Logf("no file system from which the kernel maps no programs: %v: %s", err, out)
		return nil, ""
	}
	return command, temporary
}

// policyWithoutLibraries allows the jar all that it needs, except libraries.
func policyWithoutLibraries(t *testing.T, programs string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "policy")
	require.NoError(t, os.WriteFile(file, []byte(`
grant codeBase "file:`+programs+`/-" { permission java.security.AllPermission; };
grant codeBase "file:`+built("otel")+`/-" { permission java.security.AllPermission; };
grant {
  permission java.util.PropertyPermission "*", "read,write";
  permission java.io.FilePermission "<<ALL FILES>>", "read,write,delete";
  permission java.lang.RuntimePermission "getenv.*";
  permission java.lang.RuntimePermission "getProtectionDomain";
  permission java.lang.RuntimePermission "accessUserInformation";
};
`), 0o600))
	return file
}
