// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package page answers: what does the page know? It is a client of its API (docs/page-api.md), for commands and assistants that show the same
// as text.
package page

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/weft-otel/weft/internal/viewapi"
)

// maxAnswer exceeds every answer of the API, in bytes.
const maxAnswer = 4 << 20

// Client requests answers from one server. It may be used concurrently.
type Client struct {
	base  *url.URL
	http  http.Client
	token string // empty: none
}

// New returns a client of the page at a URL such as http://localhost:8090/, or one with a token, as weft view prints.
func New(base string, transport http.RoundTripper) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("address of the page: %w", err)
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("address of the page %q: want one such as http://localhost:8090/", u.Redacted())
	}
	return &Client{base: u, http: http.Client{Transport: transport}, token: u.Query().Get("token")}, nil
}

// Of returns a client of a handler in this process, which serves the page at /.
func Of(handler http.Handler) *Client { return At(handler, "/") }

// At returns a client of a handler in this process, which serves the page at a path such as /weft/.
func At(handler http.Handler, path string) *Client {
	return &Client{base: &url.URL{Scheme: "http", Host: "localhost", Path: path}, http: http.Client{Transport: inProcess{handler}}}
}

// Refused is an answer of the page that it cannot answer.
type Refused struct {
	Path      string
	Message   string // the problem, and a valid value
	Parameter string // that is wrong; empty: none
}

func (r *Refused) Error() string { return r.Path + ": " + r.Message }

// Query is the parameters of a request.
type Query = url.Values

// Sessions returns the first 100 sessions.
func (c *Client) Sessions(ctx context.Context) (viewapi.Sessions, error) {
	return get[viewapi.Sessions](ctx, c, "sessions", nil)
}

// SessionsFrom returns at most 100 sessions from an index on.
func (c *Client) SessionsFrom(ctx context.Context, offset int) (viewapi.Sessions, error) {
	return get[viewapi.Sessions](ctx, c, "sessions", Query{"offset": {strconv.Itoa(offset)}})
}

// Info describes the server.
func (c *Client) Info(ctx context.Context) (viewapi.Info, error) {
	return get[viewapi.Info](ctx, c, "info", nil)
}

// Changes waits until the store is newer than a version, or for some seconds.
func (c *Client) Changes(ctx context.Context, since uint64) (viewapi.Change, error) {
	return get[viewapi.Change](ctx, c, "changes", Query{"since": {strconv.FormatUint(since, 10)}})
}

// Session returns the state of a session.
func (c *Client) Session(ctx context.Context, id string) (viewapi.Session, error) {
	return get[viewapi.Session](ctx, c, "sessions/"+url.PathEscape(id), nil)
}

// Waiting returns the threads that wait.
func (c *Client) Waiting(ctx context.Context, id string, q Query) (viewapi.Waiting, error) {
	return of[viewapi.Waiting](ctx, c, id, "waiting", q)
}

// Why returns what a thread spent a time on.
func (c *Client) Why(ctx context.Context, id string, q Query) (viewapi.Why, error) {
	return of[viewapi.Why](ctx, c, id, "why", q)
}

// Answer returns what costs the most.
func (c *Client) Answer(ctx context.Context, id string, q Query) (viewapi.Answer, error) {
	return of[viewapi.Answer](ctx, c, id, "answer", q)
}

// Causes returns what cost the most, and what came next.
func (c *Client) Causes(ctx context.Context, id string, q Query) (viewapi.Causes, error) {
	return of[viewapi.Causes](ctx, c, id, "causes", q)
}

// Callers returns the methods that blocked or waited.
func (c *Client) Callers(ctx context.Context, id string, q Query) (viewapi.Callers, error) {
	return of[viewapi.Callers](ctx, c, id, "callers", q)
}

// Locks returns the table of locks.
func (c *Client) Locks(ctx context.Context, id string, q Query) (viewapi.Locks, error) {
	return of[viewapi.Locks](ctx, c, id, "locks", q)
}

