// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"

	"github.com/weft-otel/weft/bench/load"
)

const (
	spansOfRequest = 1000
	distinct       = 16 // requests, sent repeatedly
	export         = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
)

// services is the anchor: as many spans as a JVM has events, with the attributes that an event has. Requests are marshalled before the
// measurement begins.
type services struct {
	requests [][]byte
	spans    int
}

func newServices(spans int) (*services, error) {
	s := &services{spans: spans}
	for n := range distinct {
		td := ptrace.NewTraces()
		rs := td.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("service.name", "orders")
		list := rs.ScopeSpans().AppendEmpty().Spans()
		for i := range spansOfRequest {
			id := load.Mix(uint64(n*spansOfRequest + i))
			var trace pcommon.TraceID
			var span pcommon.SpanID
			binary.BigEndian.PutUint64(trace[:], load.Mix(id/100)|1<<63)
			binary.BigEndian.PutUint64(span[:], id|1)
			start := time.Now().Add(time.Duration(i) * time.Microsecond)
			sp := list.AppendEmpty()
			sp.SetName("blocked OrderBook")
			sp.SetTraceID(trace)
			sp.SetSpanID(span)
			sp.SetStartTimestamp(pcommon.NewTimestampFromTime(start))
			sp.SetEndTimestamp(pcommon.NewTimestampFromTime(start.Add(time.Duration(id % uint64(time.Millisecond)))))
			sp.Attributes().PutInt("thread.id", int64(i%50))
			sp.Attributes().PutStr("weft.lock.class", "com.acme.orders.OrderBook")
			sp.Attributes().PutInt("weft.lock.id", int64(i%50))
		}
		request, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td) // a request has the same form
		if err != nil {
			return nil, err
		}
		s.requests = append(s.requests, request)
	}
	return s, nil
}

// send sends the spans over gRPC and returns when the collector has accepted them.
func (s *services) send(ctx context.Context, address string) error {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	numbers, errs := make(chan int), make([]error, inFlight)
	var senders sync.WaitGroup
	for i := range inFlight {
		senders.Go(func() {
			for n := range numbers {
				if errs[i] == nil {
					var answer []byte
					errs[i] = conn.Invoke(ctx, export, s.requests[n%distinct], &answer, grpc.ForceCodec(encoded{}))
				}
			}
		})
	}
	for n := range (s.spans + spansOfRequest - 1) / spansOfRequest {
		numbers <- n
	}
	close(numbers)
	senders.Wait()
	return errors.Join(errors.Join(errs...), conn.Close())
}

// encoded is a codec of messages that are bytes already.
type encoded struct{}

var _ encoding.Codec = encoded{}

func (encoded) Name() string { return "proto" }

func (encoded) Marshal(v any) ([]byte, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("message %T, want []byte", v)
	}
	return b, nil
}

func (encoded) Unmarshal(data []byte, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("message %T, want *[]byte", v)
	}
	*b = append((*b)[:0], data...)
	return nil
}
