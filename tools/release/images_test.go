// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// platforms returns the images of a layout by processor, after a check of each digest.
func platforms(t *testing.T, r release, name string) map[string]v1.Image {
	t.Helper()
	outer, err := layout.ImageIndexFromPath(filepath.Join(r.out, "oci", name))
	require.NoError(t, err)
	require.NoError(t, validate.Index(outer))
	manifest, err := outer.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 1)
	assert.Equal(t, r.version, manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"])
	index, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	require.NoError(t, err)
	manifest, err = index.IndexManifest()
	require.NoError(t, err)
	all := map[string]v1.Image{}
	for i := range manifest.Manifests {
		descriptor := &manifest.Manifests[i]
		image, err := index.Image(descriptor.Digest)
		require.NoError(t, err)
		require.Equal(t, "linux", descriptor.Platform.OS)
		all[descriptor.Platform.Architecture] = image
	}
	require.Len(t, all, len(r.processors))
	return all
}

// extracted unpacks the files of an image, with their owners, as a runtime does.
func extracted(t *testing.T, image v1.Image) string {
	t.Helper()
	if os.Getuid() != 0 && os.Getenv("CI") == "" {
		t.Skip("NOTHING WAS TESTED: files of other users take root")
	}
	dir := t.TempDir()
	files := mutate.Extract(image)
	unpack := exec.CommandContext(t.Context(), "tar", "--extract", "--preserve-permissions", "--numeric-owner", "--directory="+dir)
	unpack.Stdin = files
	out, err := unpack.CombinedOutput()
	require.NoError(t, errors.Join(err, files.Close()), "%s", out)
	return dir
}

func TestImagesAreCompleteForEachProcessor(t *testing.T) {
	r := built(t)
	for name, program := range map[string]string{
		"weft-collector": "/usr/bin/weft-collector", "weft-collector-full": "/usr/bin/weft-collector", "weft-agent-init": "/bin/cp",
	} {
		for processor, image := range platforms(t, r, name) {
			config, err := image.ConfigFile()
			require.NoError(t, err)
			assert.Equal(t, processor, config.Architecture)
			assert.Equal(t, "65532:65532", config.Config.User, "%s runs as root", name)
			assert.Equal(t, r.version, config.Config.Labels["org.opencontainers.image.version"])
			assert.Equal(t, name, config.Config.Labels["org.opencontainers.image.title"])
			machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
			parsed, err := elf.Open(filepath.Join(extracted(t, image), program))
			require.NoError(t, err)
			assert.Equal(t, machines[processor], parsed.Machine, "%s for %s", name, processor)
			imported, err := parsed.ImportedLibraries()
			require.NoError(t, err)
			assert.Empty(t, imported, "there is no libc in %s", name)
			require.NoError(t, parsed.Close())
		}
	}
}

// TestCollectorImagesStart runs the collector in nothing but the files of its image, as its user, with its default command line.
func TestCollectorImagesStart(t *testing.T) {
	r := built(t)
	for _, name := range collectors {
		t.Run(name, func(t *testing.T) {
			image := platforms(t, r, name)[runtime.GOARCH]
			dir := extracted(t, image)
			config, err := image.ConfigFile()
			require.NoError(t, err)
			endpoint, page, health := freeAddress(t), freeAddress(t), freeAddress(t)
			env := append(slices.Clone(config.Config.Env), "WEFT_ENDPOINT=tcp://"+endpoint, "WEFT_PAGE="+page, "WEFT_HEALTH="+health)
			command := append([]string{"--userspec=" + config.Config.User, dir}, config.Config.Entrypoint...)
			collector := start(t, "/", env, "/usr/sbin/chroot", append(command, config.Config.Cmd...)...)
			collector.until(t, "the health check succeeds", func() bool { return get("http://"+health+"/") != "" })
			assert.Contains(t, get("http://"+page+"/"), "app.js")

			agent := filepath.Join(r.root, "build/dist/libweft-linux-"+machine(runtime.GOARCH)+".so")
			jvm := start(t, t.TempDir(), os.Environ(), "java", "-agentpath:"+agent+"=endpoint=tcp://"+endpoint+",service=imaged",
				filepath.Join(r.root, "tools/release/testdata/Waits.java"))
			jvm.until(t, "the page lists the JVM", func() bool { return strings.Contains(get("http://"+page+"/api/sessions"), `"imaged"`) })
			collector.terminate(t)
			assert.DirExists(t, filepath.Join(dir, "var/lib/weft/page"), "the history of the page")
		})
	}
}

// TestAgentImageCopies runs what the OpenTelemetry operator runs for an extension of its Java agent.
func TestAgentImageCopies(t *testing.T) {
	r := built(t)
	image := platforms(t, r, "weft-agent-init")[runtime.GOARCH]
	dir := extracted(t, image)
	config, err := image.ConfigFile()
	require.NoError(t, err)
	target := filepath.Join(dir, "otel-auto-instrumentation-java", "extensions")
	require.NoError(t, os.MkdirAll(target, 0o755))
	require.NoError(t, os.Chown(target, 65532, 65532))
	output(t, "/", config.Config.Env, "/usr/sbin/chroot", "--userspec="+config.Config.User, dir,
		"cp", "-r", "/weft/.", "/otel-auto-instrumentation-java/extensions")
	for name, source := range map[string]string{
		"libweft.so":      "build/dist/libweft-linux-" + machine(runtime.GOARCH) + ".so",
		"libweft-musl.so": "build/dist/libweft-linux-musl-" + machine(runtime.GOARCH) + ".so",
		"weft-otel.jar":   "build/weft-otel.jar",
	} {
		want, err := os.ReadFile(filepath.Join(r.root, source))
		require.NoError(t, err)
		have, err := os.ReadFile(filepath.Join(target, name))
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, have), name)
	}
}
