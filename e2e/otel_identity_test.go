// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/runtimes"
)

// javaAgent returns the path of OpenTelemetry's Java agent, which is downloaded once.
func javaAgent(t *testing.T) string {
	t.Helper()
	jars := built("javaagent")
	if !exists(filepath.Join(jars, "fetched")) {
		require.NoError(t, runtimes.FetchJars(root, "e2e/javaagent/pom.xml", jars))
	}
	found, err := filepath.Glob(filepath.Join(jars, "opentelemetry-javaagent-*.jar"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return found[0]
}

// withOTLP is a collector to which applications send their own spans, too.
func withOTLP(s setup, address string) setup {
	s.more = append(s.more, "yaml:receivers::otlp::protocols::http::endpoint: "+address, "yaml:service::pipelines::traces/app::receivers: [otlp]",
		"yaml:service::pipelines::traces/app::exporters: [file]")
	return s
}

// exporting are the options of an SDK that sends its spans to an address soon.
func exporting(address string) []string {
	return []string{
		"-Dotel.exporter.otlp.endpoint=http://" + address, "-Dotel.metrics.exporter=none", "-Dotel.logs.exporter=none", "-Dotel.bsp.schedule.delay=100",
		"-Dotel.bsp.max.queue.size=100000",
	}
}

// identity is a way to start a program with OpenTelemetry's SDK and Weft's agent.
type identity struct {
	name          string
	jar           string // where weft-otel.jar is: extension of the Java agent, class path, misplaced: on the class path, with the Java agent
	agent         string // before or after -javaagent, attached, or started by the jar
	options, env  []string
	service, note string // service.name, "" if it only has to be the same; what weft attach says
	instance      string
}

var identities = []identity{
	{name: "named by a property", jar: "extension", agent: "before", options: []string{"-Dotel.service.name=shop"}, service: "shop"},
	{name: "named by a variable", jar: "extension", agent: "after", env: []string{"OTEL_SERVICE_NAME=shop"}, service: "shop"},
	{
		name: "named by a list", jar: "extension", agent: "before",
		options: []string{"-Dotel.resource.attributes=service.name=shop,service.instance.id=a-1"}, service: "shop", instance: "a-1",
	},
	{name: "unnamed", jar: "extension", agent: "before", service: "OneRequest"},
	{name: "unnamed, SDK first", jar: "extension", agent: "after", service: "unknown_service:java"},
	{name: "attached later", jar: "extension", agent: "attached", options: []string{"-Dotel.service.name=shop"}, service: "shop"},
	{name: "SDK of the program", jar: "class path", agent: "before", env: []string{"OTEL_SERVICE_NAME=shop"}, service: "shop"},
	{name: "SDK of the program, attached later", jar: "class path", agent: "attached", env: []string{"OTEL_SERVICE_NAME=shop"}, service: "shop"},
	{name: "named, started by the jar", jar: "extension", agent: "jar", env: []string{"OTEL_SERVICE_NAME=shop"}, service: "shop"},
	{name: "unnamed, started by the jar", jar: "extension", agent: "jar", service: "OneRequest"},
	{name: "SDK of the program, started by the jar", jar: "class path", agent: "jar", env: []string{"OTEL_SERVICE_NAME=shop"}, service: "shop"},
	{name: "misplaced", jar: "misplaced", agent: "before", options: []string{"-Dotel.service.name=shop"}, service: "shop", note: "javaagent.extensions="},
}

// TestSDKAndAgentHaveOneIdentity runs one request. The program's own span and that of its wait must have the same resource.
func TestSDKAndAgentHaveOneIdentity(t *testing.T) {
	programs := otelPrograms(t)
	for i, way := range identities {
		j := jdks[i%len(jdks)] // one is enough: what differs is the order of events
		t.Run(way.name+" on "+j.String(), func(t *testing.T) {
			address := freeAddress(t)
			c := startCollector(t, withOTLP(wholeRun, address))
			p := start(t, append(way.environment(c.endpoint), way.env...), filepath.Join(j.Home, "bin", "java"), way.command(t, address, c.endpoint, programs)...)
			way.proceed(t, p, "ready", c.endpoint)
			resource := way.proceed(t, p, "answered", c.endpoint)
			require.Zero(t, p.wait(t))
			var truth struct{ Service, Instance string } // as the jar knows it
			p.truth(t, &truth)
			way.check(t, c.finish(t, way.service), truth.Service, truth.Instance, resource)
		})
	}
}

func (i identity) command(t *testing.T, address, endpoint, programs string) []string {
	t.Helper()
	options := append(exporting(address), i.options...)
	path := filepath.Join(built("otel"), "*") + ":" + programs
	if i.jar != "extension" {
		path += ":" + built("weft-otel.jar")
	}
	switch i.jar {
	case "extension":
		options = append(options, "-javaagent:"+javaAgent(t), "-Dotel.javaagent.extensions="+built("weft-otel.jar"))
	case "misplaced":
		options = append(options, "-javaagent:"+javaAgent(t))
	default:
		options = append(options, "-Dotel.java.global-autoconfigure.enabled=true", "-Dotel.traces.exporter=none")
	}
	agent := "-agentpath:" + built("libweft.so") + "=endpoint=" + endpoint + everything
	switch i.agent {
	case "before":
		options = slices.Insert(options, 0, agent)
	case "after":
		options = append(options, agent)
	}
	return append(options, "-cp", path, "OneRequest")
}

// environment starts the agent by the jar, if wanted.
func (i identity) environment(endpoint string) []string {
	if i.agent == "jar" {
		return []string{"WEFT_ENDPOINT=" + endpoint, "WEFT_EXIT_WAIT=60s"}
	}
	return []string{"WEFT_ENABLED=false"}
}

// proceed waits until the program says a word, attaches the agent or asks it for notes, and lets the program continue. When it has answered its
// request, it returns the resource that it publishes.
func (i identity) proceed(t *testing.T, p *process, word, endpoint string) map[string]string {
	t.Helper()
	poll(t, "the program is "+word, func() bool {
		require.True(t, p.running())
		return slices.Contains(p.outLines(), word)
	})
	command := []string{"attach", strconv.Itoa(p.cmd.Process.Pid)}
	if i.agent == "attached" && word == "ready" {
		command = append(command, "endpoint="+endpoint, "exit-wait=60s")
	}
	notes, err := exec.Command(built("weft"), command...).CombinedOutput()
	require.NoError(t, err, "%s", notes)
	if i.note == "" {
		assert.NotContains(t, string(notes), "javaagent", "weft attach when the program is %s", word)
		assert.Contains(t, string(notes), "weft-otel.jar reports", "weft attach when the program is %s", word)
	} else {
		assert.Contains(t, string(notes), i.note, "weft attach when the program is %s", word)
	}
	var resource map[string]string
	switch {
	case word != "answered":
	case i.jar == "misplaced":
		_, _, ok := processContext(t, p.cmd.Process.Pid)
		assert.False(t, ok, "the process publishes its context")
	default:
		resource = published(t, p)
	}
	_, err = p.stdin.Write([]byte("\n"))
	require.NoError(t, err)
	return resource
}

// check compares the spans with the service and the instance as the jar knows them, and with what the process published.
func (i identity) check(t *testing.T, o *output, service, instance string, resource map[string]string) {
	t.Helper()
	ours := o.Of(i.service, func(s *span) bool {
		ofWindow := s.Has("weft.interval.time") && !s.OfIncident()
		return s.Session != "" && ofWindow && s.Text("thread.name") == "waiter" && s.Text("weft.lock.name") == "OneRequest.LOCK"
	})
	require.Len(t, ours, 1)
	if i.jar != "misplaced" {
		checkProcessContext(t, resource, ours[0])
	}
	own := request{Trace: ours[0].Text("weft.context.trace.id"), Span: ours[0].Text("weft.context.span.id")}
	if i.instance != "" {
		assert.Equal(t, i.instance, ours[0].Instance)
	}
	if i.jar == "class path" {
		assert.Equal(t, i.service, service)
		assert.NotEmpty(t, own.Span)
		if i.agent != "attached" { // this SDK has no id of its own
			assert.Equal(t, instance, ours[0].Instance)
		}
		return
	}
	theirs := o.Of(i.service, func(s *span) bool { return s.Session == "" })
	require.Len(t, theirs, 1, "spans of the program")
	if i.jar == "misplaced" {
		assert.Empty(t, own)
		return
	}
	assert.Equal(t, i.service, service)
	assert.Equal(t, instance, theirs[0].Instance)
	assert.Equal(t, theirs[0].Instance, ours[0].Instance)
	assert.Equal(t, request{Trace: theirs[0].TraceID().String(), Span: theirs[0].SpanID().String()}, own)
}
