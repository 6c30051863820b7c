// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/origin"
	"github.com/weft-otel/weft/internal/threadpdata"
)

const (
	ourKey    = "0123456789abcdef0123456789abcdef"
	anomalies = "otelcol_processor_thread_span_anomalies"
	otherKey  = "fedcba9876543210fedcba9876543210"
)

func keys(t *testing.T, key string) *origin.Keys {
	t.Helper()
	k, err := (&origin.Config{Key: configopaque.String(key)}).Load()
	require.NoError(t, err)
	return k
}

// from returns the context of a request from an address; empty: through a queue.
func from(t *testing.T, address string) context.Context {
	t.Helper()
	if address == "" {
		return t.Context()
	}
	return client.NewContext(t.Context(), client.Info{Addr: &net.TCPAddr{IP: net.ParseIP(address), Port: 14317}})
}

func spanOf(td ptrace.Traces) ptrace.Span {
	return td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
}

// lastBatch is the number of batches of an honest session, one each second.
const lastBatch = 35

// honest returns the carriers of a session, as an edge with a key sends them.
func honest(t *testing.T, key string) (all []ptrace.Traces) {
	t.Helper()
	for n := 1; n <= lastBatch; n++ {
		end := ""
		if n == lastBatch {
			end = threadpdata.EndExit
		}
		td := batch(one, uint64(n), end, n)
		keys(t, key).Sign(spanOf(td))
		all = append(all, td)
	}
	return all
}

// attacks are requests of somebody who reaches the gateway's port and sees what edges send, but has no key. They get the honest carriers, and the
// index of the next one.
var attacks = map[string]func(t *testing.T, r *rand.Rand, all []ptrace.Traces, next int) ptrace.Traces{
	"empty batches": func(_ *testing.T, _ *rand.Rand, _ []ptrace.Traces, next int) ptrace.Traces {
		td := batch(one, 1, "")
		for n := range uint64(100) {
			batch(one, uint64(next)+n, "").ResourceSpans().At(0).ScopeSpans().At(0).Spans().MoveAndAppendTo(td.ResourceSpans().At(0).ScopeSpans().At(0).Spans())
		}
		return td
	},
	"next batch": func(_ *testing.T, r *rand.Rand, _ []ptrace.Traces, next int) ptrace.Traces {
		return batch(one, uint64(next)+1, "", r.IntN(5000))
	},
	"jump": func(*testing.T, *rand.Rand, []ptrace.Traces, int) ptrace.Traces { return batch(one, 1e9, "", 3600) },
	"end": func(_ *testing.T, r *rand.Rand, _ []ptrace.Traces, next int) ptrace.Traces {
		return batch(one, uint64(next)+1, []string{threadpdata.EndExit, threadpdata.EndDetached, threadpdata.EndLost}[r.IntN(3)])
	},
	"another key": func(t *testing.T, r *rand.Rand, _ []ptrace.Traces, next int) ptrace.Traces {
		t.Helper()
		td := batch(one, uint64(next)+1, "", r.IntN(5000))
		keys(t, otherKey).Sign(spanOf(td))
		return td
	},
	"signature of another batch": func(_ *testing.T, r *rand.Rand, all []ptrace.Traces, next int) ptrace.Traces {
		td := batch(one, uint64(next)+1, "", next)
		mac, _ := threadpdata.MACOf(spanOf(all[r.IntN(len(all))]))
		threadpdata.PutMAC(spanOf(td), mac)
		return td
	},
	"payload": altered(func(r *rand.Rand, span ptrace.Span) {
		changeBytes(span, "weft.raw.batch.bytes", func(data []byte) []byte { return flipped(r, data) })
	}),
	"truncated": altered(func(r *rand.Rand, span ptrace.Span) {
		changeBytes(span, "weft.raw.batch.bytes", func(data []byte) []byte { return data[:r.IntN(len(data))] })
	}),
	"signature": altered(func(r *rand.Rand, span ptrace.Span) {
		changeBytes(span, "weft.raw.mac", func(data []byte) []byte { return flipped(r, data) })
	}),
	"short signature": altered(func(r *rand.Rand, span ptrace.Span) {
		changeBytes(span, "weft.raw.mac", func(data []byte) []byte { return data[:r.IntN(len(data))] })
	}),
	"session": altered(func(_ *rand.Rand, span ptrace.Span) { span.SetTraceID(pcommon.TraceID(two)) }),
	"ID":      altered(func(r *rand.Rand, span ptrace.Span) { span.SetSpanID(pcommon.SpanID{byte(1 + r.IntN(255))}) }),
	"added end": altered(func(_ *rand.Rand, span ptrace.Span) {
		span.Attributes().PutStr("weft.raw.end", threadpdata.EndExit+"!")
	}),
	"first": altered(func(r *rand.Rand, span ptrace.Span) { span.Attributes().PutInt("weft.raw.first", r.Int64()) }),
	"events": altered(func(r *rand.Rand, span ptrace.Span) {
		span.Attributes().PutInt("weft.raw.batch.events", 3+r.Int64N(1e9))
	}),
	"type":    altered(func(_ *rand.Rand, span ptrace.Span) { span.Attributes().PutStr("weft.raw.batch.events", "2") }),
	"version": altered(func(_ *rand.Rand, span ptrace.Span) { span.Attributes().PutInt("weft.raw.version", 2) }),
	"no attribute": altered(func(r *rand.Rand, span ptrace.Span) {
		span.Attributes().Remove([]string{"weft.raw.version", "weft.raw.batch.events", "weft.raw.batch.bytes", "weft.raw.mac"}[r.IntN(4)])
	}),
}

