// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/metadata"
)

// threadReceiver listens, and keeps track of connections and sessions.
type threadReceiver struct {
	cfg           Stream
	agentOptions  map[string]string
	remoteControl *component.ID // the extension through which agents are controlled; nil: they are not
	agents        agentcontrolextension.Registry
	log           *zap.Logger
	out           *outlet
	telemetry     *metadata.TelemetryBuilder
	sessions      *sessions

	ctx    context.Context //nolint:containedctx // that of Start ends with Start
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu          sync.Mutex
	listener    net.Listener
	tls         *tls.Config
	connections map[*connection]struct{}

	files    *files // nil: none are read
	noStream bool

	partings atomic.Int32 // connections that are being told that there is no room
}

const maxPartings = 16

func newThreadReceiver(set receiver.Settings, config *Config, next consumer.Traces) (*threadReceiver, error) {
	cfg := config.Protocols.Stream
	address, err := parseEndpoint(cfg.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("protocols::stream::endpoint: %w", err)
	}
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	report, err := receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{
		ReceiverID: set.ID, Transport: string(address.Transport), LongLivedCtx: true, ReceiverCreateSettings: set,
	})
	if err != nil {
		return nil, err
	}
	r := &threadReceiver{
		cfg: cfg, agentOptions: config.AgentOptions, log: set.Logger, telemetry: telemetry,
		out:         &outlet{next: next, report: report, telemetry: telemetry, log: set.Logger},
		connections: make(map[*connection]struct{}),
	}
	r.sessions = &sessions{receiver: r, byID: make(map[jvmthread.SessionID]*session)}
	if config.Protocols.File.HasValue() {
		r.files = newFiles(r, set.ID, config.Protocols.File.Get())
	}
	r.noStream = config.noStream
	if config.RemoteControl {
		r.remoteControl = &config.AgentControl
	}
	return r, nil
}

// Start opens the listener, and begins to read files.
func (r *threadReceiver) Start(ctx context.Context, host component.Host) error {
	if r.remoteControl != nil {
		var err error
		if r.agents, err = agentcontrolextension.Find(host, *r.remoteControl); err != nil {
			return fmt.Errorf("remote_control: %w", err)
		}
	}
	if r.files != nil {
		if err := r.files.openStorage(ctx, host); err != nil {
			return err
		}
	}
	var listener net.Listener
	if !r.noStream {
		var err error
		if listener, err = r.listen(ctx); err != nil {
			return errors.Join(err, r.files.closeStorage(ctx))
		}
	}
	r.serve(ctx, listener)
	if r.files != nil {
		r.wg.Go(func() { r.files.run(r.ctx) })
	}
	return nil
}

func (r *threadReceiver) listen(ctx context.Context) (net.Listener, error) {
	address, err := parseEndpoint(r.cfg.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("protocols::stream::endpoint: %w", err)
	}
	if r.cfg.TLS.HasValue() {
		if r.tls, err = r.cfg.TLS.Get().LoadTLSConfig(ctx); err != nil {
			return nil, fmt.Errorf("protocols::stream::tls: %w", err)
		}
	}
	mode, err := parseSocketMode(r.cfg.SocketMode)
	if err != nil {
		return nil, fmt.Errorf("protocols::stream::socket_mode: %w", err)
	}
	listener, err := listen(ctx, address, mode)
	if err != nil {
		return nil, fmt.Errorf("protocols::stream::endpoint: %w", err)
	}
	r.log.Info("Listening for agents", zap.Stringer("address", listener.Addr()))
	return listener, nil
}

func (r *threadReceiver) serve(ctx context.Context, listener net.Listener) {
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.listener = listener
	if listener != nil {
		r.wg.Go(func() { r.accept(listener) })
	}
}

// Shutdown closes the listener, all connections and files. Sessions are not ended: their JVMs live on, and their agents will look for the next
// receiver and go on where the last acknowledgement was.
func (r *threadReceiver) Shutdown(ctx context.Context) error {
	r.mu.Lock()
	listener := r.listener
	r.listener = nil
	cancel := r.cancel
	r.cancel = nil
	r.mu.Unlock()
	if cancel == nil {
		return nil // never started, or shut down before
	}
	cancel()
	var err error
	if listener != nil {
		err = listener.Close()
	}
	r.mu.Lock()
	for c := range r.connections {
		c.stop()
	}
	r.mu.Unlock()

	done := make(chan struct{})
	go func() {
		r.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		err = errors.Join(err, fmt.Errorf("the next component still holds a batch: %w", ctx.Err()))
	}
	err = errors.Join(err, r.files.closeStorage(ctx))
	r.telemetry.Shutdown()
	return err
}

// accept serves each connection until the listener is closed.
func (r *threadReceiver) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			r.log.Warn("Cannot accept a connection", zap.Error(err))
			if !pause(r.ctx, time.Second) { // such as too many open files: to try at once would only burn time
				return
			}
			continue
		}
		c := newConnection(r, conn)
		if !r.add(c) {
			r.turnAway(c)
			continue
		}
		r.wg.Go(func() {
			defer r.remove(c)
			c.serve()
		})
	}
}

func (r *threadReceiver) add(c *connection) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listener == nil || len(r.connections) >= r.cfg.MaxConnections {
		return false
	}
	r.connections[c] = struct{}{}
	count(r.telemetry.ReceiverJvmThreadConnections, 1)
	return true
}

func (r *threadReceiver) remove(c *connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.connections, c)
	count(r.telemetry.ReceiverJvmThreadConnections, -1)
}

// turnAway closes a connection for which there is no room. It says so to the first few of a crowd only, and not over TLS: that would take
// a handshake.
func (r *threadReceiver) turnAway(c *connection) {
	if r.ctx.Err() != nil {
		c.close()
		return
	}
	count(r.telemetry.ReceiverJvmThreadConnectionsRefused, 1)
	if r.tls != nil || r.partings.Load() >= maxPartings {
		c.close()
		return
	}
	r.partings.Add(1)
	r.wg.Go(func() {
		defer r.partings.Add(-1)
		defer c.close()
		c.part("", &refusal{wire.RefuseLimit, fmt.Sprintf("%d connections are open, which is protocols::stream::max_connections", r.cfg.MaxConnections)})
	})
}

// pause waits, and reports false if the context ended before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
