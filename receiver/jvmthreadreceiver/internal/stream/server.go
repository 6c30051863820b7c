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
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
)

// Server listens for agents and serves their connections.
type Server struct {
	listener net.Listener
	tls      *tls.Config
	sessions *sessions

	open     atomic.Int64 // connections
	refusing atomic.Int32 // connections above the limit that are being refused
	wg       sync.WaitGroup
}

// maxRefusing limits the connections that receive a reason when there are too many; others are just closed.
const maxRefusing = 16

func newServer(settings Settings) *Server {
	return &Server{sessions: &sessions{Settings: settings, byID: make(map[jvmthread.SessionID]*session)}}
}

// Listen opens the listener.
func Listen(ctx context.Context, settings Settings) (*Server, error) {
	s := newServer(settings)
	cfg := settings.Config
	address, err := cfg.resolve()
	if err != nil {
		return nil, fmt.Errorf("protocols::stream::endpoint: %w", err)
	}
	if cfg.TLS.HasValue() {
		if s.tls, err = cfg.TLS.Get().LoadTLSConfig(ctx); err != nil {
			return nil, fmt.Errorf("protocols::stream::tls: %w", err)
		}
	}
	mode, err := parseSocketMode(cfg.SocketMode)
	if err != nil {
		return nil, fmt.Errorf("protocols::stream::socket_mode: %w", err)
	}
	if s.listener, err = listen(ctx, address, mode); err != nil {
		return nil, fmt.Errorf("protocols::stream::endpoint: %w", err)
	}
	log := settings.Out.Log.With(zap.Stringer("address", s.listener.Addr()))
	log.Info("Listening for agents")
	if isUnix(address) {
		if who := exposure(address.Endpoint); who != "" {
			log.Warn("Other users can take the place of the socket", zap.String("problem", who))
		}
	}
	return s, nil
}

// Serve serves connections until ctx ends, and returns when all of them are closed. Sessions do not end with it: their JVMs live on, and
// their agents continue with the next receiver after the last acknowledged batch.
func (s *Server) Serve(ctx context.Context) {
	s.sessions.ctx = ctx
	stop := context.AfterFunc(ctx, func() { _ = s.listener.Close() }) // nothing is buffered
	defer stop()
	s.accept(ctx)
	s.wg.Wait()
	s.sessions.wg.Wait()
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
		if ctx.Err() != nil || s.open.Load() >= int64(s.sessions.Config.MaxConnections) {
			s.reject(c)
			continue
		}
		s.count(1)
		s.wg.Go(func() {
			defer s.count(-1)
			c.serve()
		})
	}
}

func (s *Server) count(n int64) {
	s.open.Add(n)
	outlet.Count(s.sessions.Out.Telemetry.ReceiverJvmThreadConnections, n)
}

// reject closes a connection above the limit. It sends a reason to the first few of a crowd only, and not over TLS, which would take a
// handshake.
func (s *Server) reject(c *connection) {
	if c.isStopped() {
		c.close()
		return
	}
	outlet.Count(s.sessions.Out.Telemetry.ReceiverJvmThreadConnectionsRefused, 1)
	if s.tls != nil || s.refusing.Load() >= maxRefusing {
		c.close()
		return
	}
	s.refusing.Add(1)
	s.wg.Go(func() {
		defer s.refusing.Add(-1)
		defer c.close()
		c.part("", &refusal{
			wire.RefuseLimit, fmt.Sprintf("limit of %d connections (protocols::stream::max_connections) reached", s.sessions.Config.MaxConnections),
		})
	})
}
