// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/agent/attach"
)

// inContainer runs a command as user 65534 in a root of its own, with its own mounts and process IDs. Arguments: the root, what /tmp is there, the
// JDK, the classes, the command. The latter two are in /jdk and /classes.
const inContainer = `
mount -t tmpfs weft "$1" && cd "$1" && mkdir proc dev etc usr jdk var var/tmp && chmod 755 . && chmod 1777 var/tmp
case $2 in folder) mkdir tmp && chmod 1777 tmp ;; *) ln -s "$2" tmp ;; esac
for name in bin lib lib64; do ln -s usr/$name $name; done
for name in dev etc usr; do mount --rbind /$name $name; done
mount --bind "$3" jdk && mount -t proc proc proc
cp -r "$4" classes && chmod -R a+rX classes
shift 4
exec chroot --userspec=65534:65534 . "$@"
`

// TestAttachToAnotherRoot attaches to JVMs in containers, one of which says that its /tmp is a folder of the host.
func TestAttachToAnotherRoot(t *testing.T) {
	if out, err := exec.Command("unshare", "--mount", "--pid", "--fork", "chroot", "/", "true").CombinedOutput(); err != nil {
		t.Skipf("cannot make a container: %v: %s", err, out)
	}
	onEachJDK(t, func(t *testing.T, j jdk) {
		for name, tmp := range map[string]string{"folder": "folder", "absolute link": "/var/tmp", "relative link": "../../var/tmp"} {
			t.Run(name, func(t *testing.T) {
				pid := containedJVM(t, j, tmp)
				for range 2 {
					weft := start(t, nil, built("weft"), "attach", "--no-wait", "--verbose", pid, "depth=7")
					require.Zero(t, weft.wait(t), "exit code of weft attach")
					require.Contains(t, weft.outLines(), "  depth=7")
				}
				number, err := strconv.Atoi(pid)
				require.NoError(t, err)
				got := listed(t, number)
				assert.Equal(t, "LockNames", got.MainClass)
				assert.True(t, strings.HasPrefix(got.Version, strconv.Itoa(j.Major)), got.Version)
				assert.Regexp(t, "^(/var)?/tmp/libweft-[0-9]+-[0-9]+.so$", got.Agent.Library)
				assert.Contains(t, got.Agent.Report.Options, "depth=7")
				platform, err := attach.PlatformOf(number)
				require.NoError(t, err)
				own, err := attach.PlatformOfProgram(built("libweft.so"))
				require.NoError(t, err)
				assert.Equal(t, own, platform)
				require.Zero(t, start(t, nil, built("weft"), "detach", pid).wait(t), "exit code of weft detach")
				left, err := filepath.Glob(filepath.Join("/proc", pid, "root", "var", "tmp", ".[aw]*")) // all but .java_pid
				require.NoError(t, err)
				assert.Empty(t, left)
			})
		}
		t.Run("link to the host", func(t *testing.T) {
			victim := t.TempDir()
			require.NoError(t, os.Chmod(victim, 0o777)) // even if the user could write there
			pid := containedJVM(t, j, victim)
			weft := start(t, nil, built("weft"), "attach", "--timeout", "2s", pid)
			require.Equal(t, 1, weft.wait(t), "exit code of weft attach")
			require.Contains(t, strings.Join(weft.errLines(), "\n"), "cannot open its /tmp")
			entries, err := os.ReadDir(victim)
			require.NoError(t, err)
			require.Empty(t, entries)
		})
	})
}

// containedJVM starts a JVM in a container and returns its ID on the host.
func containedJVM(t *testing.T, j jdk, tmp string) string {
	t.Helper()
	home, err := filepath.EvalSymlinks(j.Home)
	require.NoError(t, err)
	p := start(t, nil, "unshare", "--mount", "--pid", "--fork", "sh", "-ec", inContainer, "sh", t.TempDir(), tmp, home, classes,
		"/jdk/bin/java", "-cp", "/classes", "LockNames", "attach")
	poll(t, "the program is ready", func() bool { return len(p.outLines()) == 1 })
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", p.cmd.Process.Pid))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(children)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // the first process of its namespace, which ends with it
	return strconv.Itoa(pid)
}
