// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package k8s_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestValuesThatCannotWork checks that wrong values are refused, with a message that says which.
func TestValuesThatCannotWork(t *testing.T) {
	for _, c := range []struct{ name, changes, want string }{
		{"daemonset", "mdoe: both", "mdoe"},
		{"daemonset", "mode: sidecar", "mode"},
		{"daemonset", "page: {auth: {typ: basic}}", "typ"},
		{"daemonset", "gateway: {replicas: 0}", "replicas"},
		{"daemonset", "node: {resources: {limit: {memory: 1Gi}}}", "limit"},
		{"daemonset", "node: {resources: {limits: {memory: 1E}}}", "use a number with Mi or Gi"},
		{"daemonset", "node: {config: {exporter: {}}}", "exporter"},
		{"daemonset", "networkPolicy: {metrics: [{}]}", "metrics"},
		{"daemonset", "image: {repository: ''}", "image.repository is required"},
		{"daemonset", "node: {socket: {enabled: false}}", "agents cannot connect"},
		{"daemonset", "node: {tcp: {enabled: true}}", "tcp is open to everyone"},
		{"daemonset", "node: {tcp: {enabled: true, tlsSecret: x}}", "set tlsSecret and tokenSecret"},
		{"page", "page: {enabled: false}", "events would go nowhere"},
		{"page", "page: {auth: {type: basic}}", "page.auth.type basic needs page.auth.secret"},
		{"page", "page: {auth: {type: none}}", "auth"},
		{"page", "page: {auth: {type: authenticator, authenticator: oidc}}", "page.config has no extension"},
		{"page", "page: {ingress: {enabled: true}}", "would show the page to everyone"},
		{"page-basic", "page: {hosts: []}", "page.ingress needs page.hosts"},
		{"page", "exporter: {logs: true}", "exporter.logs needs"},
		{"page", "metrics: {serviceMonitor: {enabled: true}}", "needs metrics.enabled"},
	} {
		_, err := install(values(t, c.name, c.changes))
		assert.ErrorContains(t, err, c.want, "%s with %s", c.name, c.changes)
	}
}

// TestPageIsNeverOpen checks that the page listens on localhost, or demands credentials.
func TestPageIsNeverOpen(t *testing.T) {
	for _, name := range valueSets(t) {
		r := render(t, name, "")
		for _, object := range r.objects {
			if object.GetKind() != "ConfigMap" || at(object.Object, "data", "collector.yaml") == nil {
				continue
			}
			view := at(r.collector(t, object.GetName()), "exporters", "thread_view")
			if view == nil {
				continue
			}
			if at(view, "endpoint") == "localhost:8090" {
				ports := at(r.find(t, "Service", object.GetName()).Object, "spec", "ports")
				assert.Len(t, ports, 1, "%s: only the port for events is served", name)
				continue
			}
			authenticator, _ := at(view, "auth", "authenticator").(string)
			assert.Contains(t, at(r.collector(t, object.GetName()), "service", "extensions"), authenticator, name)
		}
	}
}

func TestUsersAuthenticatorProtectsThePage(t *testing.T) {
	r := render(t, "page", `
page:
  auth: {type: authenticator, authenticator: basicauth/ours}
  config: {extensions: {basicauth/ours: {htpasswd: {file: /etc/ours/htpasswd}}}}`)
	page := r.collector(t, "weft-page")
	assert.Equal(t, "basicauth/ours", at(page, "exporters", "thread_view", "auth", "authenticator"))
	assert.Contains(t, at(page, "service", "extensions"), "basicauth/ours")
}

// TestPoliciesNameWhoMayConnect checks who reaches which port; all others are refused.
func TestPoliciesNameWhoMayConnect(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		ports        []string
	}{
		{"daemonset", "weft-node", []string{"internal", "metrics"}},
		{"daemonset-tls", "weft-node", []string{"agents", "internal", "metrics"}},
		{"gateway", "weft-gateway", []string{"otlp", "internal", "metrics"}},
		{"gateway-durable", "weft-gateway", []string{"internal", "metrics"}}, // no edges are named yet
		{"both", "weft-node", []string{"internal"}},
		{"both", "weft-gateway", []string{"otlp", "internal", "metrics"}},
		{"page", "weft-page", []string{"otlp", "internal"}},
		{"page-basic", "weft-page", []string{"otlp", "page", "internal"}},
	} {
		policy := render(t, c.name, "").find(t, "NetworkPolicy", c.policy)
		rules, _ := at(policy.Object, "spec", "ingress").([]any)
		var ports []string
		for _, rule := range rules {
			peers, _ := at(rule, "from").([]any)
			require.NotEmpty(t, peers, "%s: a rule without peers allows all", c.name)
			list, _ := at(rule, "ports").([]any)
			for _, port := range list {
				ports = append(ports, at(port, "port").(string))
			}
		}
		assert.Equal(t, c.ports, ports, "%s: %s", c.name, c.policy)
	}
	sender := []any{"spec", "ingress", 0, "from", 0, "podSelector", "matchLabels", "app.kubernetes.io/component"}
	assert.Equal(t, "node", at(render(t, "page", "").find(t, "NetworkPolicy", "weft-page").Object, sender...))
	assert.Equal(t, "gateway", at(render(t, "page-basic", "").find(t, "NetworkPolicy", "weft-page").Object, sender...))
	assert.Zero(t, render(t, "both", "networkPolicy: {enabled: false}").kinds()["NetworkPolicy"])
}

// TestNotesConnectAJVM checks that the notes fit how agents can connect.
func TestNotesConnectAJVM(t *testing.T) {
	for name, want := range map[string]string{
		"daemonset":         "-agentpath:/weft/libweft.so=endpoint=unix:///run/weft/weft.sock,peer-user=10001\"",
		"daemonset-tls":     "=endpoint=tls://$(NODE):4327,ca-file=/etc/weft/ca.crt,server-name=weft-node,token-file=/etc/weft/token\"",
		"daemonset-service": "=endpoint=tcp://weft-node.observability.svc:4327\"",
		"gateway":           "dns: {hostname: weft-gateway.observability.svc, port: \"14317\"}",
		"gateway-durable":   "no pod may connect yet",
		"page":              "port-forward statefulset/weft-page 8090",
		"page-basic":        "https://weft.example.com/",
		"page-bearer":       "http://weft-page.observability.svc:8090/",
	} {
		assert.Contains(t, render(t, name, "").notes, want, name)
	}
}

func TestAgentsReachTheirNodesCollectorOnly(t *testing.T) {
	r := render(t, "daemonset-service", "")
	assert.Equal(t, "Local", at(r.find(t, "Service", "weft-node").Object, "spec", "internalTrafficPolicy"))
	pod := at(r.find(t, "DaemonSet", "weft-node").Object, "spec", "template", "spec")
	assert.Nil(t, at(pod, "initContainers"))
	ports, _ := at(pod, "containers", 0, "ports").([]any)
	for _, port := range ports {
		assert.Nil(t, at(port, "hostPort"))
	}
	r = render(t, "daemonset-tls", "")
	stream := at(r.collector(t, "weft-node"), "receivers", "jvm_thread/tcp", "protocols", "stream")
	assert.Equal(t, "bearertokenauth/agents", at(stream, "auth", "authenticator"))
	assert.Equal(t, "/etc/weft-agents-tls/tls.crt", at(stream, "tls", "cert_file"))
}
