// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inEmptyRoot runs a command in a root with a JDK, the shared libraries that it needs, and the file weft: no shell and no other program.
// Arguments: the root, the JDK, weft, the folders of the application, separated by a space and mounted where they are, the libraries, the
// command.
const inEmptyRoot = `
mount -t tmpfs weft "$1" && cd "$1" && mkdir proc dev tmp jdk etc && chmod 1777 tmp
mount --rbind /dev dev && mount -t proc proc proc && mount --bind "$2" jdk
cp "$3" weft
for folder in $4; do mkdir -p ".$folder" && mount --bind "$folder" ".$folder"; done
for library in $5; do mkdir -p ".${library%/*}" && cp -L "$library" ".$library"; done
shift 5
exec chroot . "$@"
`

// emptyRoot is a JVM in an empty root.
type emptyRoot struct {
	jvm     *process
	pid     string // on the host
	address string
}

// shopInEmptyRoot starts Spring Boot in an empty root.
func shopInEmptyRoot(t *testing.T, j jdk, classpath string) *emptyRoot {
	t.Helper()
	home, err := filepath.EvalSymlinks(j.Home)
	require.NoError(t, err)
	var folders []string
	for _, entry := range filepath.SplitList(classpath) {
		folders = append(folders, strings.TrimSuffix(entry, "/*"))
	}
	if settings := "/etc/java-" + strconv.Itoa(j.Major) + "-openjdk"; exists(settings) { // Debian links from its JDK to there
		folders = append(folders, settings)
	}
	r := &emptyRoot{address: freeAddress(t)}
	host, port, _ := strings.Cut(r.address, ":")
	r.jvm = start(t, nil, "unshare", "--mount", "--pid", "--fork", "sh", "-ec", inEmptyRoot, "sh", t.TempDir(), home, built("standalone/weft"),
		strings.Join(folders, " "), strings.Join(librariesOf(t, home), " "),
		"/jdk/bin/java", "-cp", classpath, "com.acme.shop.Shop", "--server.address="+host, "--server.port="+port,
		"--spring.datasource.url=jdbc:h2:mem:shop", "--spring.datasource.hikari.maximum-pool-size=4", "--spring.datasource.hikari.connection-timeout=600000")
	poll(t, "the shop answers", func() bool {
		require.True(t, r.jvm.running(), "the shop ended: %s", clip(strings.Join(append(r.jvm.outLines(), r.jvm.errLines()...), "\n")))
		return answers(r.address + "/waited")
	})
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", r.jvm.cmd.Process.Pid))
	require.NoError(t, err)
	r.pid = strings.TrimSpace(string(children))
	pid, err := strconv.Atoi(r.pid)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return r
}

// librariesOf returns what the libraries of a JDK need from outside, and all of glibc that a program may be linked with.
func librariesOf(t *testing.T, home string) (paths []string) {
	t.Helper()
	programs, err := filepath.Glob(home + "/lib/*.so")
	require.NoError(t, err)
	programs = append(programs, home+"/lib/server/libjvm.so", home+"/bin/java")
	out, _ := exec.Command("ldd", programs...).Output() // some of its libraries, for fonts and sound, may lack theirs
	for line := range bytes.Lines(out) {
		for word := range strings.FieldsSeq(string(line)) {
			if !strings.HasPrefix(word, "/") || strings.HasPrefix(word, home) || strings.HasSuffix(word, ":") || strings.Contains(word, "/libX") {
				continue
			}
			paths = append(paths, word)
			if filepath.Base(word) == "libc.so.6" {
				for _, name := range []string{"libpthread.so.0", "libdl.so.2", "librt.so.1"} {
					paths = append(paths, filepath.Join(filepath.Dir(word), name))
				}
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// command is weft in the empty root.
func (r *emptyRoot) command(args ...string) []string {
	return append([]string{"nsenter", "--target", r.pid, "--mount", "--pid", "--root", "/weft"}, args...)
}

// weft runs weft in the empty root and returns its output.
func (r *emptyRoot) weft(t *testing.T, args ...string) string {
	t.Helper()
	words := r.command(args...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = []string{} // no HOME, no PATH
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "weft %v: %s", args, stderr.String())
	return string(out)
}

// serve sends requests until the test ends.
func (r *emptyRoot) serve(t *testing.T) {
	t.Helper()
	const clients = 24
	stop := make(chan struct{})
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				body, err := get(fmt.Sprintf("http://%s/order/%d", r.address, client))
				if err == nil {
					assert.Equal(t, "placed", body)
				}
			}
		})
	}
	t.Cleanup(func() {
		close(stop)
		all.Wait()
	})
}
