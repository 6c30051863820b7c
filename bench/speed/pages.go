// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// visitors are browsers that follow a session on the page.
type visitors struct {
	root            string
	client          http.Client
	answers, failed atomic.Int64
	tooLong         atomic.Int64 // ranges that are too long for a critical path
	slowest         atomic.Int64 // ns
}

// visits are the requests of pages that follow a session, for each change. A page requests what its tab shows, for the last ten seconds (from
// and to) or the whole session.
var visits = [...][]string{
	{"threads?from&to", "lanes?from&to&width=1200", "interactions?from&to", "minimap?width=1200"},
	{"lanes?from&to&width=1200", "minimap?width=1200", "classes?from&to&savings=true", "answer?from&to"},
	{"classes?savings=true", "callers", "answer", "minimap?width=1200"},
	{"path?from&to", "locks?from&to", "locklanes?from&to&width=1200"},
	{"locks", "threads", "log?from&to"},
}

// follow lets visitors follow the newest session until the context ends.
func (v *visitors) follow(ctx context.Context, count int) {
	v.client.Transport = &http.Transport{MaxIdleConnsPerHost: count}
	var all sync.WaitGroup
	for n := range count {
		all.Go(func() {
			for ctx.Err() == nil {
				v.visit(ctx, visits[n%len(visits)])
				select {
				case <-ctx.Done():
				case <-time.After(time.Second): // the page's window
				}
			}
		})
	}
	all.Wait()
	v.client.CloseIdleConnections()
}

// visit requests what one visitor sees after a change.
func (v *visitors) visit(ctx context.Context, what []string) {
	var list struct {
		Sessions []struct {
			ID       string
			From, To int64
		}
	}
	if body := v.get(ctx, "sessions"); body == nil || json.Unmarshal(body, &list) != nil || len(list.Sessions) == 0 {
		return
	}
	s := &list.Sessions[0]
	from, to := strconv.FormatInt(max(s.From, s.To-int64(10*time.Second)), 10), strconv.FormatInt(s.To, 10)
	for _, path := range what {
		u, _ := url.Parse(path) // of the table above
		if q := u.Query(); q.Has("from") {
			q.Set("from", from)
			q.Set("to", to)
			u.RawQuery = q.Encode()
		}
		v.get(ctx, "sessions/"+s.ID+"/"+u.String())
	}
}

func (v *visitors) get(ctx context.Context, path string) []byte {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.root+path, http.NoBody)
	if err != nil {
		return nil
	}
	begin := time.Now()
	response, err := v.client.Do(request)
	if err != nil {
		return nil
	}
	defer response.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(response.Body)
	switch {
	case ctx.Err() != nil:
		return nil
	case response.StatusCode == http.StatusUnprocessableEntity:
		v.tooLong.Add(1)
		return nil
	case err != nil || response.StatusCode >= http.StatusBadRequest:
		v.failed.Add(1)
		return nil
	}
	v.answers.Add(1)
	for took := int64(time.Since(begin)); ; {
		if before := v.slowest.Load(); took <= before || v.slowest.CompareAndSwap(before, took) {
			return body
		}
	}
}

func (v *visitors) String() string {
	return fmt.Sprintf("%d answers, %d refused, %d ranges too long for a path, slowest %.1f s", v.answers.Load(), v.failed.Load(), v.tooLong.Load(), time.Duration(v.slowest.Load()).Seconds())
}
