// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manager is a package manager. Its own database does not have the packages of this machine if that is of the other kind.
type manager struct {
	format, arch             string
	install, upgrade, remove []string
	list                     []string // files of a package
}

func managers() []manager {
	return []manager{
		{
			"deb", runtime.GOARCH,
			[]string{"dpkg", "--install"},
			[]string{"dpkg", "--install"},
			[]string{"dpkg", "--remove"},
			[]string{"dpkg", "--listfiles"},
		},
		{
			"rpm", machine(runtime.GOARCH),
			[]string{"rpm", "--install", "--nodeps"},
			[]string{"rpm", "--upgrade", "--nodeps"},
			[]string{"rpm", "--erase", "--nodeps"},
			[]string{"rpm", "--query", "--list"},
		},
	}
}

// built returns the release in build/release, which make release-snapshot has written.
func built(t *testing.T) release {
	t.Helper()
	root := repository(t)
	r := release{
		root: root, bin: filepath.Join(root, "build/release-bin"), out: filepath.Join(root, "build/release"),
		version: snapshotVersion(t, root), time: time.Unix(1_700_000_000, 0).UTC(),
		processors: []string{"amd64", "arm64"},
	}
	require.DirExists(t, r.out, "run make release-snapshot")
	return r
}

// only returns the one file that a pattern matches.
func only(t *testing.T, elements ...string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(elements...))
	require.NoError(t, err)
	require.Len(t, found, 1, "files like %s", filepath.Join(elements...))
	return found[0]
}

// TestPackagesInstallStartUpgradeAndRemove does with each package manager what an administrator does. Nothing of it stays on this machine.
func TestPackagesInstallStartUpgradeAndRemove(t *testing.T) {
	r := built(t)
	for _, m := range managers() {
		t.Run(m.format, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			in := func(command []string, more string) {
				s.run(t, append(append([]string{}, command...), more)...)
			}
			in(m.install, s.copy(t, only(t, r.out, "weft-collector?0*"+m.arch+"."+m.format)))
			in(m.install, s.copy(t, only(t, r.out, "weft?0*"+m.arch+"."+m.format)))
			checkInstalled(t, s, m)
			checkUnit(t, s)
			checkService(t, s, r)

			s.shell(t, "echo '# edited' >>/etc/weft/collector.yaml")
			newer := r
			newer.version, newer.out = "0.1.1-dev", t.TempDir()
			require.NoError(t, newer.writePackage(newer.collectorPackage(runtime.GOARCH), m.format))
			in(m.upgrade, s.copy(t, only(t, newer.out, "*"+m.format)))
			assert.Equal(t, "# edited", s.shell(t, "tail -n 1 /etc/weft/collector.yaml"), "an upgrade keeps the configuration")
			assert.Equal(t, "root:weft 640", s.shell(t, "stat -c '%U:%G %a' /etc/weft/collector.yaml"))

			in(m.remove, "weft-collector")
			in(m.remove, "weft")
			assert.Equal(t, "gone", s.shell(t, "ls /usr/bin/weft-collector /usr/bin/weft /usr/lib/weft/libweft.so >/dev/null 2>&1 || echo gone"))
			assert.Equal(t, "# edited", s.shell(t, "tail -qn 1 /etc/weft/collector.yaml* | head -n 1"), "a removal keeps what was edited")
		})
	}
}

func checkInstalled(t *testing.T, s sandbox, m manager) {
	t.Helper()
	files := s.run(t, append(m.list, "weft-collector")...) + s.run(t, append(m.list, "weft")...)
	for _, want := range []string{
		"/usr/bin/weft-collector", "/usr/lib/systemd/system/weft-collector.service", "/usr/share/doc/weft-collector/examples/jaeger.yaml",
		"/usr/bin/weft", "/usr/lib/weft/libweft.so", "/usr/lib/weft/libweft-musl.so", "/usr/lib/weft/weft-otel.jar", "/usr/share/doc/weft/copyright",
	} {
		assert.Contains(t, files, want+"\n")
	}
	assert.Equal(t, "root:weft 640", s.shell(t, "stat -c '%U:%G %a' /etc/weft/collector.env"))
	assert.Regexp(t, `weft:x:\d+:\d+:Weft collector:/var/lib/weft:/usr/sbin/nologin`, s.run(t, "getent", "passwd", "weft"))
}

// checkUnit has systemd check the unit. It rates the exposure of a service from 0 (none) to 100.
func checkUnit(t *testing.T, s sandbox) {
	t.Helper()
	const unit = "/usr/lib/systemd/system/weft-collector.service"
	s.run(t, "systemd-analyze", "verify", "--man=no", unit)
	s.run(t, "systemd-analyze", "security", "--offline=true", "--threshold=25", unit)
}

// checkService starts what the unit starts, with the folders that systemd would create, and a JVM of another user in the group.
func checkService(t *testing.T, s sandbox, r release) {
	t.Helper()
	unit := s.run(t, "cat", "/usr/lib/systemd/system/weft-collector.service")
	require.Contains(t, unit, "User=weft\nGroup=weft\n")
	require.Contains(t, unit, "RuntimeDirectory=weft\nRuntimeDirectoryMode=2750\n")
	s.shell(t, "install -d -m 2750 -o weft -g weft /run/weft; install -d -m 750 -o weft -g weft /var/lib/weft")
	_, line, found := strings.Cut(unit, "\nExecStart=")
	require.True(t, found)
	line, _, _ = strings.Cut(line, "\n")
	page, health := freeAddress(t), freeAddress(t)
	env := append(os.Environ(), "WEFT_PAGE="+page, "WEFT_HEALTH="+health)
	collector := s.start(t, "weft:weft", env, "/bin/sh", "-c", "umask 027; . /etc/weft/collector.env; exec "+line)
	collector.until(t, "the health check succeeds", func() bool { return get("http://"+health+"/") != "" })
	assert.Equal(t, "weft:weft 660", s.shell(t, "stat -c '%U:%G %a' /run/weft/weft.sock"))
	assert.Contains(t, s.run(t, "weft", "version"), r.version)

	java := s.copy(t, r.repo("tools/release/testdata/Waits.java"))
	agent := "-agentpath:/usr/lib/weft/libweft.so=peer-user=weft,service=packaged"
	jvm := s.start(t, "nobody:weft", os.Environ(), "java", agent, java)
	jvm.until(t, "the page lists the JVM", func() bool { return strings.Contains(get("http://"+page+"/api/sessions"), `"packaged"`) })
	collector.terminate(t)
}
