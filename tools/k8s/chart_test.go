// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package k8s_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/loader"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	sigyaml "sigs.k8s.io/yaml"
)

func TestModesHaveTheirTiers(t *testing.T) {
	for name, want := range map[string][3]int{ // DaemonSets, Deployments, StatefulSets
		"daemonset": {1, 0, 0}, "daemonset-tls": {1, 0, 0}, "daemonset-service": {1, 0, 0},
		"gateway": {0, 1, 0}, "gateway-durable": {0, 0, 1},
		"both": {1, 1, 0}, "both-durable": {1, 0, 1}, "custom": {1, 1, 1},
		"page": {1, 0, 1}, "page-basic": {1, 1, 1}, "page-bearer": {1, 0, 1}, "prometheus": {1, 0, 0},
	} {
		kinds := render(t, name, "").kinds()
		assert.Equal(t, want, [3]int{kinds["DaemonSet"], kinds["Deployment"], kinds["StatefulSet"]}, name)
		assert.NotContains(t, kinds, "Secret", name)
	}
}

// checkPods compares all pods with the pod security standard restricted, but for what a directory of the host needs.
func checkPods(t *testing.T, r rendered) {
	t.Helper()
	for _, workload := range r.workloads() {
		where := r.name + ": " + workload.GetName()
		pod := at(workload.Object, "spec", "template", "spec")
		assert.Equal(t, true, at(pod, "securityContext", "runAsNonRoot"), where)
		assert.Equal(t, "RuntimeDefault", at(pod, "securityContext", "seccompProfile", "type"), where)
		assert.Equal(t, r.kinds()["ClusterRole"] > 0, at(pod, "automountServiceAccountToken"), where)
		var hostPath bool
		volumes, _ := at(pod, "volumes").([]any)
		for _, volume := range volumes {
			hostPath = hostPath || at(volume, "hostPath") != nil
		}
		initial, _ := at(pod, "initContainers").([]any)
		assert.Equal(t, hostPath, len(initial) == 1, "%s: an init container prepares the directory of the host, nothing else", where)
		containers, _ := at(pod, "containers").([]any)
		require.Len(t, containers, 1)
		for i, container := range append(containers, initial...) {
			context := at(container, "securityContext")
			assert.Equal(t, false, at(context, "allowPrivilegeEscalation"), where)
			assert.Equal(t, true, at(context, "readOnlyRootFilesystem"), where)
			assert.Equal(t, []any{"ALL"}, at(context, "capabilities", "drop"), where)
			assert.Equal(t, i == 0, at(context, "capabilities", "add") == nil, where)
			assert.NotNil(t, at(container, "resources", "limits", "memory"), where)
		}
		assert.Equal(t, "health", at(containers, 0, "livenessProbe", "httpGet", "port"), where)
		assert.Equal(t, "health", at(containers, 0, "readinessProbe", "httpGet", "port"), where)
		selector := at(workload.Object, "spec", "selector", "matchLabels").(map[string]any)
		assert.Subset(t, at(workload.Object, "spec", "template", "metadata", "labels"), selector, where)
	}
}

func TestPodsHaveNoPrivileges(t *testing.T) {
	for _, name := range valueSets(t) {
		checkPods(t, render(t, name, ""))
	}
}

func env(container any, name string) any {
	all, _ := at(container, "env").([]any)
	for _, variable := range all {
		if at(variable, "name") == name {
			return at(variable, "value")
		}
	}
	return nil
}

func TestMemoryFollowsTheLimit(t *testing.T) {
	for limit, want := range map[string]string{"850Mi": "765", "2Gi": "1843", "1.5Gi": "1382", "1G": "857", "1073741824": "921"} {
		r := render(t, "daemonset", fmt.Sprintf("node: {resources: {limits: {memory: %q}}}", limit))
		container := at(r.find(t, "DaemonSet", "weft-node").Object, "spec", "template", "spec", "containers", 0)
		assert.Equal(t, want, env(container, "WEFT_MEMORY_MIB"), limit)
	}
}