// LockLanes returns the holds, queues and handoffs of locks over time.
func (c *Client) LockLanes(ctx context.Context, id string, q Query) (viewapi.LockLanes, error) {
	return of[viewapi.LockLanes](ctx, c, id, "locklanes", q)
}

// Kinds returns the table of waits by kind.
func (c *Client) Kinds(ctx context.Context, id string, q Query) (viewapi.Kinds, error) {
	return of[viewapi.Kinds](ctx, c, id, "kinds", q)
}

// Classes returns the table of lock classes.
func (c *Client) Classes(ctx context.Context, id string, q Query) (viewapi.Classes, error) {
	return of[viewapi.Classes](ctx, c, id, "classes", q)
}

// Virtual returns the groups of virtual threads.
func (c *Client) Virtual(ctx context.Context, id string, q Query) (viewapi.Virtual, error) {
	return of[viewapi.Virtual](ctx, c, id, "virtual", q)
}

// Threads returns the table of threads.
func (c *Client) Threads(ctx context.Context, id string, q Query) (viewapi.Threads, error) {
	return of[viewapi.Threads](ctx, c, id, "threads", q)
}

// Incidents returns the episodes of contention.
func (c *Client) Incidents(ctx context.Context, id string, q Query) (viewapi.Incidents, error) {
	return of[viewapi.Incidents](ctx, c, id, "incidents", q)
}

// Path returns the critical path of a thread.
func (c *Client) Path(ctx context.Context, id string, q Query) (viewapi.Path, error) {
	return of[viewapi.Path](ctx, c, id, "path", q)
}

// Compare returns what changed between two ranges.
func (c *Client) Compare(ctx context.Context, id string, q Query) (viewapi.Comparison, error) {
	return of[viewapi.Comparison](ctx, c, id, "compare", q)
}

// Flame returns the contended waits of a range as trees of stacks.
func (c *Client) Flame(ctx context.Context, id string, q Query) (viewapi.Flame, error) {
	return of[viewapi.Flame](ctx, c, id, "flame", q)
}

// Interval returns the interval of a thread at a time.
func (c *Client) Interval(ctx context.Context, id string, thread uint64, at int64) (viewapi.Interval, error) {
	return of[viewapi.Interval](ctx, c, id, "interval", Query{"thread": {strconv.FormatUint(thread, 10)}, "at": {strconv.FormatInt(at, 10)}})
}

// Span returns what a span ID stands for.
func (c *Client) Span(ctx context.Context, id, span string) (viewapi.SpanPlaces, error) {
	return of[viewapi.SpanPlaces](ctx, c, id, "span", Query{"id": {span}})
}

// Stack returns a stack.
func (c *Client) Stack(ctx context.Context, id string, stack uint32) (viewapi.Stack, error) {
	return of[viewapi.Stack](ctx, c, id, "stack", Query{"id": {strconv.FormatUint(uint64(stack), 10)}})
}

// of requests an answer about a session.
func of[T any](ctx context.Context, c *Client, id, what string, q Query) (T, error) {
	return get[T](ctx, c, "sessions/"+url.PathEscape(id)+"/"+what, q)
}

func get[T any](ctx context.Context, c *Client, path string, q Query) (out T, _ error) {
	u := c.base.JoinPath("api", path)
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return out, err
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	err = c.do(req, &out)
	return out, err
}

// do sends a request, and decodes its answer.
func (c *Client) do(req *http.Request, out any) error {
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", req.URL.Path, err)
	case len(body) > maxAnswer:
		return fmt.Errorf("%s: the answer has more than %d bytes", req.URL.Path, maxAnswer)
	case resp.StatusCode != http.StatusOK:
		var problem viewapi.Error
		if json.Unmarshal(body, &problem) != nil || problem.Error == "" {
			return fmt.Errorf("%s: %s; check that this is the page of Weft", req.URL.Redacted(), resp.Status)
		}
		return &Refused{req.URL.Path, problem.Error, problem.Parameter}
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("%s: %w; check that this is the page of Weft, of the same version", req.URL.Redacted(), err)
	}
	return nil
}
