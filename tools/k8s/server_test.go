// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package k8s_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	sigyaml "sigs.k8s.io/yaml"
)

var withServer = flag.Bool("apiserver", false, "apply all manifests to a real API server (make k8s-apiserver)")

// server is a kube-apiserver with an etcd: it validates, defaults and admits objects, and runs nothing.
type server struct {
	url, token string
	client     *http.Client
}

// startServer runs both programs from the folder build, until the end of the test.
func startServer(t *testing.T) *server {
	t.Helper()
	dir := t.TempDir()
	client, peer, port := freePort(t), freePort(t), freePort(t)
	run(t, dir, "etcd", "--data-dir="+dir+"/etcd", "--unsafe-no-fsync",
		fmt.Sprintf("--listen-client-urls=http://127.0.0.1:%d", client), fmt.Sprintf("--advertise-client-urls=http://127.0.0.1:%d", client),
		fmt.Sprintf("--listen-peer-urls=http://127.0.0.1:%d", peer), fmt.Sprintf("--initial-advertise-peer-urls=http://127.0.0.1:%d", peer),
		fmt.Sprintf("--initial-cluster=default=http://127.0.0.1:%d", peer))
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	require.NoError(t, os.WriteFile(dir+"/key.pem", pem.EncodeToMemory(block), 0o600))
	require.NoError(t, os.WriteFile(dir+"/tokens.csv", []byte(rand.Text()+",admin,1,system:masters\n"), 0o600))
	run(t, dir, "kube-apiserver", fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", client), fmt.Sprintf("--secure-port=%d", port),
		"--bind-address=127.0.0.1", "--cert-dir="+dir+"/certificates", "--token-auth-file="+dir+"/tokens.csv", "--authorization-mode=RBAC",
		"--service-account-issuer=https://weft.test", "--service-account-key-file="+dir+"/key.pem",
		"--service-account-signing-key-file="+dir+"/key.pem", "--service-cluster-ip-range=10.0.0.0/24")
	tokens, err := os.ReadFile(dir + "/tokens.csv")
	require.NoError(t, err)
	token, _, _ := strings.Cut(string(tokens), ",")
	s := &server{url: fmt.Sprintf("https://127.0.0.1:%d", port), token: token}
	s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // it made its certificate itself
	require.Eventually(t, func() bool {
		status, _, _ := s.send(t, http.MethodGet, "/readyz", nil)
		return status == http.StatusOK
	}, 2*time.Minute, 100*time.Millisecond, "see the log of kube-apiserver above")
	return s
}

func run(t *testing.T, dir, name string, arguments ...string) {
	t.Helper()
	command := exec.Command(root+"/build/"+name, arguments...)
	log, err := os.Create(filepath.Join(dir, name+".log"))
	require.NoError(t, err)
	command.Stdout, command.Stderr = log, log
	require.NoError(t, command.Start(), "run make k8s-apiserver, which builds it")
	t.Cleanup(func() { stop(t, name, command, log) })
}

// send returns the status, the body and the warnings of an answer; no status if there is no connection.
func (s *server) send(t *testing.T, method, path string, body []byte) (status int, text string, warnings []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+s.token)
	request.Header.Set("Content-Type", "application/apply-patch+yaml")
	response, err := s.client.Do(request)
	if err != nil {
		return 0, err.Error(), nil
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(response.Body, 4<<20))
	require.NoError(t, err)
	return response.StatusCode, string(data), response.Header.Values("Warning")
}

// path is where an object is in the API.
func path(object *unstructured.Unstructured, inNamespace string) string {
	base := "/apis/" + object.GetAPIVersion()
	if object.GetAPIVersion() == "v1" {
		base = "/api/v1"
	}
	plural := strings.ToLower(object.GetKind()) + "s"
	switch object.GetKind() {
	case "NetworkPolicy":
		plural = "networkpolicies"
	case "Ingress":
		plural = "ingresses"
	case "Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding":
		return base + "/" + plural + "/" + object.GetName()
	}
	return base + "/namespaces/" + inNamespace + "/" + plural + "/" + object.GetName()
}

