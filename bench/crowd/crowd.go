// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package crowd puts a web server under load: thousands of clients with a connection each, which all have a request in flight.
package crowd

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Crowd is what clients send. Each of them waits for an answer before it sends the next request.
type Crowd struct {
	Address  string // of the server
	Clients  int
	Requests []int         // of each client, by phase; a phase begins when all clients have ended the one before
	Patience time.Duration // for everything

	Path   func(client, request int) string // of each phase, from 0
	Want   func(client, request int) string // the body of the answer
	Before func(phase int) error            // called when all are connected and no request is in flight; nil: nothing
}

// Result is what came of the last phase.
type Result struct {
	Wall     time.Duration
	InFlight int // the most requests that were sent and not answered
}

// connecting is how many clients connect at once: more than the backlog of a server would be refused, or try again after a second.
const connecting = 128

// spare are file descriptors for everything but connections.
const spare = 200

// ErrFiles means that the process may not open a file for each client.
var ErrFiles = errors.New("too few files may be open")

// Run connects all clients, then has them send their requests. An answer that differs from what was wanted is an error.
func (c *Crowd) Run(ctx context.Context) (r Result, err error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return r, err
	}
	if limit.Cur < uint64(c.Clients+spare) { // Go has raised it to the hard limit
		return r, fmt.Errorf("%w: %d, want %d: raise it with ulimit -n", ErrFiles, limit.Cur, c.Clients+spare)
	}
	ctx, cancel := context.WithTimeout(ctx, c.Patience)
	defer cancel()
	connections, err := c.connect(ctx)
	defer func() {
		for _, connection := range connections {
			if connection != nil {
				err = errors.Join(err, connection.Close())
			}
		}
	}()
	for phase := range c.Requests {
		if err == nil && c.Before != nil {
			err = c.Before(phase)
		}
		if err != nil {
			return r, err
		}
		begin := time.Now()
		r.InFlight, err = c.request(connections, c.Requests[phase])
		r.Wall = time.Since(begin)
	}
	return r, err
}

func (c *Crowd) connect(ctx context.Context) ([]net.Conn, error) {
	connections, failures := make([]net.Conn, c.Clients), make([]error, c.Clients)
	deadline, _ := ctx.Deadline()
	free := make(chan struct{}, connecting)
	var all sync.WaitGroup
	for client := range c.Clients {
		free <- struct{}{}
		all.Go(func() {
			connections[client], failures[client] = (&net.Dialer{}).DialContext(ctx, "tcp", c.Address)
			if failures[client] == nil {
				failures[client] = connections[client].SetDeadline(deadline)
			}
			<-free
		})
	}
	all.Wait()
	return connections, first(failures)
}

func (c *Crowd) request(connections []net.Conn, requests int) (most int, err error) {
	var inFlight, highest atomic.Int64
	failures := make([]error, c.Clients)
	var all sync.WaitGroup
	for client := range c.Clients {
		all.Go(func() {
			connection := connections[client]
			answers := bufio.NewReaderSize(connection, 512)
			for n := range requests {
				now := inFlight.Add(1)
				raise(&highest, now)
				failures[client] = c.exchange(connection, answers, client, n)
				inFlight.Add(-1)
				if failures[client] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return int(highest.Load()), first(failures)
}

func (c *Crowd) exchange(connection net.Conn, answers *bufio.Reader, client, n int) error {
	if _, err := fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", c.Path(client, n), c.Address); err != nil {
		return err
	}
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	if want := c.Want(client, n); response.StatusCode != http.StatusOK || string(body) != want {
		return fmt.Errorf("%s: status %d, body %.200q, want %q", c.Path(client, n), response.StatusCode, body, want)
	}
	return nil
}

// first returns the first error, with the number of all.
func first(failures []error) error {
	var one error
	count := 0
	for _, err := range failures {
		if err != nil {
			one = cmp.Or(one, err)
			count++
		}
	}
	if one == nil {
		return nil
	}
	return fmt.Errorf("%d of %d clients failed: %w", count, len(failures), one)
}

// raise sets a number to another one that is higher.
func raise(highest *atomic.Int64, now int64) {
	for {
		old := highest.Load()
		if now <= old || highest.CompareAndSwap(old, now) {
			return
		}
	}
}
