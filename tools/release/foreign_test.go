// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/weft-otel/weft/tools/release/internal/goproxy"
)

const module = "github.com/weft-otel/weft"

// TestComponentsBuildIntoAForeignCollector follows docs/installing.md: somebody else's manifest names the components as modules of a Go
// proxy. The proxy has what a commit of this working tree would contain, so a file that is not embedded or not committed is missing.
func TestComponentsBuildIntoAForeignCollector(t *testing.T) {
	root := repository(t)
	manifest, version := documentedManifest(t, root)
	work := filepath.Join(root, "build", "foreign") // kept: its module cache makes the next run fast
	proxy := filepath.Join(work, "proxy")
	modules := filepath.Join(work, "modules")
	generated := filepath.Join(work, "my-collector") // with the checksums of an earlier state
	for _, stale := range []string{generated, proxy, filepath.Join(modules, module+"@"+version), filepath.Join(modules, "cache/download", module)} {
		require.NoError(t, removeReadOnly(stale))
	}
	// A module of its own: the packages in the cache are not those of this repository.
	require.NoError(t, os.MkdirAll(work, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(work, "go.mod"), []byte("module example.com/foreign\n"), 0o600))
	require.NoError(t, goproxy.Write(root, proxy, version))

	// The modules that this machine has already are a proxy, too.
	proxies := "file://" + proxy + ",file://" + goEnv(t, root, "GOMODCACHE") + "/cache/download," + goEnv(t, root, "GOPROXY")
	// Go's cache has an index of each module by its path, which never changes in other caches of modules: without goindex=0, Go looks for the
	// files of the last run.
	env := append(os.Environ(), "GODEBUG=goindex=0", "GOPROXY="+proxies, "GONOSUMDB="+module, "GOMODCACHE="+modules, "GOFLAGS=-modcacherw -buildvcs=false",
		"GOCACHE="+goEnv(t, root, "GOCACHE"), "GOWORK=off")
	require.NoError(t, os.WriteFile(filepath.Join(work, "manifest.yaml"), manifest, 0o600))
	builder := strings.TrimSpace(output(t, root, nil, "go", "tool", "-modfile=tools/go.mod", "-n", "builder"))
	began := time.Now()
	output(t, work, env, builder, "--config=manifest.yaml")
	t.Logf("built in %v", time.Since(began).Round(time.Second))

	collector := filepath.Join(generated, "my-collector")
	components := output(t, work, nil, collector, "components")
	for _, name := range ownComponents(t, root) {
		assert.Contains(t, components, "name: "+name+"\n")
	}
	runForeign(t, root, collector)
}

// documentedManifest returns the manifest in docs/installing.md, and the version of Weft in it, after a comparison with the one in the README.
func documentedManifest(t *testing.T, root string) (manifest []byte, version string) {
	t.Helper()
	text := read(t, filepath.Join(root, "docs/installing.md"))
	block := regexp.MustCompile("(?s)```yaml\n(dist:.*?)```").FindStringSubmatch(text)
	require.NotNil(t, block, "docs/installing.md has no manifest for the builder")
	lines := regexp.MustCompile(`(?s)` + "```yaml\n" + `(\w+:\n  - gomod: github\.com/weft-otel/weft .*?)` + "```").FindStringSubmatch(read(t, filepath.Join(root, "README.md")))
	require.NotNil(t, lines, "README.md does not show the lines of a component")
	assert.Contains(t, block[1], lines[1], "README.md and docs/installing.md differ")
	assert.NotContains(t, block[1], "    path:", "a folder of another machine")
	assert.NotContains(t, block[1], "replaces:")

	versions := regexp.MustCompile(`gomod: `+regexp.QuoteMeta(module)+` (\S+)`).FindAllStringSubmatch(block[1], -1)
	require.Len(t, versions, len(ownComponents(t, root)), "a line for each component")
	released, _, _ := strings.Cut(snapshotVersion(t, root), "-")
	for _, match := range versions {
		assert.Equal(t, "v"+released, match[1], "docs/installing.md and builder-config.yaml name different versions")
	}
	return []byte(block[1]), versions[0][1]
}

