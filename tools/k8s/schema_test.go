// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package k8s_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "github.com/prometheus-operator/prometheus-operator/pkg/versionutil" // this module has the definitions of its resources
	"github.com/stretchr/testify/require"
	"github.com/yannh/kubeconform/pkg/resource"
	"github.com/yannh/kubeconform/pkg/validator"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	sigyaml "sigs.k8s.io/yaml"
)

// kubernetesSpec is the specification of Kubernetes' API, in the module from which tools/apiserver builds the server.
var kubernetesSpec = sync.OnceValues(func() (map[string]any, error) {
	dir, err := goCommand(root+"/tools/apiserver", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes")
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(dir, "api/openapi-spec/swagger.json"))
	if err != nil {
		return nil, err
	}
	var spec struct {
		Definitions map[string]any `json:"definitions"`
	}
	err = json.Unmarshal(data, &spec)
	return spec.Definitions, err
})

func goCommand(dir string, arguments ...string) (string, error) {
	command := exec.Command("go", arguments...)
	command.Dir = dir
	out, err := command.Output()
	return strings.TrimSpace(string(out)), err
}

// customResources returns the path of the definition of a resource of the Prometheus operator: servicemonitors.
func customResources(t *testing.T, plural string) string {
	t.Helper()
	dir, err := goCommand(".", "list", "-m", "-f", "{{.Dir}}", "github.com/prometheus-operator/prometheus-operator")
	require.NoError(t, err)
	return filepath.Join(dir, "example/prometheus-operator-crd/monitoring.coreos.com_"+plural+".yaml")
}

// strict refuses unknown fields in all objects that a schema describes.
func strict(schema any) any {
	switch schema := schema.(type) {
	case map[string]any:
		if _, described := schema["properties"].(map[string]any); described && schema["x-kubernetes-preserve-unknown-fields"] != true {
			if _, set := schema["additionalProperties"]; !set {
				schema["additionalProperties"] = false
			}
		}
		if schema["format"] == "int-or-string" || schema["x-kubernetes-int-or-string"] == true {
			return map[string]any{"type": []any{"string", "integer"}}
		}
		for key, inner := range schema {
			schema[key] = strict(inner)
		}
	case []any:
		for i, inner := range schema {
			schema[i] = strict(inner)
		}
	}
	return schema
}

// writeSchemas writes a JSON schema for each kind to a folder, under the name that kubeconform looks for.
func writeSchemas(t *testing.T, dir string) {
	t.Helper()
	definitions, err := kubernetesSpec()
	require.NoError(t, err, "run make k8stest, which downloads k8s.io/kubernetes")
	all := strict(definitions).(map[string]any)
	all["io.k8s.apimachinery.pkg.api.resource.Quantity"] = map[string]any{"type": []any{"string", "number"}}
	for name, definition := range all {
		kinds, _ := at(definition, "x-kubernetes-group-version-kind").([]any)
		if len(kinds) != 1 || !needed[fmt.Sprint(at(kinds, 0, "kind"))] {
			continue
		}
		kind := kinds[0].(map[string]any)
		schema := map[string]any{"$ref": "#/definitions/" + name, "definitions": all}
		writeSchema(t, dir, kind["kind"], kind["group"], kind["version"], schema)
	}
	for _, plural := range []string{"servicemonitors", "prometheusrules"} {
		data, err := os.ReadFile(customResources(t, plural))
		require.NoError(t, err)
		definition := map[string]any{}
		require.NoError(t, sigyaml.Unmarshal(data, &definition))
		version := at(definition, "spec", "versions", 0)
		schema := strict(at(version, "schema", "openAPIV3Schema")).(map[string]any)
		// Of the server's fields of each object, this schema says only that they are an object.
		schema["properties"].(map[string]any)["metadata"] = map[string]any{"type": "object"}
		writeSchema(t, dir, at(definition, "spec", "names", "kind"), at(definition, "spec", "group"), at(version, "name"), schema)
	}
}

// needed are the kinds in deploy; each schema has a copy of all definitions, so the others are left out.
var needed = map[string]bool{
	"ConfigMap": true, "Service": true, "ServiceAccount": true, "DaemonSet": true, "Deployment": true, "StatefulSet": true, "Ingress": true,
	"NetworkPolicy": true, "PodDisruptionBudget": true, "HorizontalPodAutoscaler": true, "ClusterRole": true, "ClusterRoleBinding": true,
	"Namespace": true, "PersistentVolumeClaim": true,
}

func writeSchema(t *testing.T, dir string, kind, group, version any, schema map[string]any) {
	t.Helper()
	data, err := json.Marshal(schema)
	require.NoError(t, err)
	prefix, _, _ := strings.Cut(fmt.Sprint(group), ".") // kubeconform uses the first label of the group
	if prefix != "" {
		prefix += "-"
	}
	name := strings.ToLower(fmt.Sprintf("%s-%s%s.json", kind, prefix, version))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
}

// conform returns a function that compares objects with the schemas of Kubernetes and of the Prometheus operator.
func conform(t *testing.T) func(*unstructured.Unstructured) error {
	t.Helper()
	dir := t.TempDir()
	writeSchemas(t, dir)
	check, err := validator.New([]string{dir + "/{{ .ResourceKind }}{{ .KindSuffix }}.json"}, validator.Opts{Strict: true})
	require.NoError(t, err)
	return func(object *unstructured.Unstructured) error {
		data, err := sigyaml.Marshal(object.Object)
		if err != nil {
			return err
		}
		result := check.ValidateResource(resource.Resource{Path: object.GetKind() + " " + object.GetName(), Bytes: data})
		if result.Status != validator.Valid {
			return fmt.Errorf("%s %s: status %v: %w", object.GetKind(), object.GetName(), result.Status, result.Err)
		}
		return nil
	}
}

func TestManifestsMatchTheSchemas(t *testing.T) {
	check := conform(t)
	for _, name := range valueSets(t) {
		for _, object := range render(t, name, "").objects {
			require.NoError(t, check(object), name)
		}
	}
	for _, overlay := range overlays(t) {
		for _, object := range kustomize(t, overlay).objects {
			require.NoError(t, check(object), overlay)
		}
	}
}

// TestSchemasRefuseTypos shows that the check above can fail.
func TestSchemasRefuseTypos(t *testing.T) {
	check := conform(t)
	for _, changed := range []struct{ kind, name, field string }{
		{"DaemonSet", "weft-node", "spec.template.spec.automountServiceAccountTokens"},
		{"ServiceMonitor", "weft", "spec.jobLabels"},
	} {
		object := render(t, "prometheus", "").find(t, changed.kind, changed.name)
		require.NoError(t, check(object))
		require.NoError(t, unstructured.SetNestedField(object.Object, "x", strings.Split(changed.field, ".")...))
		require.ErrorContains(t, check(object), "additional properties", changed.field)
	}
}
