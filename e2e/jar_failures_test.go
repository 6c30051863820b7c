// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const notStarted = "Weft's agent was not started: "

// TestJarThatCannotStartAgentDisturbsNothing runs programs with a jar that is switched off or lacks something: they have the same output, and the
// log one line.
func TestJarThatCannotStartAgentDisturbsNothing(t *testing.T) {
	programs := otelPrograms(t)
	open := t.TempDir()
	require.NoError(t, os.Chmod(open, 0o777))
	policy := filepath.Join(t.TempDir(), "policy") // the jar gets all that it needs, except libraries
	require.NoError(t, os.WriteFile(policy, []byte(`
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
	for _, test := range []struct {
		name         string
		jar          string
		env, options []string
		want         string // in the log; "": nothing
		from, to     int    // versions of Java
	}{
		{name: "off", jar: "weft-otel.jar", env: []string{"WEFT_ENABLED=false"}},
		{name: "SDK off", jar: "weft-otel.jar", env: []string{"OTEL_SDK_DISABLED=true"}},
		{name: "neither on nor off", jar: "weft-otel.jar", env: []string{"WEFT_ENABLED=never"}, want: "WEFT_ENABLED=never (want true or false)"},
		{name: "invalid option", jar: "weft-otel.jar", env: []string{"WEFT_DEPTH=deep"}, want: `WEFT_DEPTH: option "depth": invalid number`},
		{name: "no library", jar: "weft-otel-only.jar", want: "does not contain " + platformLibrary()},
		{name: "other system", jar: "weft-otel.jar", options: []string{"-Dos.name=Plan 9"}, want: "no build for Plan 9"},
		{name: "no temporary folder", jar: "weft-otel.jar", options: []string{"-Djava.io.tmpdir=/nowhere"}, want: "/nowhere"},
		{name: "open temporary folder", jar: "weft-otel.jar", options: []string{"-Djava.io.tmpdir=" + open}, want: "other users may replace files in " + open},
		{name: "native access denied", jar: "weft-otel.jar", options: []string{"--illegal-native-access=deny"}, want: "Illegal native access", from: 24},
		{
			name: "security manager", jar: "weft-otel.jar", options: []string{"-Djava.security.manager", "-Djava.security.policy==" + policy},
			want: "access denied", to: 17,
		},
	} {
		for _, j := range jdks {
			if j.major < test.from || (test.to != 0 && j.major > test.to) {
				continue
			}
			t.Run(test.name+" on "+j.String(), func(t *testing.T) {
				s := jarStart{jdk: j, jar: copied(t, test.jar, t.TempDir(), "weft-otel.jar"), env: test.env, options: test.options}
				p := s.run(t, programs, "unix:///nowhere/weft.sock", "OneRequest")
				p.answer(t, "ready", func() {
					assert.LessOrEqual(t, len(p.libraries(t)), map[bool]int{true: 1}[test.name == "invalid option"])
				})
				p.answer(t, "answered", nil)
				require.Zero(t, p.wait(t))
				p.checkQuiet(t, append(j.restricted(), notStarted, "io.github.weftotel.context.Start log")...)
				logged := strings.Count(strings.Join(p.errLines(), "\n"), notStarted)
				assert.Equal(t, map[bool]int{true: 1}[test.want != ""], logged, "lines in the log")
				assert.Contains(t, strings.Join(p.errLines(), "\n"), test.want)
				assert.NotContains(t, strings.Join(p.errLines(), "\n"), "\tat ", "stack trace")
			})
		}
	}
}

// TestJarOnFileSystemWithoutExecution starts JVMs whose temporary folder does not allow programs: the library next to the jar is used, if any.
func TestJarOnFileSystemWithoutExecution(t *testing.T) {
	const mounted = `mount -t tmpfs -o noexec,mode=1777 weft "$0" && exec "$@"`
	temporary := t.TempDir()
	const mapped = `cp /bin/true "$0" && for loader in /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.*; do ! "$loader" "$0/true" || exit 1; done`
	command := []string{"--mount", "sh", "-c", mounted, temporary, "sh", "-c", mapped, temporary}
	if out, err := exec.Command("unshare", command...).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a file system from which the kernel maps no programs: %v: %s", err, out)
	}
	programs := otelPrograms(t)
	for name, want := range map[string]int{"libweft.so": 0, "other.so": 1} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			s := jarStart{jdk: jdks[0], jar: copied(t, "weft-otel.jar", folder, "weft-otel.jar"), options: []string{"-Djava.io.tmpdir=" + temporary}}
			copied(t, "libweft.so", folder, name)
			s.before = []string{"unshare", "--mount", "sh", "-c", mounted, temporary}
			p := s.run(t, programs, "unix:///nowhere/weft.sock", "OneRequest")
			p.answer(t, "ready", nil)
			p.answer(t, "answered", nil)
			require.Zero(t, p.wait(t))
			said := strings.Join(p.errLines(), "\n")
			assert.Equal(t, want, strings.Count(said, notStarted), "%s", said)
			if want > 0 {
				assert.Contains(t, said, "put "+platformLibrary()+" next to weft-otel.jar")
			}
		})
	}
}

// TestJarIgnoresFilesOfOthers has a library of another user next to the jar, and one that anybody may write to: the one in the jar is used.
func TestJarIgnoresFilesOfOthers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may give files away")
	}
	programs := otelPrograms(t)
	const other = 65533
	for name, change := range map[string]func(path string) error{
		"owner": func(path string) error { return os.Chown(path, other, other) },
		"link": func(path string) error {
			link := filepath.Join(filepath.Dir(path), platformLibrary())
			if err := os.Rename(path, path+".hidden"); err != nil {
				return err
			}
			if err := os.Symlink(path+".hidden", link); err != nil {
				return err
			}
			return os.Lchown(link, other, other)
		},
		"mode": func(path string) error { return os.Chmod(path, 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			s := jarStart{jdk: jdks[0], jar: copied(t, "weft-otel.jar", folder, "weft-otel.jar")}
			require.NoError(t, change(copied(t, "libweft.so", folder, "libweft.so")))
			c := startCollector(t, wholeRun)
			p := s.run(t, programs, c.endpoint, "OneRequest")
			p.answer(t, "ready", func() {
				loaded := p.libraries(t)
				require.Len(t, loaded, 1)
				assert.Contains(t, loaded[0], "(deleted)")
			})
			p.answer(t, "answered", nil)
			require.Zero(t, p.wait(t))
			checkRequests(t, c.finish(t, s.service()), s.service(), 1)
		})
	}
}

// TestNativeAccessIsOptional checks the warning of JEP 472 and how to avoid it.
func TestNativeAccessIsOptional(t *testing.T) {
	j := jdks[len(jdks)-1]
	if j.major < 24 {
		t.Skip("no JDK warns of native access")
	}
	programs := otelPrograms(t)
	for option, warned := range map[string]bool{nativeAccess: false, "-Dnone": true} {
		t.Run(option, func(t *testing.T) {
			s := jarStart{jdk: j, jar: copied(t, "weft-otel.jar", t.TempDir(), "weft-otel.jar"), options: []string{option}}
			c := startCollector(t, wholeRun)
			p := s.run(t, programs, c.endpoint, "OneRequest")
			p.answer(t, "ready", nil)
			p.answer(t, "answered", nil)
			require.Zero(t, p.wait(t))
			assert.Equal(t, warned, strings.Contains(strings.Join(p.errLines(), "\n"), "java.lang.System::load"))
			checkRequests(t, c.finish(t, s.service()), s.service(), 1)
		})
	}
}