// ownComponents returns the types of Weft's components.
func ownComponents(t *testing.T, root string) (types []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "*", "*", "metadata.yaml"))
	require.NoError(t, err)
	for _, path := range paths {
		var metadata struct{ Type string }
		require.NoError(t, yaml.Unmarshal([]byte(read(t, path)), &metadata))
		types = append(types, metadata.Type)
	}
	require.NotEmpty(t, types)
	return types
}

// TestStabilityIsDocumented compares docs/versioning.md with what the components declare.
func TestStabilityIsDocumented(t *testing.T) {
	root := repository(t)
	text := read(t, filepath.Join(root, "docs/versioning.md"))
	paths, err := filepath.Glob(filepath.Join(root, "*", "*", "metadata.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		var metadata struct {
			Type   string
			Status struct{ Stability map[string][]string }
		}
		require.NoError(t, yaml.Unmarshal([]byte(read(t, path)), &metadata))
		require.NotEmpty(t, metadata.Status.Stability, path)
		for level, signals := range metadata.Status.Stability {
			row := "| `" + metadata.Type + "` | " + level + " | " + strings.ReplaceAll(strings.Join(signals, ", "), "_", " ") + " |"
			assert.Contains(t, text, row, "docs/versioning.md and %s differ", path)
		}
	}
}

// runForeign replays a flight recording through all components, and reads the page and the spans.
func runForeign(t *testing.T, root, collector string) {
	t.Helper()
	out := t.TempDir()
	config, err := filepath.Abs("testdata/foreign.yaml")
	require.NoError(t, err)
	page := freeAddress(t)
	env := append(os.Environ(), "OUT="+out, "PAGE="+page, "RECORDING="+filepath.Join(root, "internal/recording/jfr/testdata/notifies-jdk17.jfr.gz"))
	output(t, out, env, collector, "validate", "--config="+config)

	p := start(t, out, env, collector, "--config="+config)
	p.until(t, "the page is served with its program", func() bool {
		return strings.Contains(get("http://"+page+"/"), "app.js") && len(get("http://"+page+"/chunk.js")) > 50_000
	})
	spans := filepath.Join(out, "spans.json")
	p.until(t, "links between threads are in spans.json", func() bool {
		text, _ := os.ReadFile(spans)
		return bytes.Contains(text, []byte(`"links":[{`)) && bytes.Contains(text, []byte(`"weft.link.kind"`))
	})
	p.terminate(t)
	for line := range strings.Lines(read(t, spans)) {
		assert.True(t, json.Valid([]byte(line)), "%.200s", line)
	}
	metrics := read(t, filepath.Join(out, "metrics.json"))
	assert.Contains(t, metrics, `"weft.`, "the connector's metrics")
	recordings, err := filepath.Glob(filepath.Join(out, "recordings", "*.weft"))
	require.NoError(t, err)
	assert.NotEmpty(t, recordings, "files of thread_log")
}

// get returns the body of a page, or nothing if there is none yet.
func get(url string) string {
	client := http.Client{Timeout: 10 * time.Second}
	response, err := client.Get(url)
	if err != nil {
		return ""
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return ""
	}
	return string(body)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

func goEnv(t *testing.T, root, name string) string {
	t.Helper()
	return strings.TrimSpace(output(t, root, nil, "go", "env", name))
}

// removeReadOnly removes a folder of the module cache.
func removeReadOnly(path string) error {
	if _, err := os.Lstat(path); os.IsNotExist(err) {
		return nil
	}
	if out, err := exec.Command("chmod", "-R", "u+w", path).CombinedOutput(); err != nil {
		return &exec.ExitError{Stderr: out}
	}
	return os.RemoveAll(path)
}
