// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"go.opentelemetry.io/collector/client"

	"github.com/weft-otel/weft/internal/wire"
)

const (
	writeTimeout = 10 * time.Second       // an agent that does not read for this long is considered broken
	partingTime  = 200 * time.Millisecond // to send a refusal when the connection ends
)

// errSuperseded is the cause with which a connection ends when another one takes over its session.
var errSuperseded = errors.New("another connection took over the session")

// refusal is a reason to close a connection that is not the agent's fault.
type refusal struct {
	code    wire.RefuseCode
	message string
}

func (r *refusal) Error() string { return r.message }

// handshakeError is why there is no TLS connection.
type handshakeError struct{ error }

func (h *handshakeError) Error() string { return "TLS handshake: " + h.error.Error() }

func (h *handshakeError) Unwrap() error { return h.error }

// isGone reports whether the other side just closed, as port probes do.
func isGone(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) }

// link is a network connection whose reads and writes are interrupted when its context ends.
type link struct {
	conn   net.Conn
	remote string
	ctx    context.Context //nolint:containedctx // its end ends the connection
	cancel context.CancelCauseFunc
	detach func() bool // from the context

	testTimeout time.Duration // see Settings

	deadlines sync.Mutex // once the context has ended, a read deadline must not be extended
	sends     sync.Mutex // held while a frame is written
}

func newLink(ctx context.Context, conn net.Conn, tlsConfig *tls.Config) *link {
	remote := conn.RemoteAddr().String()
	if remote == "" || remote == "@" {
		remote = conn.LocalAddr().String() // the peer of a Unix socket is unnamed
	}
	ctx = client.NewContext(ctx, client.Info{Addr: conn.RemoteAddr()})
	if tlsConfig != nil {
		conn = tls.Server(conn, tlsConfig)
	}
	l := &link{conn: conn, remote: remote}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	l.detach = context.AfterFunc(l.ctx, l.interrupt)
	return l
}

// interrupt wakes the connection's goroutine from a read, and soon from a write.
func (l *link) interrupt() {
	l.deadlines.Lock()
	defer l.deadlines.Unlock()
	_ = l.conn.SetReadDeadline(time.Unix(1, 0)) // fails only if the connection is closed
	_ = l.conn.SetWriteDeadline(time.Now().Add(partingTime))
}

// either returns the first one unless that is 0.
func either(a, b time.Duration) time.Duration {
	if a != 0 {
		return a
	}
	return b
}

func (l *link) isStopped() bool { return l.ctx.Err() != nil }

func (l *link) setReadDeadline(t time.Time) {
	l.deadlines.Lock()
	defer l.deadlines.Unlock()
	if !l.isStopped() {
		_ = l.conn.SetReadDeadline(t) // fails only if the connection is closed
	}
}

// write sends a frame. If that fails it closes the connection, since an agent would take what follows a partial frame for its rest. It is
// safe for concurrent use.
func (l *link) write(frame []byte) error {
	l.sends.Lock()
	defer l.sends.Unlock()
	l.deadlines.Lock()
	timeout := either(l.testTimeout, writeTimeout)
	if l.isStopped() {
		timeout = partingTime
	}
	_ = l.conn.SetWriteDeadline(time.Now().Add(timeout)) // fails only if the connection is closed
	l.deadlines.Unlock()
	_, err := l.conn.Write(frame)
	if err != nil {
		_ = l.conn.Close() // nothing is buffered
	}
	return err
}

func (l *link) refuse(code wire.RefuseCode, message string) {
	_ = l.write(wire.AppendRefuse(nil, wire.Refuse{Code: code, Message: message})) // the agent may be gone
}

// drain discards what the agent still sends: closing with unread data could destroy a refusal in transit.
func (l *link) drain() {
	l.setReadDeadline(time.Now().Add(partingTime))
	if half, ok := l.conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // the connection is closed anyway
	}
	const enough = 1 << 20
	_, _ = io.CopyN(io.Discard, l.conn, enough)
}

// close closes the connection, without a TLS close notification if it was interrupted.
func (l *link) close() {
	conn := l.conn
	if secure, ok := conn.(*tls.Conn); ok && l.isStopped() {
		conn = secure.NetConn()
	}
	l.detach()
	l.cancel(nil)
	_ = conn.Close() // nothing is buffered
}
