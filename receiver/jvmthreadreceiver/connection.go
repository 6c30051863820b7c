// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// connection serves one agent. All but stop and Control is called by its goroutine.
type connection struct {
	receiver *threadReceiver
	conn     net.Conn
	remote   string
	reader   *wire.Reader
	out      []byte // of a frame to the agent
	requests *requests

	ctx    context.Context //nolint:containedctx // ends when the connection shall
	cancel context.CancelFunc
	mu     sync.Mutex // of the deadlines: once the context has ended, nobody may give more time
	sends  sync.Mutex // held while a frame is written
}

const (
	silence      = 30 * time.Second       // an agent that says nothing for so long is away: it gives a sign of life each second
	writeTimeout = 10 * time.Second       // an agent that does not read for so long is broken
	partingTime  = 200 * time.Millisecond // for last words
)

func newConnection(r *threadReceiver, conn net.Conn) *connection {
	remote := conn.RemoteAddr().String()
	if remote == "" || remote == "@" {
		remote = conn.LocalAddr().String() // the other end of a Unix socket has no name
	}
	if r.tls != nil {
		conn = tls.Server(conn, r.tls)
	}
	c := &connection{receiver: r, conn: conn, remote: remote, reader: wire.NewReader(conn, r.cfg.MaxFrameSize), requests: newRequests()}
	c.ctx, c.cancel = context.WithCancel(client.NewContext(r.ctx, client.Info{Addr: conn.RemoteAddr()}))
	return c
}

// stop makes the connection's goroutine end: it wakes it from reading and writing. Safe from any goroutine.
func (c *connection) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel()
	_ = c.conn.SetDeadline(time.Unix(1, 0)) // fails only if it is closed
}

func (c *connection) isStopped() bool { return c.ctx.Err() != nil }

// serve talks with the agent until one of them has enough.
func (c *connection) serve() {
	defer c.close()
	s, err := c.greet()
	if err != nil {
		c.part("", err)
		return
	}
	err = c.converse(s)
	c.receiver.sessions.release(s, c)
	c.part(s.id.String(), err)
}

// greet reads preamble and hello, and takes hold of the session.
func (c *connection) greet() (*session, error) {
	c.setReadDeadline(time.Now().Add(c.receiver.cfg.HelloTimeout))
	if secure, ok := c.conn.(*tls.Conn); ok {
		if err := secure.HandshakeContext(c.ctx); err != nil {
			return nil, fmt.Errorf("TLS handshake: %w", err)
		}
	}
	version, err := c.reader.Preamble()
	if err != nil {
		return nil, err
	}
	if version != wire.Version {
		count(c.receiver.telemetry.ReceiverJvmThreadConnectionsBad, 1)
		return nil, &refusal{wire.RefuseVersion, fmt.Sprintf("version %d of the protocol is not spoken here, but version %d is", version, wire.Version)}
	}
	frame, err := c.reader.Next()
	if errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if frame.Kind != wire.FrameHello {
		return nil, wrong(frame, "comes before the hello")
	}
	var hello wire.Hello
	if err := frame.Hello(&hello); err != nil {
		return nil, err
	}
	s, err := c.receiver.sessions.claim(c, &hello)
	if err != nil {
		count(c.receiver.telemetry.ReceiverJvmThreadConnectionsRefused, 1)
		return nil, err
	}
	if err := c.write(wire.AppendWelcome(nil, s.last)); err != nil {
		c.receiver.sessions.release(s, c)
		return nil, err
	}
	return s, nil
}

// converse handles frames until the stream or the session ends.
func (c *connection) converse(s *session) error {
	s.definitions.Reset()
	defer c.requests.close()
	if err := c.askAtConnect(s); err != nil {
		return err
	}
	if agents := c.receiver.agents; agents != nil {
		unregister, err := agents.Register(s.id, c)
		if err != nil {
			c.receiver.log.Warn("Cannot control an agent", zap.Stringer("session", s.id), zap.Error(err))
		} else {
			defer unregister()
		}
	}
	var status wire.Status
	for {
		c.setReadDeadline(time.Now().Add(silence)) // not while the next component takes its time
		frame, err := c.reader.Next()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("the agent was silent for %v: %w", silence, err)
		}
		if err != nil {
			return err
		}
		switch frame.Kind { //exhaustive:enforce
		case wire.FrameThread, wire.FrameClass, wire.FrameMethod, wire.FrameStack:
			refused, err := s.definitions.Define(frame)
			if err != nil {
				return err
			}
			if refused {
				count(c.receiver.telemetry.ReceiverJvmThreadDefinitionsRefused, 1)
			}
		case wire.FrameBatch:
			if err := c.batch(s, frame); err != nil {
				return err
			}
		case wire.FrameAggregate:
			if err := c.aggregate(s, frame); err != nil {
				return err
			}
		case wire.FrameEnd:
			end, err := frame.End()
			if err != nil {
				return err
			}
			return c.receiver.sessions.end(c.ctx, s, end)
		case wire.FrameStatus:
			if err := frame.Status(&status); err != nil {
				return err
			}
			c.answered(s, &status)
		case wire.FrameIndex: // of no use here
		case wire.FrameHello:
			return wrong(frame, "comes twice")
		case wire.FrameWelcome, wire.FrameAck, wire.FrameRefuse, wire.FrameControl:
			return wrong(frame, "is for the receiver to send")
		}
	}
}

// batch hands a batch on and acknowledges it.
func (c *connection) batch(s *session, frame wire.Frame) error {
	batch, err := frame.Batch()
	if err != nil {
		return err
	}
	if batch.Sequence <= s.last {
		return c.acknowledgeAgain(batch.Sequence)
	}
	if err := s.take(frame, &batch); err != nil {
		return err
	}
	return c.passOn(s)
}

