// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package runtimes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Load is what clients ask of a web server, all at once.
type Load struct {
	Clients, Requests int
	Path              string                  // of a request; the number of the client follows
	Want              func(client int) string // in the response
}

// Run waits until a web server answers, and puts it under load. It returns what the server states at /waited: how long its threads waited, in
// nanoseconds.
func (l Load) Run(ctx context.Context, address string) (string, error) {
	for _, err := get(ctx, address+"/waited"); err != nil; _, err = get(ctx, address+"/waited") {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return "", fmt.Errorf("the server does not answer: %w: %w", context.Cause(ctx), err)
		}
	}
	var clients sync.WaitGroup
	failed := make([]error, l.Clients)
	for client := range l.Clients {
		clients.Go(func() {
			for range l.Requests {
				body, err := get(ctx, fmt.Sprint(address, l.Path, client))
				if err == nil && body != l.Want(client) {
					err = fmt.Errorf("client %d got %q, not %q", client, body, l.Want(client))
				}
				failed[client] = errors.Join(failed[client], err)
			}
		})
	}
	clients.Wait()
	if err := errors.Join(failed...); err != nil {
		return "", err
	}
	return get(ctx, address+"/waited")
}

// get returns the body of a page.
func get(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+url, http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", url, response.Status)
	}
	body, err := io.ReadAll(response.Body)
	return string(body), err
}
