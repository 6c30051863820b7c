// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package k8s_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// overlays returns the folders that `kubectl apply -k` takes.
func overlays(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(root + "/deploy/kustomize/overlays/*")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return append(paths, root+"/deploy/kustomize/base")
}

// kustomize renders a folder as `kubectl kustomize` does: with files below the roots of its parts only.
func kustomize(t *testing.T, dir string) rendered {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	require.NoError(t, err, dir)
	text, err := built.AsYaml()
	require.NoError(t, err)
	return rendered{name: dir, objects: parse(t, string(text))}
}

func TestKustomizeExamples(t *testing.T) {
	want := map[string][]string{
		"base":      {"DaemonSet", "Deployment"},
		"daemonset": {"DaemonSet"},
		"durable":   {"DaemonSet", "StatefulSet"},
	}
	for _, dir := range overlays(t) {
		result := kustomize(t, dir)
		for _, kind := range []string{"DaemonSet", "Deployment", "StatefulSet"} {
			assert.Equal(t, slices.Contains(want[filepath.Base(dir)], kind), result.kinds()[kind] == 1, "%s: %s", dir, kind)
		}
		for _, object := range result.objects {
			if object.GetKind() != "Namespace" {
				assert.Equal(t, "weft", object.GetNamespace(), "%s: %s", dir, object.GetName())
			}
		}
		checkPods(t, result)
	}
}