// altered returns an attack with an altered copy of an honest carrier, which may be the next one: it overtakes that.
func altered(change func(*rand.Rand, ptrace.Span)) func(*testing.T, *rand.Rand, []ptrace.Traces, int) ptrace.Traces {
	return func(_ *testing.T, r *rand.Rand, all []ptrace.Traces, next int) ptrace.Traces {
		td := ptrace.NewTraces()
		all[r.IntN(min(next+1, len(all)))].CopyTo(td)
		change(r, spanOf(td))
		return td
	}
}

// changeBytes replaces an attribute. It does not change it in place, since copies of spans share it.
func changeBytes(span ptrace.Span, key string, change func([]byte) []byte) {
	value, _ := span.Attributes().Get(key)
	data := change(value.Bytes().AsRaw())
	span.Attributes().PutEmptyBytes(key).FromRaw(data)
}

func flipped(r *rand.Rand, data []byte) []byte {
	data[r.IntN(len(data))] ^= byte(1 + r.IntN(255))
	return data
}

// run sends a session, each second a batch, and returns what the next consumer has got after each of them, and after the end. In between, disturb
// is called with the index of the next batch.
func run(t *testing.T, key string, disturb func(p *pipeline, all []ptrace.Traces, next int)) (got []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := start(t, func(c *Config) { c.Sessions.Carriers.Key = configopaque.String(key) }, nil)
		all := honest(t, ourKey)
		for i, td := range all {
			if disturb != nil {
				disturb(p, all, i)
			}
			require.NoError(t, p.ConsumeTraces(from(t, "10.0.0.1"), td))
			got = append(got, text(t, p))
			time.Sleep(time.Second)
		}
		if disturb != nil {
			disturb(p, all, len(all))
		}
		p.stop(t)
		got = append(got, text(t, p))
	})
	return got
}

// text returns the spans that the next consumer has got since the last call.
func text(t *testing.T, p *pipeline) string {
	t.Helper()
	var out strings.Builder
	for _, td := range p.sink.AllTraces() {
		data, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
		require.NoError(t, err)
		out.Write(data)
	}
	p.sink.Reset()
	return out.String()
}

