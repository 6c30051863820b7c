// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/internal/wire/definitions"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
)

// connection serves one agent. It belongs to one goroutine, except for controls and supersede.
type connection struct {
	*link

	sessions   *sessions
	reader     *wire.Reader
	controls   *controls
	out        []byte       // buffer for frames to the agent
	greeted    bool         // its hello is complete
	late       string       // what is wrong if the deadline before that has passed
	frameSince atomic.Int64 // when the frame began that is being received, in ns; 0: none, or it is small
	flying     int          // bytes of the batch on its way to the next component
	service    string       // of its hello
	pid        uint32       // of its hello

	// Set by admission.
	peer        *peer
	came        time.Time
	open        bool // it counts as such; guarded by admission.mu
	evicted     bool // it has to make room for another one; guarded by admission.mu
	definitions *budget.Budget
	buffers     *budget.Budget
}

func newConnection(ctx context.Context, conn net.Conn, tlsConfig *tls.Config, all *sessions) *connection {
	l := newLink(ctx, conn, tlsConfig)
	l.testTimeout = all.testTimeout
	c := &connection{link: l, sessions: all, reader: wire.NewReader(l.conn, min(maxHello, all.Config.MaxFrameSize)), controls: newControls(l.write)}
	c.reader.SetSource(c)
	return c
}

// serve communicates with the agent until the connection or the session ends.
func (c *connection) serve() {
	defer c.sessions.admission.remove(c)
	defer c.arrive()
	defer c.reader.Release()
	defer c.close()
	var s *session
	err := contain(func() (err error) {
		s, err = c.greet()
		return err
	})
	if err != nil {
		c.part("", err)
		return
	}
	err = contain(func() error { return c.converse(s) })
	c.sessions.noteFailure(s, err)
	c.sessions.release(s, c)
	c.part(s.ID.String(), err)
}

// greet reads preamble and hello, and claims the session.
func (c *connection) greet() (*session, error) {
	began, limit := time.Now(), c.sessions.Config.HelloTimeout
	c.expect("hello", began, limit)
	if secure, ok := c.conn.(*tls.Conn); ok {
		if err := secure.HandshakeContext(c.ctx); err != nil {
			return nil, &handshakeError{err}
		}
	}
	if now := time.Now(); now.Add(preambleTime).Before(began.Add(limit)) {
		c.expect("preamble", now, preambleTime)
	}
	version, err := c.reader.Preamble()
	if err != nil {
		return nil, err
	}
	c.expect("hello", began, limit)
	telemetry := c.sessions.Out.Telemetry
	if version != wire.Version {
		outlet.Count(telemetry.ReceiverJvmThreadConnectionsBad, 1)
		return nil, &refusal{wire.RefuseVersion, fmt.Sprintf("unsupported protocol version %d, want %d", version, wire.Version)}
	}
	frame, err := c.reader.Next()
	if errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if frame.Kind != wire.FrameHello {
		return nil, invalid(frame, "received before the hello")
	}
	var hello wire.Hello
	if err := frame.Hello(&hello); err != nil {
		return nil, err
	}
	c.introduce(&hello)
	if n := len(hello.Attributes); n > maxAttributes {
		return nil, invalid(frame, fmt.Sprintf("%d attributes, want at most %d", n, maxAttributes))
	}
	if err := c.admit(frame, hello.Headers); err != nil {
		return nil, err
	}
	c.greeted = true
	err = c.sessions.admission.admit(c, c.sessions.serves(hello.Session))
	if errors.Is(err, errTooManyHalfOpen) {
		return nil, err
	}
	var s *session
	if err == nil {
		s, err = c.sessions.claim(c, &hello)
	}
	if err != nil {
		outlet.Count(telemetry.ReceiverJvmThreadConnectionsRefused, 1)
		return nil, err
	}
	if err := c.write(wire.AppendWelcome(nil, s.Last)); err != nil {
		c.sessions.release(s, c)
		return nil, err
	}
	return s, nil
}

// converse handles frames until the connection or the session ends.
func (c *connection) converse(s *session) error {
	s.Definitions = definitions.NewWithin(symbols.New(symbols.DefaultLimits()), c.definitions)
	defer s.Definitions.Release()
	c.reader.SetLimit(c.sessions.Config.MaxFrameSize)
	defer c.controls.close()
	if err := c.controls.start(c.initialOptions(s)); err != nil {
		return err
	}
	defer c.register(s)()
	for {
		c.setReadDeadline(time.Now().Add(silence)) // per frame: the next component may take longer
		frame, err := c.reader.Next()
		c.frameSince.Store(0)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("agent was silent for %v, or slower than %d bytes a second: %w", silence, frameRate, err)
		}
		if err != nil {
			return err
		}
		switch frame.Kind { //exhaustive:enforce
		case wire.FrameThread, wire.FrameClass, wire.FrameMethod, wire.FrameStack:
			refused, err := s.Definitions.Define(frame)
			if err != nil {
				return err
			}
			if refused {
				outlet.Count(c.sessions.Out.Telemetry.ReceiverJvmThreadDefinitionsRefused, 1)
			}
		case wire.FrameClock:
			if err := s.setClock(frame); err != nil {
				return err
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
			return c.sessions.end(c.ctx, s, end)
		case wire.FrameStatus:
			var status wire.Status // not kept: it may be large
			if err := frame.Status(&status); err != nil {
				return err
			}
			if rejected := c.controls.answer(&status); rejected != "" {
				c.sessions.Out.Log.Warn("Agent rejected agent_options, or the snapshot for a late receiver",
					zap.Stringer("session", s.ID), zap.String("service", s.Service()), zap.String("error", rejected))
			}
		case wire.FrameIndex, wire.FrameStackText: // only useful in files and carriers
		case wire.FrameHello:
			return invalid(frame, "received twice")
		case wire.FrameWelcome, wire.FrameAck, wire.FrameRefuse, wire.FrameControl:
			return invalid(frame, "only receivers may send it")
		}
	}
}

