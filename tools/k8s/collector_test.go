// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package k8s_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const collector = root + "/build/weft-collector-full"

// TestCollectorsAcceptTheirConfigurations runs `weft-collector validate` with the arguments and the files of each container.
func TestCollectorsAcceptTheirConfigurations(t *testing.T) {
	for _, name := range valueSets(t) {
		t.Run(name, func(t *testing.T) { validate(t, render(t, name, "")) })
	}
	for _, overlay := range overlays(t) {
		t.Run(filepath.Base(overlay), func(t *testing.T) { validate(t, kustomize(t, overlay)) })
	}
}

// workloads returns the objects with pods.
func (r rendered) workloads() []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(r.objects), func(object *unstructured.Unstructured) bool {
		return at(object.Object, "spec", "template", "spec") == nil
	})
}

func validate(t *testing.T, r rendered) {
	t.Helper()
	require.NotEmpty(t, r.workloads())
	for _, workload := range r.workloads() {
		dir := mount(t, r, workload)
		out, err := collectorCommand(t, workload, dir, "validate").CombinedOutput()
		assert.NoError(t, err, "%s: %s: %s", r.name, workload.GetName(), out)
	}
}

// mount writes the files that the container finds in /etc/weft to a folder, which it returns.
func mount(t *testing.T, r rendered, workload *unstructured.Unstructured) string {
	t.Helper()
	dir := t.TempDir()
	volumes, _ := at(workload.Object, "spec", "template", "spec", "volumes").([]any)
	for _, volume := range volumes {
		name, _ := at(volume, "configMap", "name").(string)
		if at(volume, "name") != "config" {
			continue
		}
		files, _ := r.find(t, "ConfigMap", name).Object["data"].(map[string]any)
		for file, text := range files {
			// Files of secrets and extra volumes do not exist here.
			local := strings.NewReplacer("/etc/weft-", dir+"/weft-", "/etc/ca/", dir+"/ca-").Replace(fmt.Sprint(text))
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(local), 0o600))
		}
	}
	for file, text := range map[string]string{"htpasswd": "", "tokens": "x"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "weft-page"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "weft-page", file), []byte(text), 0o600))
	}
	return dir
}

// collectorCommand returns the command of the container, with the configuration in a folder.
func collectorCommand(t *testing.T, workload *unstructured.Unstructured, dir string, subcommand ...string) *exec.Cmd {
	t.Helper()
	require.FileExists(t, collector, "run make k8stest, which builds it")
	container := at(workload.Object, "spec", "template", "spec", "containers", 0)
	arguments := subcommand
	list, _ := at(container, "args").([]any)
	for _, argument := range list {
		arguments = append(arguments, strings.ReplaceAll(fmt.Sprint(argument), "/etc/weft/", dir+"/"))
	}
	command := exec.CommandContext(t.Context(), collector, arguments...)
	command.Env = []string{"TOKEN=secret", "HOME=" + dir}
	variables, _ := at(container, "env").([]any)
	for _, variable := range variables {
		if value, ok := at(variable, "value").(string); ok {
			command.Env = append(command.Env, fmt.Sprint(at(variable, "name"))+"="+value)
		}
	}
	return command
}
