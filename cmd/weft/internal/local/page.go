// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.uber.org/zap"
	"golang.org/x/net/netutil"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/spanlines"
	"github.com/weft-otel/weft/internal/threadview"
	"github.com/weft-otel/weft/internal/threadview/fill"
	"github.com/weft-otel/weft/internal/threadview/server"
)

// PageOptions configure a Page.
type PageOptions struct {
	Version  string
	MaxBytes int64                          // of the history
	Window   time.Duration                  // delay of what is shown
	Agents   agentcontrolextension.Registry // that the page can control; nil: none
	Logger   *zap.Logger
	// Aggregate gets the sums of agents in aggregated mode, which the page does not show; nil: they are ignored.
	Aggregate func(*replay.Session, *jvmthread.Aggregate)
}

// Page shows the sessions whose carriers it consumes.
type Page struct {
	consumer.Traces

	view    *threadview.View
	options *PageOptions
	engine  engine.Config
	handler http.Handler
	filled  chan struct{} // closed by fill
	fill    func()
}

// NewPage returns a page without sessions.
func NewPage(o *PageOptions) (*Page, error) {
	view := threadview.New(o.MaxBytes)
	options := sessions.DefaultOptions()
	options.Window, options.CriticalPath.Mode = o.Window, sessions.PathOff // the page finds critical paths itself
	cfg := threadview.Config{Page: server.Config{Version: o.Version, Agents: o.Agents}, Window: o.Window, Metrics: sessions.Uncounted(), Logger: o.Logger}
	if err := view.Start(cfg, sessions.NewAnalyzer(options, o.Logger)); err != nil {
		return nil, err
	}
	next, err := consumer.NewTraces(view.Consume)
	if err != nil {
		return nil, err
	}
	handler, err := view.Handler()
	if err != nil {
		return nil, err
	}
	p := &Page{Traces: next, view: view, options: o, engine: options.Config().Engine, handler: handler, filled: make(chan struct{})}
	p.engine.Window = o.Window
	p.fill = sync.OnceFunc(func() { close(p.filled) })
	return p, nil
}

// Handler serves the page and its API.
func (p *Page) Handler() http.Handler { return p.handler }

// Sessions is the number of JVMs that the page shows.
func (p *Page) Sessions() int { return p.view.Stats().Sessions }

// Filled is closed when the page has something of a recording to show.
func (p *Page) Filled() <-chan struct{} { return p.filled }

// Read adds the sessions of a recording. The error lists the problems of the recording; the page shows what can be read of it.
func (p *Page) Read(ctx context.Context, source replay.Source) error {
	err := replay.Play(ctx, source, p.engine, &reader{page: p})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: %w", printable.Text(source.Name), err)
	}
	return ctx.Err()
}

// reader stores what a recording contains.
type reader struct {
	page    *Page
	of      *replay.Session
	session *fill.Session
}

// Session implements [replay.Sink].
func (r *reader) Session(s *replay.Session) {
	r.of, r.session = s, r.page.view.Record(s.ID, spanlines.Resource(&s.Session, s.Format), s.Engine.Engine, s.Symbols)
}

// Window implements [replay.Sink].
func (r *reader) Window(w *window.Window) {
	r.session.Window(w)
	r.page.fill()
}

// Aggregate implements [replay.Sink].
func (r *reader) Aggregate(sums *jvmthread.Aggregate) {
	if r.page.options.Aggregate != nil {
		r.page.options.Aggregate(r.of, sums)
	}
}

// Close implements [replay.Sink].
func (r *reader) Close(why window.Cut) { r.session.Close(why) }

// Close frees the history.
func (p *Page) Close(ctx context.Context) {
	p.view.End(ctx)
	p.view.Close()
}

// maxConnections bounds the connections to the page.
const maxConnections = 128

// Serve serves the page at an address until the context ends, and calls ready with its URL first. Only who knows the URL gets in: it contains a
// token of 130 bits.
func (p *Page) Serve(ctx context.Context, address string, ready func(url string)) error {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("cannot serve the page at %s, use another address: %w", address, err)
	}
	token := rand.Text()
	srv := &http.Server{Handler: server.Protected(p.handler, token), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second}
	ready("http://" + listener.Addr().String() + "/?token=" + token)
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() }) // a download may be cut off
	defer stop()
	if err := srv.Serve(netutil.LimitListener(listener, maxConnections)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the page: %w", err)
	}
	return nil
}