// initialOptions returns the configured options, and requests a snapshot if the agent has already sent its threads' states elsewhere.
func (c *connection) initialOptions(s *session) map[string]string {
	options := make(map[string]string)
	maps.Copy(options, c.sessions.AgentOptions)
	if s.late {
		s.late = false
		options["snapshot"] = "now"
	}
	return options
}

// register makes the agent available for remote control until the returned function is called.
func (c *connection) register(s *session) (unregister func()) {
	if c.sessions.Agents != nil {
		unregister, err := c.sessions.Agents.Register(s.ID, c.controls)
		if err == nil {
			return unregister
		}
		c.sessions.Out.Log.Warn("Agent cannot be controlled", zap.Stringer("session", s.ID), zap.Error(err))
	}
	return func() {}
}

// part reports why the connection ends, in the log and to the agent where that helps.
func (c *connection) part(session string, why error) {
	cfg, telemetry := c.sessions.Config, c.sessions.Out.Telemetry
	log := c.sessions.Out.Log.With(zap.String("remote", c.remote), zap.String("session", session))
	var bad *wire.Error
	var refused *refusal
	var denied *denial
	var plain tls.RecordHeaderError
	var handshake *handshakeError
	var failed *defect
	switch {
	case why == nil:
		log.Debug("Connection closed at the end of its session")
	case errors.As(why, &failed):
		outlet.Count(telemetry.ReceiverJvmThreadConnectionsBad, 1)
		log.Error("A defect in Weft ended a connection; please report it with this line", zap.String("service", c.service), zap.Uint32("pid", c.pid),
			zap.Int64("bytes", c.reader.Offset()), zap.String("panic", failed.Value), zap.Strings("stack", failed.Stack))
		c.turnedAway(defective, remedyDefect)
		c.refuse(wire.RefuseBadFrame, defective)
		c.drain()
	case c.isStopped() && errors.Is(context.Cause(c.ctx), errSuperseded):
		log.Info("Another connection took over the session")
	case errors.Is(why, errTooManyHalfOpen), c.isStopped() && errors.Is(context.Cause(c.ctx), errTooManyHalfOpen):
		outlet.Count(telemetry.ReceiverJvmThreadConnectionsBad, 1)
		log.Warn("Closed a connection: too many have not sent their hello", zap.Int("max_half_open", cfg.MaxHalfOpen), zap.String("peer", c.peer.name))
		c.turnedAway(errTooManyHalfOpen.Error(), remedyTooManyHalfOpen)
	case c.isStopped() && errors.Is(context.Cause(c.ctx), errSlowFrame):
		log.Warn("Closed a connection", zap.Error(errSlowFrame), zap.String("peer", c.peer.name))
	case c.isStopped():
		c.refuse(wire.RefuseShutdown, "the receiver is shutting down")
	case errors.As(why, &bad):
		outlet.Count(telemetry.ReceiverJvmThreadConnectionsBad, 1)
		log.Warn("Closed a connection that violates the stream protocol", zap.Error(why), zap.Int64("bytes", c.reader.Offset()))
		c.turnedAway(why.Error(), remedyOf(wire.RefuseBadFrame))
		c.refuse(wire.RefuseBadFrame, why.Error())
		c.drain()
	case errors.As(why, &refused):
		log.Warn("Refused a connection", zap.String("reason", refused.message))
		c.turnedAway(refused.message, refused.remedy())
		c.refuse(refused.code, refused.message)
		c.drain()
	case errors.As(why, &denied):
		outlet.Count(telemetry.ReceiverJvmThreadConnectionsRefused, 1)
		log.Warn("Refused an agent that protocols::stream::auth does not accept", zap.String("reason", denied.why))
		c.turnedAway(denied.Error(), remedyCredentials)
		c.refuse(wire.RefuseUnauthorized, denied.Error())
		c.drain()
	case session == "" && errors.Is(why, os.ErrDeadlineExceeded):
		outlet.Count(telemetry.ReceiverJvmThreadConnectionsBad, 1)
		log.Warn("Closed a connection: its hello did not arrive in time", zap.String("reason", c.late), zap.Int64("bytes", c.reader.Offset()))
		c.turnedAway(c.late, remedyOf(wire.RefuseBadFrame))
		c.refuse(wire.RefuseBadFrame, c.late)
	case errors.As(why, &plain):
		outlet.Count(telemetry.ReceiverJvmThreadConnectionsBad, 1)
		log.Warn("Closed a connection without TLS, which protocols::stream::tls requires", zap.Error(why))
		c.turnedAway("connected without TLS, which this receiver requires", remedyPlain)
	case errors.As(why, &handshake) && !isGone(why):
		outlet.Count(telemetry.ReceiverJvmThreadConnectionsBad, 1)
		log.Warn("Closed a connection whose TLS handshake failed", zap.Error(why))
		c.turnedAway(why.Error(), remedyHandshake)
	case session == "":
		log.Debug("Connection closed before its hello", zap.Error(why)) // such as a port probe
	default:
		log.Info("Connection lost; the session may reconnect", zap.Error(why), zap.Duration("session_linger", cfg.SessionLinger))
	}
}

// expect limits the time of the next part of the greeting.
func (c *connection) expect(part string, from time.Time, limit time.Duration) {
	c.late = fmt.Sprintf("no %s within %v", part, limit)
	c.setReadDeadline(from.Add(limit))
}
