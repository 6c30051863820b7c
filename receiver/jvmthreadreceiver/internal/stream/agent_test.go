// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/wiretext"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

var orders = jvmthread.SessionID{6, 0x4a, 0x44, 0x8c, 0xd3, 0x65, 0x7e, 0xe2, 0xd0, 5, 0xa6, 0x8b, 0xf0, 0x60, 0xde, 0xb8}

// running is a server that serves until it is stopped.
type running struct {
	*Server

	cancel context.CancelFunc
	done   chan struct{}
}

func serve(tb testing.TB, s *Server) *running {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Server: s, cancel: cancel, done: make(chan struct{})}
	go func() {
		s.Serve(ctx)
		close(r.done)
	}()
	return r
}

func (r *running) stop() {
	r.cancel()
	<-r.done
}

// start returns a server that listens on a Unix socket, unless change sets another endpoint.
func start(tb testing.TB, out *outlet.Outlet, change func(*Config)) *running {
	tb.Helper()
	return startWith(tb, Settings{Out: out}, change)
}

func startWith(tb testing.TB, settings Settings, change func(*Config)) *running {
	tb.Helper()
	cfg := DefaultConfig()
	cfg.Endpoint = "unix://" + filepath.Join(threadtest.SocketDir(tb), "s")
	if change != nil {
		change(&cfg)
	}
	require.NoError(tb, cfg.Check())
	settings.Config = &cfg
	s, err := Listen(tb.Context(), settings)
	require.NoError(tb, err)
	r := serve(tb, s)
	tb.Cleanup(r.stop)
	return r
}

// agent is the other end of a connection.
type agent struct {
	tb     testing.TB
	conn   net.Conn
	reader *wire.Reader
}

func dial(tb testing.TB, r *running) *agent {
	tb.Helper()
	address := r.listener.Addr()
	conn, err := (&net.Dialer{}).DialContext(tb.Context(), address.Network(), address.String())
	require.NoError(tb, err)
	require.NoError(tb, conn.SetDeadline(time.Now().Add(outlettest.Patience)))
	return newAgent(tb, conn)
}

func newAgent(tb testing.TB, conn net.Conn) *agent {
	tb.Helper()
	tb.Cleanup(func() { _ = conn.Close() })
	return &agent{tb: tb, conn: conn, reader: wire.NewReader(conn, wire.MaxControl)}
}

// send writes frames in text form.
func (a *agent) send(text string) {
	a.tb.Helper()
	stream, err := wiretext.AppendStream(nil, text)
	require.NoError(a.tb, err)
	_, err = a.conn.Write(stream)
	require.NoError(a.tb, err)
}

// hello opens a session that its secret proves.
const hello = `preamble version=1
hello session=064a448cd3657ee2d005a68bf060deb8 wall=1000000 monotonic=0 pid=42 secret=000102030405060708090a0b0c0d0e0f "service.name"="orders"
`

// bareHello opens the same session like an agent before session secrets.
var bareHello = strings.Replace(hello, "secret=000102030405060708090a0b0c0d0e0f ", "", 1)

// helloOf opens another session for each number.
func helloOf(n uint16) string {
	secret := wire.Secret{byte(n), byte(n >> 8), 1}
	id := secret.Session()
	for id[0] == 0 {
		secret[3]++
		id = secret.Session()
	}
	return strings.NewReplacer("064a448cd3657ee2d005a68bf060deb8", id.String(), "000102030405060708090a0b0c0d0e0f", hex.EncodeToString(secret[:])).Replace(hello)
}

// greet opens a session and returns the last batch that the receiver has.
func (a *agent) greet(text string) (acked uint64) {
	a.tb.Helper()
	a.send(text)
	acked, err := a.next(wire.FrameWelcome).Welcome()
	require.NoError(a.tb, err)
	return acked
}

func (a *agent) next(kind wire.FrameKind) wire.Frame {
	a.tb.Helper()
	frame, err := a.reader.Next()
	for err == nil && frame.Kind == wire.FrameControl && kind != wire.FrameControl {
		frame, err = a.reader.Next() // requests a snapshot from a late agent
	}
	require.NoError(a.tb, err)
	if frame.Kind == wire.FrameRefuse && kind != wire.FrameRefuse {
		refuse, _ := frame.Refuse()
		require.FailNow(a.tb, "refused: "+refuse.Message)
	}
	require.Equal(a.tb, kind, frame.Kind)
	return frame
}

func (a *agent) acked() uint64 {
	a.tb.Helper()
	sequence, err := a.next(wire.FrameAck).Ack()
	require.NoError(a.tb, err)
	return sequence
}

// refused waits for a refusal and the end of the connection.
func (a *agent) refused() wire.Refuse {
	a.tb.Helper()
	refuse, err := a.next(wire.FrameRefuse).Refuse()
	require.NoError(a.tb, err)
	a.closed()
	return refuse
}

func (a *agent) closed() {
	a.tb.Helper()
	_, err := a.reader.Next()
	if !isReset(err) {
		require.ErrorIs(a.tb, err, io.EOF)
	}
}

func isReset(err error) bool { return err != nil && strings.Contains(err.Error(), "reset by peer") }

// pipes is a listener without a network, for tests with a fake clock.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

// dial returns an agent with a buffer for frames from the receiver, which a pipe lacks.
func (p *pipes) dial(tb testing.TB) *agent {
	tb.Helper()
	here, there := net.Pipe()
	p.conns <- there
	buffer, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, here)
		_ = in.CloseWithError(errors.Join(io.EOF, err))
	}()
	tb.Cleanup(func() { _ = buffer.Close() })
	a := newAgent(tb, here)
	a.reader = wire.NewReader(buffer, wire.MaxControl)
	return a
}

// startWithPipes returns a server that needs no network.
func startWithPipes(tb testing.TB, next consumer.Traces) (*running, *pipes) {
	tb.Helper()
	return startWithPipesAnd(tb, Settings{Out: outlettest.New(tb, nil, next)}, nil)
}

func startWithPipesAnd(tb testing.TB, settings Settings, change func(*Config)) (*running, *pipes) {
	tb.Helper()
	cfg := DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	settings.Config = &cfg
	s := newServer(settings)
	p := newPipes()
	s.listener = p
	return serve(tb, s), p
}
