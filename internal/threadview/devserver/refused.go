// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"time"

	"github.com/weft-otel/weft/internal/entrance"
)

// refused adds a door, and agents that did not get in.
func refused(board *entrance.Board) {
	board.Open(entrance.Door{Address: "tls://collector.example:4327", TLS: true, Auth: true})
	now := time.Now()
	board.Refuse(entrance.Refusal{
		At: now.Add(-25 * time.Hour), Remote: "10.1.2.3:40112", Reason: "unsupported protocol version 2, want 1",
		Remedy: "Use an agent and a collector of the same version of Weft.",
	})
	for range 3 {
		board.Refuse(entrance.Refusal{
			At: now, Remote: "10.1.2.4:51200", Service: "<img src=x onerror=alert(1)>", PID: 4711, Reason: "credentials are missing or invalid",
			Remedy: "Set the agent's token-file or headers to what protocols::stream::auth accepts; the log of the collector has the reason.",
		})
	}
}

// beginning adds a session on a request to /begin.
func beginning(handler http.Handler, begin func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/begin" {
			begin()
			return
		}
		handler.ServeHTTP(w, r)
	})
}
