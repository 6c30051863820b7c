// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/corpus/spantest"
)

// jaeger is a real Jaeger.
type jaeger struct {
	*process
	query string // address of its query API
	otlp  string // address of its OTLP gRPC receiver
}

// startJaeger starts a Jaeger that keeps traces in memory.
func startJaeger(t *testing.T) *jaeger {
	t.Helper()
	return startJaegerWith(t, "jaeger.yaml")
}

// startJaegerWith starts a Jaeger with a configuration in testdata, and more variables for it.
func startJaegerWith(t *testing.T, config string, env ...string) *jaeger {
	t.Helper()
	if !exists(built("jaeger")) {
		t.Fatal("build/jaeger is missing: run make build/jaeger")
	}
	j := &jaeger{query: freeAddress(t), otlp: freeAddress(t)}
	health := freeAddress(t)
	env = append(env, "OTEL_TRACES_SAMPLER=always_off", "JAEGER_QUERY_HTTP="+j.query, "JAEGER_QUERY_GRPC="+freeAddress(t), "JAEGER_HEALTH="+health,
		"JAEGER_OTLP_GRPC="+j.otlp, "JAEGER_OTLP_HTTP="+freeAddress(t))
	j.process = start(t, env, built("jaeger"), "--config", filepath.Join(root, "e2e/testdata", config))
	poll(t, "Jaeger is ready", func() bool {
		require.True(t, j.running(), "Jaeger ended: %s", strings.Join(j.errLines(), "\n"))
		return answers(health + "/status")
	})
	return j
}

// get decodes the response of the query API; it reports false for "not found".
func (j *jaeger) get(t *testing.T, path string, answer any) bool {
	t.Helper()
	response, err := http.Get("http://" + j.query + path)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	if response.StatusCode == http.StatusNotFound {
		return false
	}
	require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", path, body)
	require.NoError(t, json.Unmarshal(body, answer), "%s", path)
	return true
}

// v1Span is a span in the form that Jaeger's page receives.
type v1Span struct {
	TraceID       string `json:"traceID"`
	SpanID        string `json:"spanID"`
	OperationName string `json:"operationName"`
	StartTime     int64  `json:"startTime"` // microseconds
	Duration      int64  `json:"duration"`  // microseconds
	References    []struct {
		RefType string `json:"refType"`
		TraceID string `json:"traceID"`
		SpanID  string `json:"spanID"`
	} `json:"references"`
	Warnings []string `json:"warnings"`
}

type v1Answer struct {
	Data []struct {
		TraceID string   `json:"traceID"`
		Spans   []v1Span `json:"spans"`
	} `json:"data"`
}

// traces returns all traces of a service in the form that the page receives.
func (j *jaeger) traces(t *testing.T, service string) v1Answer {
	t.Helper()
	var answer v1Answer
	j.get(t, "/api/traces?limit=1000&lookback=1h&service="+url.QueryEscape(service), &answer)
	return answer
}

// spans returns all spans of services with all their data, through version 3 of the API.
func (j *jaeger) spans(t *testing.T, services ...string) *output {
	t.Helper()
	o := spantest.New()
	var decoder ptrace.JSONUnmarshaler
	for _, service := range services {
		for _, trace := range j.traces(t, service).Data {
			var answer struct {
				Result json.RawMessage `json:"result"`
			}
			require.True(t, j.get(t, "/api/v3/traces/"+trace.TraceID, &answer), "trace %s", trace.TraceID)
			td, err := decoder.UnmarshalTraces(answer.Result)
			require.NoError(t, err)
			o.Add(td)
		}
	}
	return o
}

// setup is config/jaeger.yaml with this server; the collector also writes what it sends to a file.
func (j *jaeger) setup() setup {
	return setup{
		config: "jaeger.yaml", env: []string{"JAEGER_ENDPOINT=" + j.otlp},
		more: []string{
			"yaml:exporters::file::path: ${env:WEFT_OUT}/spans.json",
			"yaml:service::pipelines::traces::exporters: [otlp_grpc, file]", patientOTLP,
		},
	}
}

// takes waits until Jaeger has stored all sent spans and returns them.
func (j *jaeger) takes(t *testing.T, sent *output, services ...string) (got *output) {
	t.Helper()
	require.NotEmpty(t, sent.Spans)
	poll(t, "Jaeger has all spans", func() bool {
		got = j.spans(t, services...)
		return len(got.ByID) >= len(sent.ByID)
	})
	return got
}

// checkReferences checks that the page receives the same links as references, without warnings.
func checkReferences(t *testing.T, server *jaeger, o *output, services []string) {
	t.Helper()
	links, references := 0, 0
	for _, s := range o.ByID {
		links += s.Links().Len()
	}
	for _, service := range services {
		for _, trace := range server.traces(t, service).Data {
			for _, s := range trace.Spans {
				assert.Empty(t, s.Warnings, "%s", s.OperationName)
				from := o.ByID[idOf(t, s.TraceID, s.SpanID)]
				require.NotNil(t, from)
				assert.Equal(t, from.Begin()/spantest.Microsecond, s.StartTime, "rounded as package corpus does")
				assert.Equal(t, int64(from.EndTimestamp()-from.StartTimestamp())/spantest.Microsecond, s.Duration, "rounded as package corpus does")
				for _, reference := range s.References {
					if reference.RefType == "FOLLOWS_FROM" {
						references++
						assert.NotNil(t, o.ByID[idOf(t, reference.TraceID, reference.SpanID)], "reference of %s", s.OperationName)
					}
				}
			}
		}
	}
	assert.Positive(t, links)
	assert.Equal(t, links, references)
}

func idOf(t *testing.T, trace, id string) (found spanID) {
	t.Helper()
	for _, part := range []struct {
		text string
		into []byte
	}{{trace, found.Trace[:]}, {id, found.Span[:]}} {
		decoded, err := hex.DecodeString(part.text)
		require.NoError(t, err)
		copy(part.into, decoded)
	}
	return found
}
