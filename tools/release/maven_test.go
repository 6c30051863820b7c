// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMavenArtifactResolvesAndRuns adds the artifact to an application, which runs with it and with the agent.
func TestMavenArtifactResolvesAndRuns(t *testing.T) {
	r := built(t)
	work := t.TempDir()
	libraries := filepath.Join(work, "libraries")
	cached := filepath.Join(mavenCache(t), "io/github/weft-otel/weft-otel", r.version) // of an earlier run
	require.NoError(t, os.RemoveAll(cached))
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(cached)) })
	output(t, r.root, nil, "mvn", "-q", "-B", "-f", "tools/release/testdata/consumer/pom.xml", "dependency:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory="+libraries, "-Dweft.version="+r.version, "-Dweft.repository="+filepath.Join(r.out, "maven"))
	jar := only(t, libraries, "weft-otel-*.jar")
	assert.Equal(t, read(t, filepath.Join(r.root, "build/weft-otel.jar")), read(t, jar))

	class := filepath.Join(libraries, "*")
	recording := filepath.Join(work, "consumer.weft")
	agent := filepath.Join(r.root, "build/dist/libweft-linux-"+machine(runtime.GOARCH)+".so")
	env := append(os.Environ(), "OTEL_TRACES_EXPORTER=none", "OTEL_METRICS_EXPORTER=none", "OTEL_LOGS_EXPORTER=none", "OTEL_SERVICE_NAME=consumer")
	printed := output(t, work, env, "java", "-agentpath:"+agent+"=file="+recording, "-cp", class,
		filepath.Join(r.root, "tools/release/testdata/consumer/Consumer.java"))
	storage, _, found := strings.Cut(strings.TrimSpace(printed), " ")
	require.True(t, found, printed)
	assert.True(t, strings.HasPrefix(storage, "io.github.weftotel.context."), printed)
	assert.Contains(t, read(t, recording), "consumer", "the agent recorded the service")
}

// TestMavenSourcesAndDocs checks what an editor shows of the artifact.
func TestMavenSourcesAndDocs(t *testing.T) {
	r := built(t)
	dir := filepath.Join(r.out, "maven/io/github/weft-otel/weft-otel", r.version)
	prefix := filepath.Join(dir, "weft-otel-"+r.version)
	assert.Contains(t, output(t, dir, nil, "unzip", "-l", prefix+"-sources.jar"), "io/github/weftotel/context/WeftContext.java\n")
	assert.Contains(t, output(t, dir, nil, "unzip", "-l", prefix+"-javadoc.jar"), "io/github/weftotel/context/WeftContext.html\n")
	for _, suffix := range []string{".pom", ".jar", "-sources.jar", "-javadoc.jar"} {
		sum := strings.Fields(output(t, dir, nil, "sha1sum", prefix+suffix))[0]
		assert.Equal(t, sum, read(t, prefix+suffix+".sha1"), suffix)
	}
}

// mavenCache is the repository on this machine, where Maven keeps what it has downloaded.
func mavenCache(t *testing.T) string {
	t.Helper()
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	return filepath.Join(home, ".m2", "repository")
}
