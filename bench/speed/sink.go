// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"net"
	"os"
	"sync/atomic"

	"github.com/weft-otel/weft/internal/wire"
)

// sink accepts agents and acknowledges everything that they send, in this process, so that the JVM's CPU time is the agent's alone.
type sink struct {
	listener net.Listener
	batches  atomic.Uint64 // that are not empty
}

func newSink(socket string) (*sink, error) {
	_ = os.Remove(socket)                       // a previous one, if any
	listener, err := net.Listen("unix", socket) //nolint:noctx // returns at once
	if err != nil {
		return nil, err
	}
	s := &sink{listener: listener}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed
			}
			go s.serve(conn)
		}
	}()
	return s, nil
}

func (s *sink) serve(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // the agent notices
	r := wire.NewReader(conn, wire.MaxFrame)
	if _, err := r.Preamble(); err != nil {
		return
	}
	for {
		frame, err := r.Next()
		if err != nil {
			return
		}
		var answer []byte
		switch frame.Kind {
		case wire.FrameHello:
			answer = wire.AppendWelcome(nil, 0)
		case wire.FrameBatch, wire.FrameAggregate: // both begin with the header of a batch
			if len(frame.Payload) < wire.BatchHeaderSize {
				return
			}
			answer = wire.AppendAck(nil, binary.LittleEndian.Uint64(frame.Payload))
			if len(frame.Payload) > wire.BatchHeaderSize {
				s.batches.Add(1)
			}
		default:
			continue
		}
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}
