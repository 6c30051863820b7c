// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

func requestOf(name jvmthread.ClassID, kind jvmthread.Wait, waited time.Duration) requests.End {
	e := requests.End{Name: name}
	e.Waits[kind] = window.Sum{Count: 2, Time: waited}
	return e
}

func TestExemplarsOfRequestsLeadToThem(t *testing.T) {
	cfg := &Config{Buckets: []time.Duration{time.Second}, MaxSeries: 2, Expiry: time.Hour, Budget: &Budget{Limit: 100}, Exemplars: 2}
	a := New(cfg, symbols.New(symbols.DefaultLimits()), nil, time.Unix(0, 0))
	e := requestOf(1, jvmthread.WaitLock, 3)
	e.End, e.Span = 50, jvmthread.SpanContext{TraceID: [16]byte{1}, SpanID: [8]byte{2}}
	a.Requests([]requests.End{e, requestOf(1, jvmthread.WaitLock, 30)})
	a.Flush(nil, time.Unix(1, 0), false, func(s *Statement) {
		assert.Equal(t, []Exemplar{{Duration: 3, At: 50, Request: e.Span}}, s.Requests[0].Value.Waited.Exemplars)
	})
}

func TestRequestsAreSummedByNameAndKind(t *testing.T) {
	for _, delta := range []bool{false, true} {
		cfg := &Config{Buckets: []time.Duration{time.Second}, MaxSeries: 2, Expiry: time.Hour, Budget: &Budget{Limit: 100}}
		a := New(cfg, symbols.New(symbols.DefaultLimits()), nil, time.Unix(0, 0))
		a.Requests([]requests.End{
			requestOf(1, jvmthread.WaitLock, 3), requestOf(1, jvmthread.WaitLock, 4), requestOf(1, jvmthread.WaitPool, 5), requestOf(2, jvmthread.WaitPool, 6),
		})
		type line struct {
			key      RequestKey
			count    uint64
			sum      time.Duration
			overflow bool
		}
		flush := func() (lines []line) {
			a.Flush(nil, time.Unix(1, 0), delta, func(s *Statement) {
				for _, r := range s.Requests {
					lines = append(lines, line{r.Key, r.Value.Waited.Count, r.Value.Waited.Sum, r.Overflow})
				}
			})
			return lines
		}
		assert.Equal(t, []line{
			{RequestKey{1, jvmthread.WaitLock}, 2, 7, false},
			{RequestKey{1, jvmthread.WaitPool}, 1, 5, false},
			{RequestKey{0, jvmthread.WaitPool}, 1, 6, true},
		}, flush())
		a.Requests([]requests.End{requestOf(1, jvmthread.WaitLock, 10)})
		want := line{RequestKey{1, jvmthread.WaitLock}, 3, 17, false}
		if delta {
			want.count, want.sum = 1, 10
		}
		assert.Equal(t, want, flush()[0])
		a.Release()
		assert.Zero(t, cfg.Budget.Used())
	}
}
