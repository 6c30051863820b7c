// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/weft-otel/weft/bench/load"
)

// pageInUse is one busy JVM on the page of a developer's machine.
func pageInUse(ctx context.Context, o *options) (rows []row, err error) {
	c, err := startCollector(ctx, o, "all-in-one.yaml")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.end()) }()
	seen, page, err := c.usePage(ctx, o)
	what := "one JVM, 100,000 events/s, all-in-one.yaml, 10 clients of the page"
	return []row{
		atMost(what+": peak RSS", c.peak()>>20, 700, "MB"),
		exactly(what+": events lost", seen.Lost, 0),
		{what + ": answers of the page", "no error", page.String(), page.answers.Load() > 0 && page.refusals.Load()+page.failures.Load() == 0},
	}, err
}

// usePage runs a busy JVM, and clients that look at it.
func (c *collector) usePage(ctx context.Context, o *options) (load.Summary, *readers, error) {
	shape := load.Shape{Threads: 50, Locks: 50, Classes: 2, Rate: 100_000, Batch: 20 * time.Millisecond}
	reading, stop := context.WithCancel(ctx)
	page := new(readers)
	var open sync.WaitGroup
	open.Go(func() {
		if base, err := firstSession(reading, "http://"+c.page+"/api/sessions"); err == nil {
			page.read(reading, 10, base, base+"/threads", base+"/lanes", base+"/answer", base+"/classes", base+"/path", base+"/interactions", base+"/minimap")
		}
	})
	seen, err := agents(ctx, c.socket, 1, shape, o.lasting(90*time.Second))
	stop()
	open.Wait()
	return seen, page, err
}

// floods is how many sessions define how many bytes of classes each in littleMemory.
const floods, floodBytes = 16, 48 << 20

// littleMemory is the same with less memory than the limits of the parts add up to, while other sessions define classes without end.
func littleMemory(ctx context.Context, o *options) (rows []row, err error) {
	for _, mib := range []int64{256, 400} {
		these, err := within(ctx, o, mib)
		rows = append(rows, these...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func within(ctx context.Context, o *options, mib int64) (rows []row, err error) {
	c, err := startCollector(ctx, o, "all-in-one.yaml", fmt.Sprintf("yaml:extensions::thread_engine::memory_limit_mib: %d", mib),
		fmt.Sprintf("yaml:processors::memory_limiter::limit_mib: %d", mib))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.end()) }()
	flooding, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	for range floods {
		all.Go(func() {
			if err := load.Flood(flooding, "unix", c.socket, floodBytes); err != nil {
				fmt.Fprintln(os.Stderr, "flood:", err)
			}
		})
	}
	seen, page, err := c.usePage(ctx, o)
	if err != nil { // a goal, too
		fmt.Fprintln(os.Stderr, "agent:", err)
	}
	stop()
	all.Wait()
	what := fmt.Sprintf("the same with %d MiB, and %d sessions that define %d MB each", mib, floods, floodBytes>>20)
	return []row{
		atMost(what+": peak RSS", c.peak()>>20, mib, "MB"),
		exactly(what+": events lost", seen.Lost, 0),
		exactly(what+": events acknowledged", seen.Acked, seen.Events),
		atMost(what+": longest time until a batch is acknowledged", seen.Longest.Milliseconds(), 2000, "ms"),
		{what + ": answers of the page", "no error", page.String(), page.answers.Load() > 0 && page.failures.Load() == 0},
	}, nil
}

// firstSession waits for a session with events and returns its URL.
func firstSession(ctx context.Context, sessions string) (string, error) {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, sessions, http.NoBody)
		if err != nil {
			return "", err
		}
		var list struct{ Sessions []struct{ ID string } }
		if response, err := http.DefaultClient.Do(request); err == nil {
			err = json.NewDecoder(response.Body).Decode(&list)
			_ = response.Body.Close()
			if err == nil && len(list.Sessions) > 0 {
				return sessions + "/" + list.Sessions[0].ID, nil
			}
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