func TestEdgesFindTheGateways(t *testing.T) {
	r := render(t, "both-durable", "")
	service := r.find(t, "Service", "weft-gateway")
	assert.Equal(t, "None", at(service.Object, "spec", "clusterIP"))
	edge := r.collector(t, "weft-node")
	to := at(edge, "exporters", "load_balancing")
	assert.Equal(t, map[string]any{"dns": map[string]any{"hostname": "weft-gateway.observability.svc", "port": "14317"}}, at(to, "resolver"))
	assert.Equal(t, "traceID", at(to, "routing_key"))
	assert.Equal(t, "weft-gateway", at(to, "protocol", "otlp", "tls", "server_name_override"))
	assert.Nil(t, at(to, "protocol", "otlp", "tls", "insecure"))
	assert.Equal(t, "file_storage", at(to, "sending_queue", "storage"))
	assert.EqualValues(t, 1000, at(to, "sending_queue", "queue_size"))
	gateway := r.collector(t, "weft-gateway")
	assert.Equal(t, "0.0.0.0:14317", at(gateway, "receivers", "otlp", "protocols", "grpc", "endpoint"))
	assert.Equal(t, "/etc/weft-tls/tls.crt", at(gateway, "receivers", "otlp", "protocols", "grpc", "tls", "cert_file"))
	assert.Equal(t, "file_storage", at(gateway, "extensions", "thread_engine", "storage"))
	assert.Equal(t, true, at(gateway, "exporters", "otlp_http", "sending_queue", "block_on_overflow"))
	assert.Nil(t, at(r.find(t, "StatefulSet", "weft-gateway").Object, "spec", "replicas"), "the autoscaler chooses")
}

func TestTiersShareTheKeysOfCarriers(t *testing.T) {
	keys := map[string]any{"key_file": "/etc/weft-carriers/keys"}
	r := render(t, "both-durable", "page: {enabled: true}")
	assert.Equal(t, keys, at(r.collector(t, "weft-node"), "receivers", "jvm_thread/socket", "carriers"))
	assert.Equal(t, keys, at(r.collector(t, "weft-gateway"), "extensions", "thread_engine", "carriers"))
	assert.Equal(t, keys, at(r.collector(t, "weft-page"), "extensions", "thread_engine", "carriers"))
	for name, kind := range map[string]string{"weft-node": "DaemonSet", "weft-gateway": "StatefulSet", "weft-page": "StatefulSet"} {
		volumes := fmt.Sprint(at(r.find(t, kind, name).Object, "spec", "template", "spec", "volumes"))
		assert.Contains(t, volumes, "secretName:weft-carriers", name)
	}
	r = render(t, "both", "")
	assert.Nil(t, at(r.collector(t, "weft-node"), "receivers", "jvm_thread/socket", "carriers"))
	assert.Nil(t, at(r.collector(t, "weft-gateway"), "extensions", "thread_engine", "carriers"))
}

func TestUsersConfigurationIsMerged(t *testing.T) {
	r := render(t, "custom", "")
	gateway := r.collector(t, "threads-gateway")
	assert.Equal(t, "5s", at(gateway, "extensions", "thread_engine", "window"))
	assert.EqualValues(t, 75, at(gateway, "extensions", "thread_engine", "heap_growth"), "what the user does not name stays")
	assert.Contains(t, at(gateway, "service", "extensions"), "zpages", "extensions of the user are started")
	assert.NotContains(t, at(gateway, "service", "pipelines"), "logs")
	assert.Equal(t, false, at(gateway, "exporters", "otlp_grpc", "tls", "insecure"))
	assert.Equal(t, "[::]:14317", at(gateway, "receivers", "otlp", "protocols", "grpc", "endpoint"))
	assert.Equal(t, "32", at(r.collector(t, "threads-node"), "receivers", "jvm_thread/socket", "agent_options", "depth"))
	first := r.find(t, "DaemonSet", "threads-node").Object
	second := render(t, "custom", "node: {config: {receivers: {jvm_thread/socket: {agent_options: {depth: '8'}}}}}").find(t, "DaemonSet", "threads-node").Object
	sum := []any{"spec", "template", "metadata", "annotations", "checksum/config"}
	assert.NotEqual(t, at(first, sum...), at(second, sum...), "pods restart when their configuration changes")
}