// Whatever a stranger sends, and whatever comes twice, each window of the honest session comes at its time and unchanged.
func TestStrangersChangeNothingWithAKey(t *testing.T) {
	undisturbed := run(t, ourKey, nil)
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(8) {
				r := rand.New(rand.NewPCG(seed, 0))
				refused := int64(0)
				got := run(t, ourKey, func(p *pipeline, all []ptrace.Traces, next int) {
					if r.IntN(3) > 0 {
						return
					}
					td := attack(t, r, all, next)
					require.NoError(t, p.ConsumeTraces(from(t, "10.0.0.1"), td), "whoever forwards it must not repeat it")
					if next > 0 { // a repeat of what was sent
						require.NoError(t, p.ConsumeTraces(from(t, "10.0.0.9"), all[r.IntN(next)]))
					}
					refused += int64(td.SpanCount())
					assert.Equal(t, refused, p.sum(anomalies, "kind", "unsigned")+p.sum(anomalies, "kind", "forged"), "all are counted")
				})
				require.Equal(t, undisturbed, got, "seed %d", seed)
				require.Positive(t, refused)
			}
		})
	}
}

// Without a key, a session belongs to the address that sent it first, for as long as it sends.
func TestStrangersChangeNothingFromAnotherAddress(t *testing.T) {
	undisturbed := run(t, "", nil)
	for name, attack := range attacks {
		if name == "session" {
			continue // that of another JVM, which is not there
		}
		r := rand.New(rand.NewPCG(1, 0))
		got := run(t, "", func(p *pipeline, all []ptrace.Traces, next int) {
			if next == 0 || next == len(all) {
				return
			}
			td := attack(t, r, all, next)
			assert.ErrorContains(t, p.ConsumeTraces(from(t, "10.0.0.2"), td), "another sender has a session")
		})
		assert.Equal(t, undisturbed, got, name)
	}
}

// Without a key, and from the same address or through a queue, a stranger silences a JVM: this is what a key is for. A jump does not.
func TestStrangersAtTheSameAddressNeedAKey(t *testing.T) {
	undisturbed := run(t, "", nil)
	for name, harmed := range map[string]bool{"empty batches": true, "jump": false} {
		for _, address := range []string{"10.0.0.1", ""} {
			got := run(t, "", func(p *pipeline, all []ptrace.Traces, next int) {
				if next == 5 {
					assert.NoError(t, p.ConsumeTraces(from(t, address), attacks[name](t, nil, all, next)))
				}
			})
			assert.Equal(t, harmed, fmt.Sprint(undisturbed) != fmt.Sprint(got), "%s from %q", name, address)
		}
	}
}

// A JVM whose agent moves to another edge is silent until its session is free; then nothing is missing.
func TestSessionMovesToAnotherAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, nil, nil)
		require.NoError(t, p.ConsumeTraces(from(t, "10.0.0.1"), batch(one, 1, "", 1)))
		moved, tries := batch(one, 2, threadpdata.EndExit, 2), 0
		moved.MarkReadOnly()
		for ; p.ConsumeTraces(from(t, "10.0.0.2"), moved) != nil; tries++ {
			time.Sleep(time.Second)
		}
		assert.Equal(t, 5, tries)
		p.stop(t)
		p.metric(t, "otelcol_processor_thread_span_events", 4)
		p.metric(t, "otelcol_processor_thread_span_events_lost", 0)
		p.metric(t, anomalies, 5, "kind", "other_sender")
	})
}

// While keys are replaced, both are accepted.
func TestKeysAreReplaced(t *testing.T) {
	for _, test := range []struct {
		gateway, edge string
		accepted      bool
	}{
		{ourKey, ourKey, true},
		{otherKey + "\n" + ourKey + "\n", ourKey, true},
		{otherKey + "\n" + ourKey, otherKey + " " + ourKey, true},
		{otherKey, otherKey + " " + ourKey, true},
		{otherKey, ourKey + " " + otherKey, false},
		{otherKey, ourKey, false},
	} {
		p := start(t, func(c *Config) { c.Sessions.Carriers.Key = configopaque.String(test.gateway) }, nil)
		td := batch(one, 1, threadpdata.EndExit, 1)
		keys(t, test.edge).Sign(spanOf(td))
		require.NoError(t, p.ConsumeTraces(t.Context(), td))
		p.stop(t)
		assert.Equal(t, test.accepted, p.sink.SpanCount() > 0, "%+v", test)
	}
}
