// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"debug/buildinfo"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checkNotices compares the parts that a text lists with the modules that a program was built from.
func checkNotices(t *testing.T, program, text string, more ...string) {
	t.Helper()
	info, err := buildinfo.ReadFile(program)
	require.NoError(t, err)
	want := append([]string{"Go " + strings.TrimPrefix(info.GoVersion, "go")}, more...)
	for _, dep := range info.Deps {
		if dep.Path != module {
			want = append(want, dep.Path+" "+dep.Version)
		}
	}
	list, texts, found := strings.Cut(text, "\n=====")
	require.True(t, found, "there are no texts")
	var have []string
	for _, match := range regexp.MustCompile(`(?m)^(\S.* \S+): \S+`).FindAllStringSubmatch(list, -1) {
		have = append(have, match[1])
		assert.Contains(t, texts, "\n  "+match[1]+", ", "no text of %s", match[1])
	}
	assert.ElementsMatch(t, want, have, program)
}

// pagePart is what all programs with the page contain in addition to modules.
func pagePart(t *testing.T, r release) string {
	t.Helper()
	version := regexp.MustCompile(`"preact": "([0-9.]+)"`).FindStringSubmatch(read(t, r.repo("web/package.json")))
	require.NotNil(t, version)
	return "npm preact " + version[1]
}

// TestThirdPartyNoticesAreInEachPiece checks that whoever gets a piece gets the licenses of all that is in it.
func TestThirdPartyNoticesAreInEachPiece(t *testing.T) {
	r := built(t)
	preact := pagePart(t, r)
	for _, processor := range r.processors {
		for _, system := range systems {
			name, kind := "weft", ".tar.gz"
			if system == "windows" {
				name, kind = "weft.exe", ".zip"
			}
			dir := unpacked(t, r, "weft_"+r.version+"_"+system+"_"+processor+kind)
			checkNotices(t, filepath.Join(dir, name), read(t, filepath.Join(dir, thirdParty)), preact)
		}
		for _, name := range collectors {
			dir := unpacked(t, r, name+"_"+r.version+"_linux_"+processor+".tar.gz")
			checkNotices(t, filepath.Join(dir, name), read(t, filepath.Join(dir, thirdParty)), preact)
		}
	}
	agent := unpacked(t, r, "weft-agent_"+r.version+"_linux.tar.gz")
	assert.FileExists(t, filepath.Join(agent, thirdParty))
	for _, name := range []string{"META-INF/LICENSE", "META-INF/" + thirdParty} {
		assert.NotEmpty(t, output(t, agent, nil, "unzip", "-p", "weft-otel.jar", name), name)
	}
	for _, name := range []string{"weft", "weft-collector"} {
		path := "/usr/share/doc/" + name + "/" + thirdParty
		want := read(t, r.noticesOf("linux", runtime.GOARCH, name))
		deb := exec.CommandContext(t.Context(), "sh", "-c", `dpkg-deb --fsys-tarfile "$0" | tar -xO ".$1"`, only(t, r.out, name+"_*_"+runtime.GOARCH+".deb"), path)
		have, err := deb.Output()
		require.NoError(t, err)
		assert.Equal(t, want, string(have), name)
		assert.Contains(t, output(t, r.out, nil, "rpm", "--query", "--list", "--package", only(t, r.out, name+"-[0-9]*."+machine(runtime.GOARCH)+".rpm")), path+"\n")
	}
}

// TestThirdPartyNoticesAreInEachImage also finds the certificates there.
func TestThirdPartyNoticesAreInEachImage(t *testing.T) {
	r := built(t)
	preact := pagePart(t, r)
	const certificates = "golang.org/x/crypto/x509roots/fallback"
	version := regexp.MustCompile(regexp.QuoteMeta(certificates) + ` (\S+)`).FindStringSubmatch(read(t, "go.mod"))
	require.NotNil(t, version)
	for _, name := range collectors {
		for _, image := range platforms(t, r, name) {
			dir := extracted(t, image)
			checkNotices(t, filepath.Join(dir, "/usr/bin/weft-collector"), read(t, filepath.Join(dir, thirdParty)), preact, certificates+" "+version[1])
		}
	}
	for _, image := range platforms(t, r, "weft-agent-init") {
		dir := extracted(t, image)
		checkNotices(t, filepath.Join(dir, "/bin/cp"), read(t, filepath.Join(dir, thirdParty)))
	}
}
