// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weft-otel/weft/internal/threadview/server"
)

// BenchmarkWhy compares the words for a critical path with the path itself, of 500 threads that block all the time: over 2 s (16,000
// intervals), and over 40 s.
func BenchmarkWhy(b *testing.B) {
	handler := server.New(bigStore(b, 1_000_000), server.Config{}).Handler()
	for _, seconds := range []int64{2, 40} {
		for _, what := range []string{"path", "why"} {
			b.Run(fmt.Sprintf("%ds/%s", seconds, what), func(b *testing.B) {
				before, n := cpuTime(b), int64(0)
				for b.Loop() {
					n++ // another range, or the answer would come from memory
					query := fmt.Sprintf("%s?from=%d&to=%d", what, 20_000_000_000+n, 20_000_000_000+n+seconds*1_000_000_000)
					r := httptest.NewRequest(http.MethodGet, "/api/sessions/"+sessionID.String()+"/"+query, http.NoBody)
					r.Host = "localhost"
					w := httptest.NewRecorder()
					handler.ServeHTTP(w, r)
					if w.Code != http.StatusOK {
						b.Fatalf("%d %s", w.Code, w.Body)
					}
				}
				b.ReportMetric(float64(cpuTime(b)-before)/1e6/float64(b.N), "cpu-ms/op")
			})
		}
	}
}
