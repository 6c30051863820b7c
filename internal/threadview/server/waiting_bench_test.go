// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// BenchmarkWaiting measures who waits, of 10,000 threads of which nearly all are blocked, as a command asks each second. The floor is the
// response to a request that finds nothing to do; a table of all threads is the peer.
func BenchmarkWaiting(b *testing.B) {
	const threads = 10_000
	st := store.New(math.MaxInt64, nil)
	crowd(st, threads, 40, 20*threads)
	handler := server.New(st, server.Config{}).Handler()
	sn := st.Session(sessionID).Snapshot()
	round := int64(sn.To-sn.Origin) / 10 // in the first half of which threads become blocked, in the second half they get their locks
	for _, bench := range []struct{ name, query string }{
		{"floor", "stack?id=1"},
		{"waiting", "waiting?at=%d"},
		{"waiting/limit=200", "waiting?limit=200&at=%d"},
		{"waiting/sort=holder.name", "waiting?sort=holder.name&at=%d"},
		{"waiting/state=blocked", "waiting?state=blocked&at=%d"},
		{"threads", "threads?limit=100&from=%d"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			before, n, bytes := cpuTime(b), int64(0), 0
			for b.Loop() {
				n++ // another moment, or the answer would come from memory
				query := bench.query
				if bench.name != "floor" {
					query = fmt.Sprintf(query, 4*round+round/2-n)
				}
				r := httptest.NewRequest(http.MethodGet, "/api/sessions/"+sessionID.String()+"/"+query, http.NoBody)
				r.Host = "localhost"
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatalf("%d %s", w.Code, w.Body)
				}
				bytes = w.Body.Len()
			}
			b.ReportMetric(float64(bytes), "B/answer")
			b.ReportMetric(float64(cpuTime(b)-before)/1e6/float64(b.N), "cpu-ms/op")
		})
	}
}
