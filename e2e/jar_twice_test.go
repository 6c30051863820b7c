// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// twice is a JVM that gets the agent in several ways.
type twice struct {
	name     string
	given    string // -agentpath: "same" is the file next to the jar, "copy" another one
	attached string // likewise, before the jar; "" after it, where the file is another one
	nextTo   bool   // a library is next to the jar
	note     string // what weft attach says in the end
}

// TestAgentStartsOnce combines the jar, in two class loaders, with -agentpath and weft attach: there is one agent, and both SDKs report their
// spans to it.
func TestAgentStartsOnce(t *testing.T) {
	programs := otelPrograms(t)
	jars, err := filepath.Glob(filepath.Join(built("otel"), "*.jar"))
	require.NoError(t, err)
	onEachJDK(t, func(t *testing.T, j jdk) {
		for _, way := range []twice{
			{name: "jar", note: startedByJar},
			{name: "jar next to a library", nextTo: true, note: startedByJar},
			{name: "agentpath of the same file", given: "same", nextTo: true, note: ignored},
			{name: "agentpath of a copy", given: "copy", nextTo: true, note: ignored},
			{name: "agentpath", given: "copy", note: ignored},
			{name: "attached the same file", attached: "same", nextTo: true, note: ignored},
			{name: "attached a copy", attached: "copy", nextTo: true, note: ignored},
		} {
			t.Run(way.name, func(t *testing.T) { way.run(t, j, programs, jars) })
		}
	})
}

func (w twice) run(t *testing.T, j jdk, programs string, jars []string) {
	t.Helper()
	folder := t.TempDir()
	s := jarStart{jdk: j, jar: copied(t, "weft-otel.jar", folder, "weft-otel.jar"), options: []string{"-Xcheck:jni"}}
	files := map[string]string{"copy": copied(t, "libweft.so", t.TempDir(), "libweft.so"), "": built("libweft.so")}
	if w.nextTo {
		files["same"] = copied(t, "libweft.so", folder, "libweft.so")
	}
	c := startCollector(t, wholeRun)
	if w.given != "" {
		s.options = append(s.options, "-agentpath:"+files[w.given]+"=endpoint="+c.endpoint+everything)
	}
	arguments := append([]string{"TwoLoaders", programs, s.jar}, jars...)
	s.jar = "" // not on the class path
	p := s.run(t, programs, c.endpoint, arguments...)
	attach := func(options ...string) string {
		command := append([]string{"attach", "-v", "--agent", files[w.attached], strconv.Itoa(p.cmd.Process.Pid)}, options...)
		out, err := exec.Command(built("weft"), command...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	p.answer(t, "begin", func() {
		if w.attached != "" {
			attach("endpoint="+c.endpoint, "pool=64m", "exit-wait=60s")
		}
	})
	p.answer(t, "ready", nil)
	p.answer(t, "answered", nil)
	next := func(word string, meanwhile func()) { // the second time
		poll(t, "the second program is "+word, func() bool {
			require.True(t, p.running(), "%s", clip(strings.Join(p.errLines(), "\n")))
			return strings.Count(strings.Join(p.outLines(), "\n"), word) == 2
		})
		meanwhile()
		_, err := p.stdin.Write([]byte("\n"))
		require.NoError(t, err)
	}
	next("ready", func() {
		assert.Contains(t, attach("wait-depth=5"), "wait-depth=5")
	})
	next("answered", func() {
		notes := attach()
		assert.Contains(t, notes, w.note)
		assert.Contains(t, notes, "wait-depth=5")
		assert.Contains(t, notes, "weft-otel.jar reports the current spans")
		assert.NotContains(t, notes, "OTEP 4947", "a copy counts as another library")
	})
	require.Zero(t, p.wait(t))
	p.checkQuiet(t, append(restricted(j), dynamic)...)
	checkRequests(t, c.finish(t, s.service()), s.service(), 2)
}
