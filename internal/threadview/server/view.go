// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package server answers: what does the page show? It computes the answers of package viewapi from the sessions in a store, and serves them and
// the page over HTTP. The level of detail is decided here, so that a browser never receives more than it can show.
package server

import (
	"cmp"
	"crypto/rand"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/entrance"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// Config configures a View.
type Config struct {
	Version string
	// Prefix is the path of the page: "/" or "/weft/".
	Prefix string
	// Page is the files of the page; nil: only the API is served.
	Page fs.FS
	// TraceURL is a template of links to spans in another tool, with {trace_id} and {span_id}; empty: no links.
	TraceURL string
	// TraceWindow is the window of thread_span, each of which is a trace; 0: there is no thread_span.
	TraceWindow time.Duration
	// Notice returns why there are no sessions, or ""; may be nil.
	Notice func() string
	// Entrance has where agents connect and who was refused; nil: both lists are empty.
	Entrance *entrance.Board
	// Hosts are names of the server, in addition to addresses and localhost.
	Hosts []string
	// Agents are the agents that the page can pause, resume and reconfigure; nil disables that.
	Agents Agents
	// PathIntervals bounds the intervals of a critical path, at PerPathInterval bytes each; 0: 2 million.
	PathIntervals int
	// Memory is what critical paths and flame graphs take memory from; nil: they have no other limit.
	Memory *budget.Budget
	// Assistant answers requests to mcp with what the API at a path says; nil: nothing does.
	Assistant func(api http.Handler, path string) http.Handler
	// NoRollups adds up intervals one by one, for tests.
	NoRollups bool
	// Log logs requests that fail; nil: they are not logged.
	Log func(message string, err error)
}

// View answers requests about the sessions of a store. It may be used concurrently.
type View struct {
	store *store.Store
	cfg   Config
	tag   string        // of this View, for ETags
	busy  chan struct{} // requests in progress
	heavy chan struct{} // those of them that search for paths or all locks, or divide waits among holders
	files chan struct{} // downloads, which last as long as the client takes and must not block other requests
	stop  chan struct{}

	stopping sync.Once
	flights  flights
	streams  atomic.Int32 // of events
	controls sync.Map     // the last answer of each agent: *viewapi.Control by jvmthread.SessionID
}

// New returns a View of a store.
func New(store *store.Store, cfg Config) *View {
	cfg.Prefix = cmp.Or(cfg.Prefix, "/")
	cfg.PathIntervals = cmp.Or(cfg.PathIntervals, 2_000_000)
	if cfg.Log == nil {
		cfg.Log = func(string, error) {}
	}
	return &View{
		store: store, cfg: cfg, tag: rand.Text()[:8], busy: make(chan struct{}, 2*runtime.GOMAXPROCS(0)), heavy: make(chan struct{}, 1),
		files: make(chan struct{}, 2), stop: make(chan struct{}), flights: flights{log: cfg.Log},
	}
}

// Close ends the requests that wait for changes.
func (v *View) Close() { v.stopping.Do(func() { close(v.stop) }) }

// answer computes the answer to a query.
type answer struct {
	make  func(*query) (any, *Problem)
	heavy string // the parameter that must be true for an expensive search; "*": it is always expensive
	rows  string // the field with the rows, if it is a table that can be downloaded
}

// isHeavy reports whether an answer takes much memory.
func (a *answer) isHeavy(values url.Values) bool {
	return a.heavy == always || a.heavy != "" && values.Get(a.heavy) == "true"
}

const always = "*"

func answers() map[string]answer {
	return map[string]answer{
		"threads":      {make: (*query).threads, rows: "Threads"},
		"lanes":        {make: (*query).lanes},
		"minimap":      {make: (*query).minimap},
		"interactions": {make: (*query).arrows},
		"interval":     {make: (*query).interval},
		"span":         {make: (*query).spanPlaces, heavy: always},
		"stack":        {make: (*query).stack},
		"answer":       {make: (*query).answer},
		"causes":       {make: (*query).causes, heavy: always},
		"incidents":    {make: (*query).incidents},
		"classes":      {make: (*query).classes, heavy: "savings", rows: "Classes"},
		"callers":      {make: (*query).callers, rows: "Callers"},
		"compare":      {make: (*query).compare, heavy: always, rows: "Changes"},
		"holders":      {make: (*query).holderTable, heavy: always, rows: "Holders"},
		"kinds":        {make: (*query).waitKinds, rows: "Kinds"},
		"flame":        {make: (*query).flame, heavy: always},
		"path":         {make: (*query).path, heavy: always, rows: "Segments"},
		"locks":        {make: (*query).locks, heavy: always, rows: "Locks"},
		"locklanes":    {make: (*query).lockLanes, heavy: always},
		"log":          {make: (*query).log, rows: "Lines"},
		"requests":     {make: (*query).requests, heavy: always, rows: "Requests"},
		"search":       {make: (*query).search},
		"virtual":      {make: (*query).virtual},
		"pools":        {make: (*query).pools},
		"waiting":      {make: (*query).waiting},
		"why":          {make: (*query).why, heavy: always},
	}
}

// Endpoints are the names of the answers about a session.
func Endpoints() []string { return slices.Sorted(maps.Keys(answers())) }

// Handler serves the page and its API.
func (v *View) Handler() http.Handler {
	mux := http.NewServeMux()
	root := v.cfg.Prefix + "api/"
	session := root + "sessions/{session}"
	handle := func(pattern string, h handler) {
		h = v.contained(h)
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if p := h(w, r); p != nil {
				v.fail(w, p)
			}
		})
	}
	handle("GET "+root+"info", v.global(func(*params) any { return v.info() }))
	handle("GET "+root+"sessions", v.global(v.sessions))
	handle("GET "+root+"changes", v.changes)
	handle("GET "+root+"events", v.events)
	handle("GET "+session, v.ofSession(v.session))
	handle("GET "+session+"/export", v.ofSession(v.export))
	handle("GET "+session+"/download", v.ofSession(v.download))
	if v.cfg.Agents != nil {
		handle("GET "+session+"/control", v.ofSession(v.control))
		handle("POST "+session+"/control", v.ofSession(v.control))
	}
	all := answers()
	handle("GET "+session+"/{what}", func(w http.ResponseWriter, r *http.Request) *Problem {
		a, ok := all[r.PathValue("what")]
		if !ok {
			return problem(http.StatusNotFound, "unknown endpoint %s; docs/page-api.md lists the endpoints", shorten(r.PathValue("what")))
		}
		return v.answer(w, r, a)
	})
	handle(root, func(w http.ResponseWriter, r *http.Request) *Problem {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			return problem(http.StatusMethodNotAllowed, "method not allowed: use GET")
		}
		return problem(http.StatusNotFound, "unknown endpoint; docs/page-api.md lists the endpoints")
	})
	if v.cfg.Assistant != nil {
		mux.Handle(v.cfg.Prefix+"mcp", v.cfg.Assistant(mux, v.cfg.Prefix))
	}
	if v.cfg.Page != nil {
		mux.Handle(v.cfg.Prefix, http.StripPrefix(strings.TrimSuffix(v.cfg.Prefix, "/"), files(v.cfg.Page)))
	}
	return v.guard(mux)
}

