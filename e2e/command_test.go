// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
)

// TestFirstLook has nothing but the file weft next to a Spring Boot service under load, in a root with a JDK and its libraries. All commands name
// the pool that the requests wait for.
func TestFirstLook(t *testing.T) {
	if out, err := exec.Command("unshare", "--mount", "--pid", "--fork", "chroot", "/", "true").CombinedOutput(); err != nil {
		t.Skipf("cannot make a container: %v: %s", err, out)
	}
	classpath := withJars(t, "spring")
	onEachJDK(t, func(t *testing.T, j jdk) {
		r := shopInEmptyRoot(t, j, classpath)
		r.serve(t)
		t.Run("list", func(t *testing.T) { checkListed(t, j, r, "") })
		t.Run("top", func(t *testing.T) { topped(t, r) })
		t.Run("record", func(t *testing.T) {
			began := time.Now()
			out := r.weft(t, "record", "Shop", "-d", "3s", "-o", "/tmp/shop.weft")
			t.Logf("the answer came %v after the start of a recording of 3 s:\n%s", time.Since(began).Round(time.Millisecond), out)
			first, _, _ := strings.Cut(out, "\n\n")
			assert.Regexp(t, `^\d+ http-nio-\S+ threads waited \S+ s for a connection of HikariPool in Shop\$OrderController\.order`, strings.Join(strings.Fields(first), " "))
			assert.Contains(t, r.weft(t, "summary", "/tmp/shop.weft"), "HikariPool")
			checkListed(t, j, r, "idle")
		})
		t.Run("view", func(t *testing.T) { viewed(t, r) })
		left, err := filepath.Glob(filepath.Join("/proc", r.pid, "root", "tmp", ".weft*"))
		require.NoError(t, err)
		assert.Empty(t, left, "in the JVM's /tmp")
	})
}

// checkListed checks what weft list says about the JVM, with the state of its agent.
func checkListed(t *testing.T, j jdk, r *emptyRoot, agent string) {
	t.Helper()
	var all []struct {
		PID       int    `json:"pid"`
		MainClass string `json:"main_class"`
		Version   string `json:"version"`
		Agent     string `json:"agent"`
		CanAttach bool   `json:"can_attach"`
		Problem   string `json:"problem"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.weft(t, "list", "--format", "json")), &all))
	require.Len(t, all, 1)
	assert.Equal(t, "com.acme.shop.Shop", all[0].MainClass)
	assert.Regexp(t, `^`+strconv.Itoa(j.Major)+`\b`, all[0].Version)
	assert.True(t, all[0].CanAttach)
	assert.Empty(t, all[0].Problem)
	assert.Equal(t, agent != "", all[0].Agent != "")
	assert.Contains(t, r.weft(t, "list"), "com.acme.shop.Shop")
}

// topped looks at the screen of weft top, and quits: the agent is then stopped.
func topped(t *testing.T, r *emptyRoot) {
	t.Helper()
	began := time.Now()
	s := openScreen(t, 160, 40, r.command("top", "Shop")...)
	s.until(t, "a connection of HikariPool")
	t.Logf("the first answer came %v after the start", time.Since(began).Round(time.Millisecond))
	s.until(t, "Shop$OrderController.order")
	t.Logf("\n%s", s.text())
	s.press(t, "2")
	s.until(t, "[2 waits")
	s.until(t, "HikariPool")
	s.press(t, "\r")
	s.until(t, "com.zaxxer.hikari.pool.HikariPool.getConnection")
	s.press(t, "q")
	require.NoError(t, <-s.ended)
	assert.Contains(t, r.weft(t, "list"), " idle ")
}

// viewed opens the page of the live JVM in Chromium, and ends the program: the agent is then stopped.
func viewed(t *testing.T, r *emptyRoot) {
	t.Helper()
	words := r.command("view", "Shop", "--no-browser")
	view := start(t, nil, words[0], words[1:]...)
	p := browser.Start(t).Open(t, addressIn(t, view), browser.Window{Width: 1280, Height: 800})
	p.Until(`document.querySelector(".status button")?.innerText.includes("Live")`)
	p.Until(`document.querySelector(".answer")?.innerText.includes("HikariPool")`)
	p.Expect("ERR_") // the program ends
	interrupt(t, view)
	assert.Empty(t, view.errLines())
	assert.Contains(t, r.weft(t, "list"), " idle ")
}

// addressIn returns the address of the page that weft view prints.
func addressIn(t *testing.T, view *process) (url string) {
	t.Helper()
	poll(t, "weft view prints an address", func() bool {
		require.True(t, view.running(), "weft view ended: %v", view.errLines())
		url = regexp.MustCompile(`http://\S+`).FindString(strings.Join(view.outLines(), "\n"))
		return url != ""
	})
	return url
}

// interrupt ends weft, which nsenter may have started as its child.
func interrupt(t *testing.T, p *process) {
	t.Helper()
	pid := p.cmd.Process.Pid
	children, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(pid) + "/children")
	require.NoError(t, err)
	if child, err := strconv.Atoi(strings.TrimSpace(string(children))); err == nil {
		pid = child
	}
	require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
	assert.Zero(t, p.wait(t), "exit code of weft")
}

// TestRunOfAProgram starts programs under weft run: java, and a script that starts two.
func TestRunOfAProgram(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		java := filepath.Join(j.Home, "bin", "java")
		t.Run("java", func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "sleeps.weft")
			p := start(t, nil, built("weft"), "run", "-o", out, "--", java, "-cp", classes, "Sleeps", "20")
			require.Zero(t, p.wait(t), "exit code")
			assert.Contains(t, strings.Join(p.errLines(), "\n"), "See more with: weft view "+out)
			assert.FileExists(t, out)
			again := start(t, nil, built("weft"), "run", "-o", out, "--", java, "-version")
			assert.Equal(t, 1, again.wait(t))
			assert.Contains(t, again.errLines()[0], "exists; replace it with --force")
		})
		t.Run("exit code", func(t *testing.T) {
			p := start(t, nil, built("weft"), "run", "-o", filepath.Join(t.TempDir(), "x.weft"), "--", java, "-cp", classes, "NoSuchClass")
			assert.Equal(t, 1, p.wait(t))
		})
		t.Run("script", func(t *testing.T) {
			dir := t.TempDir()
			script := filepath.Join(dir, "both")
			require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"+java+" -cp "+classes+" Sleeps 20\n"+java+" -cp "+classes+" Sleeps 20\nexit 7\n"), 0o700))
			p := start(t, []string{"JAVA_HOME=" + j.Home}, built("weft"), "run", "-o", filepath.Join(dir, "x.weft"), "--", script)
			assert.Equal(t, 7, p.wait(t))
			files, err := filepath.Glob(filepath.Join(dir, "x-*.weft"))
			require.NoError(t, err)
			assert.Len(t, files, 2)
		})
	})
}
