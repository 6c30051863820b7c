// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // what exporters use

	"github.com/weft-otel/weft/corpus/spantest"
)

// backend accepts spans over OTLP gRPC, with the default limits of a gRPC server, and confirms them when it has them.
type backend struct {
	ptraceotlp.UnimplementedGRPCServer

	address string

	mu      sync.Mutex
	got     *output
	largest int // bytes of a request
}

func startBackend(t *testing.T) *backend { t.Helper(); return startBackendAt(t, freeAddress(t)) }

func startBackendAt(t *testing.T, address string) *backend {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	b := &backend{address: address, got: spantest.New()}
	server := grpc.NewServer()
	ptraceotlp.RegisterGRPCServer(server, b)
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(listener) }) // ends when it is stopped
	t.Cleanup(func() {
		server.Stop()
		wg.Wait()
	})
	return b
}

// Export takes the spans of a request.
func (b *backend) Export(_ context.Context, request ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	td := ptrace.NewTraces() // the request's memory is the server's
	request.Traces().CopyTo(td)
	var sizer ptrace.ProtoMarshaler
	b.mu.Lock()
	defer b.mu.Unlock()
	b.largest = max(b.largest, sizer.TracesSize(td))
	b.got.Add(td)
	return ptraceotlp.NewExportResponse(), nil
}

func (b *backend) cuts(service string) map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.got.Cuts(service)
}

// events returns how many events are in the windows of a service.
func (b *backend) events(service string) (n uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, root := range b.got.Roots(service) {
		n += uint64(root.Number("weft.events.count"))
	}
	return n
}

// waitForEnds waits until the sessions of services have ended.
func (b *backend) waitForEnds(t *testing.T, services ...string) {
	t.Helper()
	for _, service := range services {
		poll(t, "the session of "+service+" ends", func() bool { return b.cuts(service)["end"] > 0 })
	}
}

// waitForAll waits until the session of a service has ended and all its events have arrived: the last window may overtake others. It gives
// up after a while; check then says what is missing. A collector that is stopped leaves on disk what it is about to send.
func (b *backend) waitForAll(t *testing.T, service string, events uint64) {
	t.Helper()
	b.waitForEnds(t, service)
	giveUp := time.Now().Add(2 * time.Minute)
	poll(t, "all windows arrive", func() bool { return b.events(service) >= events || time.Now().After(giveUp) })
}

// checkJVM checks what is known of a JVM that does not count its events.
func (b *backend) checkJVM(t *testing.T, service string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, root := range b.got.Roots(service) {
		assert.Zero(t, root.Number("weft.events.missed"))
		assert.Zero(t, root.Number("weft.events.lost"))
	}
	assert.Equal(t, 1, b.got.Cuts(service)["end"], "the session ends once: %v", b.got.Cuts(service))
}

// neverLost checks that sessions have not ended before their agents.
func (b *backend) neverLost(t *testing.T, services ...string) {
	t.Helper()
	for _, service := range services {
		assert.Zero(t, b.cuts(service)["lost"], service)
	}
}

// check compares what has arrived with what the agent knows. Windows follow each other without a gap, unless the session came to a collector that
// did not know it and whose first window begins with an event.
func (b *backend) check(t *testing.T, service string, events uint64, gaps bool) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	type span struct{ from, to int64 }
	var counted, missed, lost int64
	var windows []span
	for _, root := range b.got.Roots(service) {
		counted += root.Number("weft.events.count")
		missed += root.Number("weft.events.missed")
		lost += root.Number("weft.events.lost")
		windows = append(windows, span{root.Number("weft.window.start"), int64(root.EndTimestamp())})
	}
	slices.SortFunc(windows, func(a, b span) int { return int(a.from - b.from) })
	missing, end := int64(0), windows[0].from
	for _, w := range windows {
		missing += max(0, w.from-end)
		end = max(end, w.to)
	}
	t.Logf("%d events; in %d windows: %d events, %d missed, %d lost, gaps of %d ns; cuts %v; the largest request has %d bytes",
		events, len(windows), counted, missed, lost, missing, b.got.Cuts(service), b.largest)
	assert.EqualValues(t, events, counted, "events in windows")
	assert.Zero(t, missed)
	assert.Zero(t, lost)
	if !gaps {
		assert.Zero(t, missing, "nanoseconds between windows")
	}
	assert.Equal(t, 1, b.got.Cuts(service)["end"])
	spantest.CheckTraces(t, b.got, spantest.LinksMayPointAtAnotherCollector)
}

// checkRepeats checks that spans which came twice are the same ones: what a collector had sent, and not noted as sent, when it was killed. Most
// bounds their windows; incidents have traces of their own. A window that was made a second time refers to less.
func (b *backend) checkRepeats(t *testing.T, most int) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	windows, incidents := map[pcommon.TraceID]bool{}, 0
	for _, s := range b.got.Twice {
		switch {
		case s.IsRoot() && s.OfIncident():
			incidents++
		case s.IsRoot():
			windows[s.TraceID()] = true
		}
	}
	remade := map[pcommon.TraceID]bool{}
	for _, s := range b.got.Twice {
		first := b.got.ByID[s.ID()]
		assert.Equal(t, first.Service, s.Service)
		assert.Equal(t, first.Resource.AsRaw(), s.Resource.AsRaw())
		was, is := encoded(t, first, true), encoded(t, s, true)
		if (windows[s.TraceID()] || s.OfIncident()) && !bytes.Equal(was, is) {
			remade[s.TraceID()] = true
			was, is = encoded(t, first, false), encoded(t, s, false)
		}
		assert.Equal(t, was, is, "%s: %s of trace %s at %d came twice, as %s at %d", s.Service, first.Name(), s.TraceID(),
			first.StartTimestamp(), s.Name(), s.StartTimestamp())
	}
	t.Logf("repeats: %d of %d spans, %d windows and %d incidents, of which %d were made a second time",
		len(b.got.Twice), len(b.got.ByID), len(windows), incidents, len(remade))
	assert.LessOrEqual(t, len(windows), most, "windows that came twice")
}

// encoded returns the bytes of a span, either all or without what depends on earlier windows, which an engine that continues a session does not
// know: links to their spans, and incidents that began in them.
func encoded(t *testing.T, s *span, all bool) []byte {
	t.Helper()
	td := ptrace.NewTraces()
	own := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	s.CopyTo(own)
	if !all {
		own.Links().RemoveIf(func(l ptrace.SpanLink) bool { return l.TraceID() != own.TraceID() })
		own.Events().RemoveIf(func(e ptrace.SpanEvent) bool { return e.Name() == "weft.incident" })
		own.Attributes().RemoveIf(func(key string, _ pcommon.Value) bool { return strings.HasPrefix(key, "weft.incident.") })
	}
	data, err := new(ptrace.ProtoMarshaler).MarshalTraces(td)
	require.NoError(t, err)
	return data
}