// TestFilesOfConfigAreNotCopied compares rules and dashboards with the files that they are made from.
func TestFilesOfConfigAreNotCopied(t *testing.T) {
	r := render(t, "prometheus", "")
	var groups []any
	for _, name := range []string{"recording-rules", "alerts"} {
		data, err := os.ReadFile(root + "/config/" + name + ".yaml")
		require.NoError(t, err)
		file := map[string]any{}
		require.NoError(t, sigyaml.Unmarshal(data, &file))
		groups = append(groups, file["groups"].([]any)...)
	}
	assert.Equal(t, groups, at(r.find(t, "PrometheusRule", "weft").Object, "spec", "groups"))
	dashboards, err := filepath.Glob(root + "/config/grafana/weft-*.json")
	require.NoError(t, err)
	require.NotEmpty(t, dashboards)
	for _, path := range dashboards {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		name := filepath.Base(path)
		object := r.find(t, "ConfigMap", "weft-"+name[:len(name)-len(".json")])
		assert.JSONEq(t, string(data), fmt.Sprint(at(object.Object, "data", name)))
	}
	require.NoError(t, filepath.WalkDir(chart+"/files", func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			assert.NotZero(t, entry.Type()&os.ModeSymlink, "%s must be a link to the file in config", path)
		}
		return err
	}))
}

// TestPackageContainsTheFiles checks that links become files in what `make chart` builds.
func TestPackageContainsTheFiles(t *testing.T) {
	pack := action.NewPackage()
	pack.Destination = t.TempDir()
	path, err := pack.Run(chart, nil)
	require.NoError(t, err)
	packed, err := loader.Load(path)
	require.NoError(t, err)
	files := map[string]string{}
	for _, file := range packed.(*chartv2.Chart).Files {
		files[file.Name] = string(file.Data)
		assert.False(t, strings.HasPrefix(file.Name, "ci/"), file.Name)
	}
	for _, name := range []string{"edge.yaml", "gateway.yaml", "alerts.yaml", "grafana/weft-jvm.json"} {
		want, err := os.ReadFile(root + "/config/" + name)
		require.NoError(t, err)
		assert.Equal(t, string(want), files["files/"+name])
	}
}

func TestMonitoringKeepsTheLabelsOfJVMs(t *testing.T) {
	r := render(t, "prometheus", "")
	monitor := r.find(t, "ServiceMonitor", "weft")
	service := r.find(t, "Service", "weft-node-metrics")
	assert.Subset(t, service.GetLabels(), stringMap(at(monitor.Object, "spec", "selector", "matchLabels")))
	assert.Equal(t, "weft", service.GetLabels()[at(monitor.Object, "spec", "jobLabel").(string)], "config/alerts.yaml expects this job")
	for i, port := range []string{"internal", "metrics"} {
		endpoint := at(monitor.Object, "spec", "endpoints", i)
		assert.Equal(t, port, at(endpoint, "port"))
		assert.Equal(t, true, at(endpoint, "honorLabels"))
		assert.Equal(t, "collector", at(endpoint, "relabelings", 0, "targetLabel"))
	}
}

func stringMap(object any) map[string]string {
	all, _, _ := unstructured.NestedStringMap(map[string]any{"x": object}, "x")
	return all
}

func TestVersionIsThatOfTheDistribution(t *testing.T) {
	loaded, err := loader.Load(chart)
	require.NoError(t, err)
	var builder struct{ Dist struct{ Version string } }
	data, err := os.ReadFile(root + "/builder-config.yaml")
	require.NoError(t, err)
	require.NoError(t, sigyaml.Unmarshal(data, &builder))
	metadata := loaded.(*chartv2.Chart).Metadata
	assert.Equal(t, builder.Dist.Version, metadata.AppVersion)
	assert.Equal(t, builder.Dist.Version, metadata.Version)
}