func (v *View) info() viewapi.Info {
	s := v.store.Stats()
	doors, refused := v.entrance()
	return viewapi.Info{
		Version: v.cfg.Version, States: stateNames(), Interactions: kindNames(), Control: v.cfg.Agents != nil, TraceURL: v.cfg.TraceURL,
		MaxBytes: s.MaxBytes, Bytes: s.Bytes, Notice: v.notice(),
		Doors: doors, Refused: refused,
	}
}

// entrance returns where agents connect, and those that did not get in.
func (v *View) entrance() (doors []viewapi.Door, refused []viewapi.Refused) {
	doors, refused = []viewapi.Door{}, []viewapi.Refused{}
	if v.cfg.Entrance == nil {
		return doors, refused
	}
	for _, d := range v.cfg.Entrance.Doors() {
		doors = append(doors, viewapi.Door{Endpoint: d.Address, Auth: d.Auth})
	}
	for _, r := range v.cfg.Entrance.Refusals() {
		refused = append(refused, viewapi.Refused{
			At: r.At.UnixMilli(), Remote: r.Remote, Service: r.Service, PID: r.PID, Reason: r.Reason, Remedy: r.Remedy, Times: r.Times,
		})
	}
	return doors, refused
}

func (v *View) notice() string {
	if v.cfg.Notice == nil {
		return ""
	}
	return v.cfg.Notice()
}
