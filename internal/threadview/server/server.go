// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

type handler func(http.ResponseWriter, *http.Request) *Problem

// ofSession answers requests about one session.
func (v *View) ofSession(get func(http.ResponseWriter, *http.Request, *store.Snapshot) *Problem) handler {
	return func(w http.ResponseWriter, r *http.Request) *Problem {
		sn, p := v.snapshot(r)
		if p != nil {
			return p
		}
		return get(w, r, sn)
	}
}

// global answers requests that are not about one session.
func (v *View) global(get func(*params) any) handler {
	return func(w http.ResponseWriter, r *http.Request) *Problem {
		p := newParams(r.URL.Query())
		out := get(p)
		if wrong := p.done(); wrong != nil {
			return wrong
		}
		return v.write(w, out)
	}
}

func (v *View) session(w http.ResponseWriter, r *http.Request, sn *store.Snapshot) *Problem {
	if p := newParams(r.URL.Query()).done(); p != nil {
		return p
	}
	body, p := v.marshal(v.describe(sn))
	if p == nil && !unchanged(w, r, contentTag(body)) { // the state of the agent is not part of the version
		v.send(w, body)
	}
	return p
}

func (v *View) snapshot(r *http.Request) (*store.Snapshot, *Problem) {
	var id jvmthread.SessionID
	raw, err := hex.DecodeString(r.PathValue("session"))
	if err != nil || len(raw) != len(id) {
		return nil, &Problem{http.StatusBadRequest, "session: want 32 hexadecimal digits", "session"}
	}
	s := v.store.Session(jvmthread.SessionID(raw))
	if s == nil {
		return nil, &Problem{http.StatusNotFound, "session: not found; it may have been discarded", "session"}
	}
	return s.Snapshot(), nil
}

// answer answers a query about a session.
func (v *View) answer(w http.ResponseWriter, r *http.Request, a answer) *Problem {
	sn, p := v.snapshot(r)
	if p != nil {
		return p
	}
	values := r.URL.Query()
	tag := v.versionTag(sn)
	if before := v.baseline(values); before != nil {
		tag = v.versionTag(sn, before)
	}
	if unchanged(w, r, tag) {
		return nil
	}
	key := sn.ID.String() + tag + r.PathValue("what") + "?" + values.Encode()
	body, p := v.flights.do(r.Context(), key, func(ctx context.Context) ([]byte, *Problem) {
		gates := []chan struct{}{v.busy}
		if a.isHeavy(values) {
			gates = []chan struct{}{v.heavy, v.busy}
		}
		done, p := v.enter(ctx, gates...)
		if p != nil {
			return nil, p
		}
		defer done()
		return v.compute(values, sn, a)
	})
	if p == nil {
		v.send(w, body)
	}
	return p
}

// compute makes an answer that is not too long, with fewer rows if necessary.
func (v *View) compute(values url.Values, sn *store.Snapshot, a answer) ([]byte, *Problem) {
	for most := 1 << 30; ; {
		q := newQuery(v, sn, values)
		q.most = most
		out, p := a.make(q)
		if p != nil {
			return nil, p
		}
		body, p := v.marshal(out)
		if p != nil || len(body) <= maxAnswer || q.page.limit <= 1 {
			return body, p
		}
		most = q.page.limit / 2
	}
}

// patience is how long a request waits for others to finish, within the server's time-out of 30 s.
const patience = 20 * time.Second

// enter waits for a place at each gate, in this order.
func (v *View) enter(ctx context.Context, gates ...chan struct{}) (done func(), _ *Problem) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	leave := func(entered []chan struct{}) {
		for _, gate := range entered {
			<-gate
		}
	}
	for i, gate := range gates {
		select {
		case gate <- struct{}{}:
		case <-ctx.Done():
			leave(gates[:i])
			return nil, problem(http.StatusServiceUnavailable, "too many concurrent requests; try again")
		}
	}
	return func() { leave(gates) }, nil
}

// versionTag changes with the sessions, also when one was discarded and came back, since it then begins later.
func (v *View) versionTag(sessions ...*store.Snapshot) string {
	tag := []byte(`"` + v.tag)
	for _, sn := range sessions {
		tag = fmt.Appendf(tag, "-%x-%d", uint64(sn.Origin), sn.Version)
	}
	return string(append(tag, '"'))
}

func contentTag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// unchanged answers a request if the browser has the current version already.
func unchanged(w http.ResponseWriter, r *http.Request, tag string) bool {
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "no-cache")
	if r.Header.Get("If-None-Match") != tag {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

func (v *View) marshal(out any) ([]byte, *Problem) {
	body, err := json.Marshal(out)
	if err != nil {
		v.cfg.Log("Cannot encode response", err)
		return nil, problem(http.StatusInternalServerError, "cannot encode the response")
	}
	return body, nil
}

func (v *View) write(w http.ResponseWriter, out any) *Problem {
	body, p := v.marshal(out)
	if p == nil {
		v.send(w, body)
	}
	return p
}

func (v *View) send(w http.ResponseWriter, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-cache")
	}
	v.finish(w.Write(body))
}

// finish logs an error of sending a response.
func (v *View) finish(_ int, err error) {
	if err != nil && !errors.Is(err, http.ErrHandlerTimeout) {
		v.cfg.Log("Client did not receive the whole response", err)
	}
}

func (v *View) fail(w http.ResponseWriter, p *Problem) {
	body, err := json.Marshal(viewapi.Error{Error: p.Message, Parameter: p.Parameter})
	if err != nil {
		body = []byte(`{"error":"","parameter":""}`)
	}
	h := w.Header()
	h.Del("ETag")
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	if p.Status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "2")
	}
	w.WriteHeader(p.Status)
	v.finish(w.Write(append(body, '\n')))
}
