// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package stream answers: what do connected agents send? It listens for agents, speaks the stream protocol (protocol/README.md) with each
// of them, and delivers their batches.
//
// One goroutine serves a connection. It reads a batch, waits until the next component has accepted it, acknowledges it, and only then
// reads the next one. A slow pipeline thus slows down the agent, which drops events and reports their number; nothing queues up here.
package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/entrance"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
)

// Server listens for agents and serves their connections.
type Server struct {
	listener net.Listener
	tls      *tls.Config
	sessions *sessions

	wg sync.WaitGroup
}

func newServer(settings Settings) *Server {
	if settings.Entrance == nil {
		settings.Entrance = new(entrance.Board)
	}
	return &Server{sessions: newSessions(settings)}
}

// Listen opens the listener.
func Listen(ctx context.Context, settings Settings) (_ *Server, err error) {
	s := newServer(settings)
	defer func() {
		if err != nil {
			s.sessions.close()
		}
	}()
	cfg := settings.Config
	if cfg.TLS.HasValue() {
		if s.tls, err = cfg.TLS.Get().LoadTLSConfig(ctx); err != nil {
			return nil, fmt.Errorf("protocols::stream::tls: %w", err)
		}
	}
	if s.listener = cfg.Listener; s.listener == nil {
		if s.listener, err = open(ctx, &settings); err != nil {
			return nil, err
		}
	}
	settings.Out.Log.Info("Listening for agents", zap.Stringer("address", s.listener.Addr()))
	return s, nil
}

// open opens the listener at the endpoint.
func open(ctx context.Context, settings *Settings) (net.Listener, error) {
	cfg := settings.Config
	address, err := cfg.resolve()
	if err != nil {
		return nil, fmt.Errorf("protocols::stream::endpoint: %w", err)
	}
	mode, err := parseSocketMode(cfg.SocketMode)
	if err != nil {
		return nil, fmt.Errorf("protocols::stream::socket_mode: %w", err)
	}
	listener, err := listen(ctx, address, mode)
	if err != nil {
		return nil, fmt.Errorf("protocols::stream::endpoint: %w", err)
	}
	if isUnix(address) {
		if who := exposure(address.Endpoint); who != "" {
			settings.Out.Log.Warn("Other users can take the place of the socket", zap.Stringer("address", listener.Addr()), zap.String("problem", who))
		}
	}
	return listener, nil
}

// Serve serves connections until ctx ends, and returns when all of them are closed. Sessions do not end with it: their JVMs live on, and
// their agents continue with the next receiver after the last acknowledged batch.
func (s *Server) Serve(ctx context.Context) {
	s.sessions.ctx = ctx
	err := s.sessions.Out.Telemetry.RegisterReceiverJvmThreadHeldCallback(func(_ context.Context, observer metric.Int64Observer) error {
		observer.Observe(s.sessions.held())
		return nil
	})
	if err != nil {
		s.sessions.Out.Log.Warn("The metric receiver_jvm_thread_held is missing", zap.Error(err))
	}
	defer s.sessions.Entrance.Open(s.describe())()
	stop := context.AfterFunc(ctx, func() { _ = s.listener.Close() }) // nothing is buffered
	defer stop()
	s.accept(ctx)
	s.wg.Wait()
	s.sessions.wg.Wait()
	s.sessions.close()
}

// accept serves each connection until the listener is closed.
func (s *Server) accept(ctx context.Context) {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.sessions.Out.Log.Warn("Cannot accept a connection", zap.Error(err))
			if !outlet.Pause(ctx, time.Second) { // such as too many open files: retrying at once would spin
				return
			}
			continue
		}
		c := newConnection(ctx, conn, s.tls, s.sessions)
		if ctx.Err() != nil {
			c.close()
			continue
		}
		s.sessions.admission.wait(ctx)
		if evicted := s.sessions.admission.add(c, peerName(conn)); evicted != nil {
			evicted.cancel(errTooManyHalfOpen)
		}
		s.count(1)
		s.wg.Go(func() {
			defer s.count(-1)
			c.serve()
		})
	}
}

func (s *Server) count(n int64) {
	outlet.Count(s.sessions.Out.Telemetry.ReceiverJvmThreadConnections, n)
}