// aggregate hands sums on and acknowledges them, as a batch that they are.
func (c *connection) aggregate(s *session, frame wire.Frame) error {
	var aggregate wire.Aggregate
	skipped, err := frame.Aggregate(&aggregate)
	if err != nil {
		return err
	}
	if aggregate.Before > jvmthread.MaxEvents {
		return wrong(frame, fmt.Sprintf("%d events before it, want at most %d", aggregate.Before, jvmthread.MaxEvents))
	}
	if aggregate.Sequence <= s.last {
		return c.acknowledgeAgain(aggregate.Sequence)
	}
	s.takeAggregate(&aggregate)
	if skipped > 0 {
		count(c.receiver.telemetry.ReceiverJvmThreadSeriesUnknown, int64(skipped))
	}
	return c.passOn(s)
}

func (c *connection) acknowledgeAgain(sequence uint64) error {
	count(c.receiver.telemetry.ReceiverJvmThreadBatchesDuplicate, 1)
	return c.acknowledge(sequence)
}

// passOn hands the batch at hand on.
func (c *connection) passOn(s *session) error {
	if err := c.receiver.out.deliver(c.ctx, s); err != nil {
		return err
	}
	s.done()
	s.tellHeld(c.receiver, s.definitions.Held())
	return c.acknowledge(s.last)
}

func (c *connection) acknowledge(sequence uint64) error {
	c.out = wire.AppendAck(c.out[:0], sequence)
	return c.write(c.out)
}

func wrong(frame wire.Frame, what string) error {
	return &wire.Error{Frame: frame.Number, Byte: frame.Byte, What: frame.Kind.String() + ": " + what}
}

func (c *connection) setReadDeadline(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isStopped() {
		_ = c.conn.SetReadDeadline(t) // fails only if it is closed
	}
}

// write sends a frame, or closes the connection: what would follow a part of a frame would not be understood. When the connection is to stop,
// there is time for last words only. Safe from any goroutine.
func (c *connection) write(frame []byte) error {
	c.sends.Lock()
	defer c.sends.Unlock()
	c.mu.Lock()
	patience := writeTimeout
	if c.isStopped() {
		patience = partingTime
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(patience)) // fails only if it is closed
	c.mu.Unlock()
	_, err := c.conn.Write(frame)
	if err != nil {
		_ = c.conn.Close() // nothing is buffered
	}
	return err
}

func (c *connection) refuse(code wire.RefuseCode, message string) {
	_ = c.write(wire.AppendRefuse(nil, wire.Refuse{Code: code, Message: message})) // the peer may be gone
}

// close closes. A connection that was stopped is given no time for a farewell of TLS.
func (c *connection) close() {
	conn := c.conn
	if secure, ok := conn.(*tls.Conn); ok && c.isStopped() {
		conn = secure.NetConn()
	}
	c.cancel()
	_ = conn.Close() // nothing is buffered
}

// refusal is a reason to close a connection that is not the peer's fault.
type refusal struct {
	code    wire.RefuseCode
	message string
}

func (r *refusal) Error() string { return r.message }

// part says why the connection ends, to the agent and to the log, if there is something to say.
func (c *connection) part(session string, why error) {
	r := c.receiver
	log := r.log.With(zap.String("remote", c.remote), zap.String("session", session))
	var bad *wire.Error
	var refused *refusal
	var plain tls.RecordHeaderError
	switch {
	case why == nil:
		log.Debug("The session ended")
	case r.ctx.Err() != nil:
		c.refuse(wire.RefuseShutdown, "the receiver shuts down")
	case c.isStopped():
		log.Info("Another connection took the session over")
	case errors.As(why, &bad):
		count(r.telemetry.ReceiverJvmThreadConnectionsBad, 1)
		log.Warn("Closed a connection: what came is not the stream protocol", zap.Error(why), zap.Int64("bytes", c.reader.Offset()))
		c.refuse(wire.RefuseBadFrame, why.Error())
		c.drain()
	case errors.As(why, &refused):
		log.Warn("Refused a connection", zap.String("reason", refused.message))
		c.refuse(refused.code, refused.message)
		c.drain()
	case session == "" && errors.Is(why, os.ErrDeadlineExceeded):
		count(r.telemetry.ReceiverJvmThreadConnectionsBad, 1)
		log.Warn("Closed a connection: no hello came in time",
			zap.Duration("hello_timeout", r.cfg.HelloTimeout), zap.Int64("bytes", c.reader.Offset()))
		c.refuse(wire.RefuseBadFrame, fmt.Sprintf("no hello came within %v", r.cfg.HelloTimeout))
	case errors.As(why, &plain):
		count(r.telemetry.ReceiverJvmThreadConnectionsBad, 1)
		log.Warn("Closed a connection: the agent does not speak TLS, which protocols::stream::tls wants", zap.Error(why))
	case session == "":
		log.Debug("A connection went away before its hello", zap.Error(why)) // such as a probe of the port
	default:
		log.Info("A connection broke; the session may come back", zap.Error(why), zap.Duration("session_linger", r.cfg.SessionLinger))
	}
}

// drain reads what the peer still sends: to close over unread bytes could destroy the refusal on its way.
func (c *connection) drain() {
	c.setReadDeadline(time.Now().Add(partingTime))
	if half, ok := c.conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // closed below in any case
	}
	const enough = 1 << 20
	_, _ = io.CopyN(io.Discard, c.conn, enough) // whatever comes
}
