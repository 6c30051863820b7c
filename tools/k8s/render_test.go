// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package k8s_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	release "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigyaml "sigs.k8s.io/yaml"
)

const (
	root      = "../.."
	chart     = root + "/deploy/helm/weft"
	namespace = "observability"
)

// kubernetes is the version that manifests are rendered for: that of tools/apiserver.
var kubernetes = common.KubeVersion{Version: "v1.36.3", Major: "1", Minor: "36"}

// rendered is what Helm or Kustomize would apply.
type rendered struct {
	name, notes string
	objects     []*unstructured.Unstructured
}

// valueSets returns the names of the files with values that the chart is tested with.
func valueSets(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(chart + "/ci/*.yaml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(paths), 10)
	for i, path := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(path), ".yaml")
	}
	return paths
}

// values returns the values of a file, with changes in YAML.
func values(t *testing.T, name, changes string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(chart, "ci", name+".yaml"))
	require.NoError(t, err)
	all := map[string]any{}
	for _, text := range []string{string(data), changes} {
		part := map[string]any{}
		require.NoError(t, sigyaml.Unmarshal([]byte(text), &part))
		all = merge(all, part)
	}
	return all
}

func merge(into, from map[string]any) map[string]any {
	for key, value := range from {
		if inner, ok := value.(map[string]any); ok {
			if old, ok := into[key].(map[string]any); ok {
				value = merge(old, inner)
			}
		}
		into[key] = value
	}
	return into
}

// install renders the chart as `helm install --dry-run=client weft` does, with the check of the values against the schema.
func install(values map[string]any) (*release.Release, error) {
	loaded, err := loader.Load(chart)
	if err != nil {
		return nil, err
	}
	install := action.NewInstall(action.NewConfiguration())
	install.DryRunStrategy = action.DryRunClient
	install.ReleaseName, install.Namespace, install.KubeVersion = "weft", namespace, &kubernetes
	result, err := install.Run(loaded, values)
	if err != nil {
		return nil, err
	}
	return result.(*release.Release), nil
}

// render returns what the chart makes of a file with values, with changes in YAML.
func render(t *testing.T, name, changes string) rendered {
	t.Helper()
	result, err := install(values(t, name, changes))
	require.NoError(t, err)
	return rendered{name: name, notes: result.Info.Notes, objects: parse(t, result.Manifest)}
}

func parse(t *testing.T, manifest string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	documents := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(manifest)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		object := map[string]any{}
		require.NoError(t, sigyaml.UnmarshalStrict(document, &object), "%s", document)
		if len(object) > 0 {
			all = append(all, &unstructured.Unstructured{Object: object})
		}
	}
}

// find returns the only object of a kind with a name.
func (r rendered) find(t *testing.T, kind, name string) *unstructured.Unstructured {
	t.Helper()
	var found []*unstructured.Unstructured
	for _, object := range r.objects {
		if object.GetKind() == kind && object.GetName() == name {
			found = append(found, object)
		}
	}
	require.Len(t, found, 1, "%s: %s %s", r.name, kind, name)
	return found[0]
}

func (r rendered) kinds() map[string]int {
	all := map[string]int{}
	for _, object := range r.objects {
		all[object.GetKind()]++
	}
	return all
}

// at returns a part of an object or of a configuration, or nil. Numbers in the path are indexes of lists.
func at(object any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			inner, _ := object.(map[string]any)
			object = inner[step]
		case int:
			inner, _ := object.([]any)
			if step >= len(inner) {
				return nil
			}
			object = inner[step]
		}
	}
	return object
}

// collector returns the configuration of a tier.
func (r rendered) collector(t *testing.T, name string) map[string]any {
	t.Helper()
	config := map[string]any{}
	text, _ := at(r.find(t, "ConfigMap", name).Object, "data", "collector.yaml").(string)
	require.NoError(t, sigyaml.UnmarshalStrict([]byte(text), &config))
	require.NotEmpty(t, config)
	return config
}

// TestChartHasNoFindings is `helm lint --strict`.
func TestChartHasNoFindings(t *testing.T) {
	for _, name := range valueSets(t) {
		lint := action.NewLint()
		lint.Strict, lint.KubeVersion = true, &kubernetes
		result := lint.Run([]string{chart}, values(t, name, ""))
		require.Empty(t, result.Errors, name)
		for _, message := range result.Messages {
			require.Less(t, message.Severity, support.WarningSev, "%s: %s", name, message)
		}
	}
}
