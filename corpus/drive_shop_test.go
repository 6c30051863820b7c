// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/weft-otel/weft/e2e/runtimes"
)

// Requests of each client of a shop, and how long it pauses on average before each: the spans in their traces remain below max_per_second.
const (
	shopClients  = 24
	shopRequests = 3
	shopPause    = 2 * time.Second
	shopBefore   = 5 // requests of each of two clients that load classes
)

// shop runs a server of e2e/requests with OpenTelemetry's Java agent under load. The truth is what it measured, and the spans that it exported.
func shop(t *testing.T, j runtimes.JDK, args []string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	address, err := freeAddress()
	if err != nil {
		return "", err
	}
	sink := newOTLPSink()
	server := httptest.NewServer(sink)
	defer server.Close()
	options, err := javaAgent(server.URL, args)
	if err != nil {
		return "", err
	}
	cmd := jvm(ctx, j, slices.Concat(options, at(args, address)))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	said := bufio.NewReader(stdout)
	truth, err := serveShop(ctx, said, stdin, "http://"+address+"/checkout/")
	if err = errors.Join(err, cmd.Wait()); err != nil {
		return "", err
	}
	spans, err := (&ptrace.JSONMarshaler{}).MarshalTraces(sink.all)
	return fmt.Sprintf("{\"truth\":%s,\"spans\":%s}", strings.TrimSpace(truth), spans), err
}

// javaAgent returns the options of a JVM that exports its spans. The jar is fetched once.
func javaAgent(endpoint string, args []string) ([]string, error) {
	_, command := cutAtClassPath(args)
	folder := filepath.Join(root, "build/javaagent")
	if _, err := os.Stat(filepath.Join(folder, "fetched")); err != nil {
		if err := runtimes.FetchJars(root, "e2e/javaagent/pom.xml", folder); err != nil {
			return nil, err
		}
	}
	jars, err := filepath.Glob(filepath.Join(folder, "opentelemetry-javaagent-*.jar"))
	if err != nil {
		return nil, err
	}
	if len(jars) != 1 {
		return nil, fmt.Errorf("%s has %d Java agents", folder, len(jars))
	}
	return []string{
		"-javaagent:" + jars[0], "-Dotel.javaagent.extensions=" + filepath.Join(root, "build/weft-otel-only.jar"), "-Dotel.service.name=" + command[2],
		"-Dotel.exporter.otlp.endpoint=" + endpoint, "-Dotel.exporter.otlp.protocol=http/protobuf", "-Dotel.metrics.exporter=none",
		"-Dotel.logs.exporter=none", "-Dotel.bsp.schedule.delay=100", "-Dotel.bsp.max.queue.size=100000",
	}, nil
}

// serveShop waits until the server says that it is ready, puts it under load between a line to its input and another one, and returns its last line.
func serveShop(ctx context.Context, said *bufio.Reader, stdin io.WriteCloser, url string) (last string, err error) {
	for last != "ready\n" {
		if last, err = said.ReadString('\n'); err != nil {
			return "", fmt.Errorf("the server is not ready: %w", err)
		}
	}
	if err := buy(ctx, url, 2, shopBefore, 0); err != nil {
		return "", err
	}
	if _, err := stdin.Write([]byte("\n")); err != nil {
		return "", err
	}
	if err := buy(ctx, url, shopClients, shopRequests, shopPause); err != nil {
		return "", err
	}
	if err := stdin.Close(); err != nil {
		return "", err
	}
	for line := ""; err == nil; line, err = said.ReadString('\n') {
		if line != "" {
			last = line
		}
	}
	if !errors.Is(err, io.EOF) {
		return "", err
	}
	return last, nil
}

// buy makes clients send requests at random times.
func buy(ctx context.Context, url string, clients, requests int, pause time.Duration) error {
	var all sync.WaitGroup
	failed := make([]error, clients)
	for c := range clients {
		all.Go(func() {
			for range requests {
				time.Sleep(time.Duration(rand.Int64N(2*int64(pause) + 1)))
				body, err := body(ctx, fmt.Sprint(url, c))
				if err == nil && body != "bought" {
					err = fmt.Errorf("client %d got %q", c, body)
				}
				failed[c] = errors.Join(failed[c], err)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

func body(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(response.Body)
	return string(text), errors.Join(err, response.Body.Close())
}

// otlpSink keeps of exported spans what rules look at.
type otlpSink struct {
	mu    sync.Mutex
	all   ptrace.Traces
	spans ptrace.SpanSlice
}

func newOTLPSink() *otlpSink {
	s := &otlpSink{all: ptrace.NewTraces()}
	s.spans = s.all.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	return s
}

func (s *otlpSink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	request := ptraceotlp.NewExportRequest()
	if err = errors.Join(err, request.UnmarshalProto(content)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rs := range request.Traces().ResourceSpans().All() {
		to := s.all.ResourceSpans().At(0).Resource().Attributes()
		for _, name := range []string{"service.name", "service.instance.id"} {
			if value, ok := rs.Resource().Attributes().Get(name); ok {
				value.CopyTo(to.PutEmpty(name))
			}
		}
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				short := s.spans.AppendEmpty()
				span.CopyTo(short)
				short.Attributes().RemoveIf(func(string, pcommon.Value) bool { return true })
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf") // of an empty response
}

// exported decodes the spans in a truth.
func exported(raw json.RawMessage) (ptrace.Traces, error) {
	return (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(raw)
}