// apply is `kubectl apply --server-side --validate=strict`, with dry also `--dry-run=server`. It returns the server's warnings.
func (s *server) apply(t *testing.T, object *unstructured.Unstructured, inNamespace string, dry bool) []string {
	t.Helper()
	data, err := sigyaml.Marshal(object.Object)
	require.NoError(t, err)
	query := "?fieldManager=test&force=true&fieldValidation=Strict"
	if dry {
		query += "&dryRun=All"
	}
	status, body, warnings := s.send(t, http.MethodPatch, path(object, inNamespace)+query, data)
	assert.Contains(t, []int{http.StatusOK, http.StatusCreated}, status, "%s %s: %s", object.GetKind(), object.GetName(), body)
	return warnings
}

func (s *server) namespace(t *testing.T, name string) {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{
		"name": name, "labels": map[string]any{"pod-security.kubernetes.io/warn": "restricted"},
	}}}
	s.apply(t, object, "", false)
}

// TestServerAcceptsAllManifests applies them to a real API server, and has its pod security admission judge the pods.
func TestServerAcceptsAllManifests(t *testing.T) {
	if !*withServer {
		t.Skip("NOTHING WAS TESTED: it takes minutes to build an API server; see make k8s-apiserver")
	}
	s := startServer(t)
	s.namespace(t, namespace)
	s.namespace(t, "weft")
	for _, plural := range []string{"servicemonitors", "prometheusrules"} {
		data, err := os.ReadFile(customResources(t, plural))
		require.NoError(t, err)
		definition := parse(t, string(data))[0]
		s.apply(t, definition, "", false)
		require.Eventually(t, func() bool {
			status, _, _ := s.send(t, http.MethodGet, "/apis/monitoring.coreos.com/v1/"+plural, nil)
			return status == http.StatusOK
		}, time.Minute, 100*time.Millisecond, plural)
	}
	applied := 0
	for _, name := range valueSets(t) {
		r := render(t, name, "")
		for _, object := range r.objects {
			s.judge(t, r, object, namespace)
			applied++
		}
	}
	for _, overlay := range overlays(t) {
		r := kustomize(t, overlay)
		for _, object := range r.objects {
			s.judge(t, r, object, "weft")
			applied++
		}
	}
	t.Logf("the server accepted %d objects", applied)
}

// judge applies an object. The pod security standard restricted must allow all pods but those with a directory or a port of the host.
func (s *server) judge(t *testing.T, r rendered, object *unstructured.Unstructured, inNamespace string) {
	t.Helper()
	warnings := strings.Join(s.apply(t, object, inNamespace, true), "; ")
	pod := at(object.Object, "spec", "template", "spec")
	where := fmt.Sprintf("%s: %s %s", r.name, object.GetKind(), object.GetName())
	ofHost := at(pod, "initContainers") != nil
	ports, _ := at(pod, "containers", 0, "ports").([]any)
	for _, port := range ports {
		ofHost = ofHost || at(port, "hostPort") != nil
	}
	if ofHost {
		assert.Contains(t, warnings, "would violate PodSecurity", where)
		return
	}
	assert.Empty(t, warnings, where)
}

// TestServerRefusesTypos shows that the test above can fail.
func TestServerRefusesTypos(t *testing.T) {
	if !*withServer {
		t.Skip("NOTHING WAS TESTED: it takes minutes to build an API server; see make k8s-apiserver")
	}
	s := startServer(t)
	s.namespace(t, namespace)
	object := render(t, "daemonset", "").find(t, "DaemonSet", "weft-node")
	require.NoError(t, unstructured.SetNestedField(object.Object, "x", "spec", "template", "spec", "automountServiceAccountTokens"))
	data, err := sigyaml.Marshal(object.Object)
	require.NoError(t, err)
	status, body, _ := s.send(t, http.MethodPatch, path(object, namespace)+"?fieldManager=test&fieldValidation=Strict&dryRun=All", data)
	assert.GreaterOrEqual(t, status, 400)
	assert.Contains(t, body, "automountServiceAccountTokens")
}
