// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-otel/weft/bench/load"
)

// agents runs simulated JVMs for a time and returns when their sessions have ended.
func agents(ctx context.Context, socket string, count int, shape load.Shape, lasts time.Duration) (load.Summary, error) {
	const retain = 8 << 20 // as the agent's
	return agentsWith(ctx, socket, count, shape, lasts, retain)
}

// agentsWith is agents that keep so many bytes of batches.
func agentsWith(ctx context.Context, socket string, count int, shape load.Shape, lasts time.Duration, retain int) (load.Summary, error) {
	seen := &load.Seen{}
	errs := make([]error, count)
	ctx, cancel := context.WithTimeout(ctx, lasts)
	defer cancel()
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			time.Sleep(time.Duration(i) * shape.Batch / time.Duration(count)) // JVMs do not start at the same moment
			a := &load.Agent{
				Shape: shape, Run: load.NewRun(fmt.Sprintf("service-%d", i)), Network: "unix", Socket: socket, Retain: retain, Seen: seen,
			}
			errs[i] = a.Live(ctx, patience)
		})
	}
	all.Wait()
	return seen.Summary(), errors.Join(errs...)
}

// readers uses the page's API like open browser windows until ctx ends.
type readers struct {
	answers, refusals, failures atomic.Int64
	tooLong                     atomic.Int64 // 422: the range has too many intervals for a path, which the page says
}

func (r *readers) read(ctx context.Context, clients int, urls ...string) {
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				r.get(ctx, urls[n%len(urls)])
				select {
				case <-ctx.Done():
				case <-time.After(time.Second): // the page's own interval
				}
			}
		})
	}
	all.Wait()
}

func (r *readers) get(ctx context.Context, url string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		r.failures.Add(1)
		return
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		if ctx.Err() == nil {
			r.failures.Add(1)
		}
		return
	}
	_, _ = io.Copy(io.Discard, response.Body) // only the status counts
	_ = response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		r.answers.Add(1)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		r.refusals.Add(1)
	case http.StatusUnprocessableEntity:
		r.tooLong.Add(1)
	default:
		r.failures.Add(1)
	}
}

func (r *readers) String() string {
	return fmt.Sprintf("%d; %d too long for a path, %d refused, %d errors", r.answers.Load(), r.tooLong.Load(), r.refusals.Load(), r.failures.Load())
}
