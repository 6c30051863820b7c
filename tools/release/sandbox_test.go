// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// sandbox is this machine with a layer above its files, so that packages can be installed, and nothing of them stays.
type sandbox struct {
	pid  string // of a process in its mount namespace
	root string // of its files, in that namespace
}

// newSandbox needs the rights of root, unless a test is to be skipped on a developer's machine.
func newSandbox(t *testing.T) sandbox {
	t.Helper()
	if os.Getuid() != 0 && os.Getenv("CI") == "" {
		t.Skip("NOTHING WAS TESTED: installing packages takes root")
	}
	dir := t.TempDir()
	const prepare = `set -e
		mount -t tmpfs tmpfs "$1"
		mkdir "$1/upper" "$1/work" "$1/root"
		mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
		mount --rbind /proc "$1/root/proc"
		mount --rbind /dev "$1/root/dev"
		mount -t tmpfs -o mode=755 tmpfs "$1/root/run"
		mount -t tmpfs -o mode=1777 tmpfs "$1/root/tmp"
		touch "$1/root/run/ready"
		exec sleep infinity`
	holder := start(t, dir, nil, "unshare", "--mount", "/bin/sh", "-c", prepare, "sh", dir)
	s := sandbox{strconv.Itoa(holder.cmd.Process.Pid), filepath.Join(dir, "root")}
	holder.until(t, "the sandbox is ready", func() bool {
		return exec.CommandContext(t.Context(), "nsenter", "--target="+s.pid, "--mount", "test", "-e", s.root+"/run/ready").Run() == nil
	})
	return s
}

// command returns a command line that runs in the sandbox as a user and a group: weft:weft; empty is root.
func (s sandbox) command(as string, args ...string) []string {
	line := []string{"--target=" + s.pid, "--mount", "chroot"}
	if as != "" {
		line = append(line, "--userspec="+as)
	}
	return append(append(line, s.root), args...)
}

// run runs a program in the sandbox as root.
func (s sandbox) run(t *testing.T, args ...string) string {
	t.Helper()
	return output(t, "/", append(os.Environ(), "DEBIAN_FRONTEND=noninteractive"), "nsenter", s.command("", args...)...)
}

// shell runs a line of the shell in the sandbox as root.
func (s sandbox) shell(t *testing.T, line string) string {
	t.Helper()
	return strings.TrimSpace(s.run(t, "/bin/sh", "-ec", line))
}

// copy copies a file from outside into /tmp of the sandbox and returns its path there.
func (s sandbox) copy(t *testing.T, path string) string {
	t.Helper()
	target := "/tmp/" + filepath.Base(path)
	output(t, "/", nil, "nsenter", "--target="+s.pid, "--mount", "cp", path, s.root+target)
	return target
}

// start starts a program in the sandbox.
func (s sandbox) start(t *testing.T, as string, env []string, args ...string) *process {
	t.Helper()
	return start(t, "/", env, "nsenter", s.command(as, args...)...)
}
