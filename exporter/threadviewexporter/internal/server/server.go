// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// answer makes the answer to a query.
type answer struct {
	make  func(*query) (any, *Problem)
	heavy bool
}

func answers() map[string]answer {
	return map[string]answer{
		"threads":      {make: (*query).threads},
		"lanes":        {make: (*query).lanes},
		"minimap":      {make: (*query).minimap},
		"interactions": {make: (*query).arrows},
		"interval":     {make: (*query).interval},
		"stack":        {make: (*query).stack},
		"classes":      {make: (*query).classes},
		"callers":      {make: (*query).callers},
		"path":         {make: (*query).path, heavy: true},
		"locks":        {make: (*query).locks, heavy: true},
		"locklanes":    {make: (*query).lockLanes, heavy: true},
		"log":          {make: (*query).log},
		"search":       {make: (*query).search},
	}
}

// Handler returns what serves the page and its API.
func (v *View) Handler() http.Handler {
	mux := http.NewServeMux()
	api := v.cfg.Prefix + "api/"
	mux.HandleFunc("GET "+api+"info", v.whole(func(*params) any { return v.info() }))
	mux.HandleFunc("GET "+api+"sessions", v.whole(v.sessions))
	mux.HandleFunc("GET "+api+"changes", v.changes)
	mux.HandleFunc("GET "+api+"events", v.events)
	mux.HandleFunc("GET "+api+"sessions/{session}", v.session)
	mux.HandleFunc("GET "+api+"sessions/{session}/export", v.export)
	mux.HandleFunc("GET "+api+"sessions/{session}/download", v.download)
	if v.cfg.Agents != nil {
		mux.HandleFunc("GET "+api+"sessions/{session}/control", v.control)
		mux.HandleFunc("POST "+api+"sessions/{session}/control", v.control)
	}
	all := answers()
	mux.HandleFunc("GET "+api+"sessions/{session}/{what}", func(w http.ResponseWriter, r *http.Request) {
		a, ok := all[r.PathValue("what")]
		if !ok {
			v.fail(w, problem(http.StatusNotFound, "there is no %s; docs/page-api.md lists what is there", shorten(r.PathValue("what"))))
			return
		}
		v.ask(w, r, a)
	})
	mux.HandleFunc(api, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			v.fail(w, problem(http.StatusMethodNotAllowed, "only GET is answered here"))
			return
		}
		v.fail(w, problem(http.StatusNotFound, "there is no such path; docs/page-api.md lists what is there"))
	})
	if v.cfg.Page != nil {
		mux.Handle(v.cfg.Prefix, http.StripPrefix(strings.TrimSuffix(v.cfg.Prefix, "/"), files(v.cfg.Page)))
	}
	return v.guard(mux)
}

// files serves the page. Its files have fixed names, so that a browser has to ask whether they have changed; what is embedded has no date to
// tell that by.
func files(page fs.FS) http.Handler {
	tags := map[string]string{}
	_ = fs.WalkDir(page, ".", func(path string, _ fs.DirEntry, err error) error {
		if data, unread := fs.ReadFile(page, path); err == nil && unread == nil {
			tags[path] = contentTag(data)
		}
		return nil
	})
	server := http.FileServerFS(page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		if tag, ok := tags[cmp.Or(strings.TrimPrefix(r.URL.Path, "/"), "index.html")]; ok {
			w.Header().Set("ETag", tag)
		}
		server.ServeHTTP(w, r)
	})
}

// whole answers what is not about one session.
func (v *View) whole(get func(*params) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p := newParams(r.URL.Query())
		out := get(p)
		if wrong := p.done(); wrong != nil {
			v.fail(w, wrong)
			return
		}
		body, err := json.Marshal(out)
		v.write(w, body, err)
	}
}

func (v *View) session(w http.ResponseWriter, r *http.Request) {
	sn, p := v.snapshot(r)
	if p == nil {
		p = newParams(r.URL.Query()).done()
	}
	if p != nil {
		v.fail(w, p)
		return
	}
	body, err := json.Marshal(v.describe(sn))
	if err == nil && unchanged(w, r, contentTag(body)) { // what its agent says is of no version
		return
	}
	v.write(w, body, err)
}

func (v *View) snapshot(r *http.Request) (*store.Snapshot, *Problem) {
	var id jvmthread.SessionID
	raw, err := hex.DecodeString(r.PathValue("session"))
	if err != nil || len(raw) != len(id) {
		return nil, &Problem{http.StatusBadRequest, "session: want 32 hexadecimal digits", "session"}
	}
	s := v.store.Session(jvmthread.SessionID(raw))
	if s == nil {
		return nil, &Problem{http.StatusNotFound, "session: there is no such session (any more)", "session"}
	}
	return s.Snapshot(), nil
}

// ask answers a query about a session.
func (v *View) ask(w http.ResponseWriter, r *http.Request, a answer) {
	sn, p := v.snapshot(r)
	if p != nil {
		v.fail(w, p)
		return
	}
	if unchanged(w, r, v.versionTag(sn)) {
		return
	}
	gates := []chan struct{}{v.busy}
	if a.heavy {
		gates = []chan struct{}{v.heavy, v.busy}
	}
	done, p := v.enter(r.Context(), gates...)
	if p != nil {
		v.fail(w, p)
		return
	}
	body, p, err := func() ([]byte, *Problem, error) {
		defer done()
		return v.compute(r, sn, a)
	}()
	if p != nil {
		v.fail(w, p)
		return
	}
	v.write(w, body, err)
}

// compute makes an answer that is not too long: with fewer rows, if need be.
func (v *View) compute(r *http.Request, sn *store.Snapshot, a answer) ([]byte, *Problem, error) {
	for most := 1 << 30; ; {
		q := newQuery(v, sn, r.URL.Query())
		q.most, q.ctx = most, r.Context()
		out, p := a.make(q)
		if p != nil {
			return nil, p, nil
		}
		body, err := json.Marshal(out)
		if err != nil || len(body) <= maxAnswer || q.page.limit <= 1 {
			return body, nil, err
		}
		most = q.page.limit / 2
	}
}

// patience is how long a request waits for others to be done.
const patience = 10 * time.Second

// enter waits until there is time for a request: for a place at each gate, in this order.
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
			return nil, problem(http.StatusServiceUnavailable, "too many requests of this kind are being answered; try again")
		}
	}
	return func() { leave(gates) }, nil
}

// versionTag is another one after each change of a session, and for a session that had to leave and came back: it begins later.
func (v *View) versionTag(sn *store.Snapshot) string {
	return fmt.Sprintf(`"%s-%x-%d"`, v.tag, uint64(sn.Origin), sn.Version)
}

func contentTag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// unchanged answers a request for what the browser has already.
func unchanged(w http.ResponseWriter, r *http.Request, tag string) bool {
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "no-cache")
	if r.Header.Get("If-None-Match") != tag {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

func (v *View) write(w http.ResponseWriter, body []byte, err error) {
	if err != nil {
		v.cfg.Log("an answer cannot be written", err)
		v.fail(w, problem(http.StatusInternalServerError, "the answer cannot be written as JSON"))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-cache")
	}
	if _, err := w.Write(body); err != nil {
		v.cfg.Log("an answer was not read to its end", err)
	}
}

func (v *View) fail(w http.ResponseWriter, p *Problem) {
	body, err := json.Marshal(api.Error{Error: p.Message, Parameter: p.Parameter})
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
	if _, err := w.Write(append(body, '\n')); err != nil && !errors.Is(err, http.ErrHandlerTimeout) {
		v.cfg.Log("an answer was not read to its end", err)
	}
}
