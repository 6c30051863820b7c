// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/rand"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/extension/agentcontrolextension"
)

// Config says how a View answers.
type Config struct {
	Version string
	// Prefix is where the page is: "/" or "/weft/".
	Prefix string
	// Page is the files of the page; nil: there is none, only the API.
	Page fs.FS
	// TraceURL leads to a span of another tool: a template with {trace_id} and {span_id}; empty: there are no such links.
	TraceURL string
	// TraceWindow is the length of thread_span's windows, each of which is a trace; 0: there is no thread_span.
	TraceWindow time.Duration
	// Hosts are names under which the server may be spoken to, beside addresses and localhost.
	Hosts []string
	// Agents are the agents that the page can pause, resume and reconfigure; nil disables that.
	Agents agentcontrolextension.Registry
	// PathIntervals is how many intervals one path may look at, some 100 bytes each; 0: 2 million.
	PathIntervals int
	// NoRollups has all sums made of intervals one by one, for tests.
	NoRollups bool
	// Log is told of answers that cannot be made; nil: nobody is.
	Log func(message string, err error)
}

// View answers requests about the sessions of a store. Any number of goroutines may use it.
type View struct {
	store *store.Store
	cfg   Config
	tag   string        // of this View, for ETags
	busy  chan struct{} // requests that are worked on
	heavy chan struct{} // those of them that look for paths or at all locks
	files chan struct{} // downloads: how long they last is for the reader to say, so they keep nobody else waiting
	stop  chan struct{}

	streams atomic.Int32 // of events
	said    sync.Map     // what agents said last: *api.Control by jvmthread.SessionID
}

// New returns a View of a store.
func New(store *store.Store, cfg Config) *View {
	if cfg.Prefix == "" {
		cfg.Prefix = "/"
	}
	if cfg.PathIntervals == 0 {
		cfg.PathIntervals = 2_000_000
	}
	if cfg.Log == nil {
		cfg.Log = func(string, error) {}
	}
	return &View{
		store: store, cfg: cfg, tag: rand.Text()[:8], busy: make(chan struct{}, 2*runtime.GOMAXPROCS(0)), heavy: make(chan struct{}, 1),
		files: make(chan struct{}, 2), stop: make(chan struct{}),
	}
}

// Close ends the requests that wait for changes. It is called once.
func (v *View) Close() { close(v.stop) }

func (v *View) info() api.Info {
	s := v.store.Stats()
	return api.Info{
		Version: v.cfg.Version, States: stateNames(), Interactions: kindNames(), Control: v.cfg.Agents != nil, TraceURL: v.cfg.TraceURL,
		MaxBytes: s.MaxBytes, Bytes: s.Bytes,
	}
}
