// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/metadata"
)

// patience is for what comes at once when nothing is wrong, on a machine that has much else to do.
const patience = 5 * time.Minute

var orders = jvmthread.SessionID{0xa1, 0xb2, 0xc3, 0xd4, 0xe5, 0xf6, 7, 0x18, 0x29, 0x3a, 0x4b, 0x5c, 0x6d, 0x7e, 0x8f, 0x90}

// sink keeps what the receiver hands on, and signals it. answer may be set to refuse.
type sink struct {
	got    chan ptrace.Traces
	answer func(context.Context, ptrace.Traces) error
}

func newSink() *sink { return &sink{got: make(chan ptrace.Traces, 1000)} }

func (s *sink) Capabilities() consumer.Capabilities { return consumer.Capabilities{MutatesData: true} }

func (s *sink) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	if s.answer != nil {
		if err := s.answer(ctx, traces); err != nil {
			return err
		}
	}
	s.got <- traces
	return nil
}

// next returns the next traces in words.
func (s *sink) next(t *testing.T) string {
	t.Helper()
	select {
	case traces := <-s.got:
		return tell(t, traces)
	case <-time.After(patience):
		require.FailNow(t, "nothing was handed on")
		return ""
	}
}

// tell says what carriers hold, one line a carrier or an event.
func tell(t *testing.T, traces ptrace.Traces) string {
	t.Helper()
	var b strings.Builder
	sym := symbols.New(symbols.DefaultLimits())
	require.Equal(t, 1, traces.ResourceSpans().Len())
	rs := traces.ResourceSpans().At(0)
	session, ok := rs.Resource().Attributes().Get("weft.session.id")
	require.True(t, ok)
	require.Equal(t, 1, rs.ScopeSpans().Len())
	require.True(t, threadpdata.IsCarrier(rs.ScopeSpans().At(0).Scope()))
	for _, span := range rs.ScopeSpans().At(0).Spans().All() {
		var c threadpdata.Carrier
		require.NoError(t, threadpdata.Parse(span, sym, &c))
		require.Equal(t, session.Str(), c.Session.String())
		fmt.Fprintf(&b, "batch %d part %d of %d watermark %d before %d", c.Batch, c.Part, c.Parts, c.Watermark, c.Before)
		if c.End != "" {
			fmt.Fprintf(&b, " end %s", c.End)
		}
		if c.Thread.ID != jvmthread.NoThread {
			fmt.Fprintf(&b, " thread %d %s", c.Thread.ID, c.Thread.Name)
		}
		if a := c.Aggregate; a != nil {
			fmt.Fprintf(&b, " from %d to %d scale %d", a.From, a.To, a.Scale)
			for _, s := range a.Series {
				fmt.Fprintf(&b, "\n  %s %s %q sum %d max %d zero %d from %d %d", s.Kind, sym.Class(s.Class), sym.Stack(s.Stack), s.Sum, s.Max, s.Zero, s.Offset, s.Buckets)
			}
		}
		b.WriteByte('\n')
		for _, ev := range c.Events {
			fmt.Fprintf(&b, "  %d %s", ev.Time, ev.Kind)
			if ev.Peer != 0 {
				fmt.Fprintf(&b, " peer %d", ev.Peer)
			}
			if !ev.Lock.IsZero() {
				fmt.Fprintf(&b, " lock %s %x", sym.Class(ev.Lock.Class), ev.Lock.Hash)
			}
			if ev.Arg != 0 {
				fmt.Fprintf(&b, " arg %d", ev.Arg)
			}
			if ev.Stack != 0 {
				fmt.Fprintf(&b, " stack %q", sym.Stack(ev.Stack))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func settings(tel *componenttest.Telemetry) receiver.Settings {
	set := receivertest.NewNopSettings(metadata.Type)
	if tel != nil {
		set.TelemetrySettings = tel.NewTelemetrySettings()
	}
	return set
}

// start returns a receiver that listens on a Unix socket, or where change says.
func start(tb testing.TB, set receiver.Settings, next consumer.Traces, change func(*Stream)) *threadReceiver {
	tb.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.Protocols.Stream.Endpoint = "unix://" + filepath.Join(threadtest.SocketDir(tb), "s")
	if change != nil {
		change(&cfg.Protocols.Stream)
	}
	require.NoError(tb, cfg.Validate())
	rcv, err := createTraces(tb.Context(), set, cfg, next)
	require.NoError(tb, err)
	require.NoError(tb, rcv.Start(tb.Context(), componenttest.NewNopHost()))
	tb.Cleanup(func() { assert.NoError(tb, rcv.Shutdown(context.Background())) })
	return rcv.(*threadReceiver)
}

// agent is the other end of a connection.
type agent struct {
	tb     testing.TB
	conn   net.Conn
	reader *wire.Reader
}

func dial(tb testing.TB, r *threadReceiver) *agent {
	tb.Helper()
	r.mu.Lock()
	address := r.listener.Addr()
	r.mu.Unlock()
	conn, err := (&net.Dialer{}).DialContext(tb.Context(), address.Network(), address.String())
	require.NoError(tb, err)
	require.NoError(tb, conn.SetDeadline(time.Now().Add(patience)))
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
	stream, err := wire.AppendStream(nil, text)
	require.NoError(a.tb, err)
	_, err = a.conn.Write(stream)
	require.NoError(a.tb, err)
}

const hello = `preamble version=1
hello session=a1b2c3d4e5f60718293a4b5c6d7e8f90 wall=1000000 monotonic=0 pid=42 "service.name"="orders"
`

// greet opens a session and returns what the receiver has of it.
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
		frame, err = a.reader.Next() // an agent that was known before is asked for a snapshot
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

// pipes is a listener without a network, for tests in which time stands still.
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

// dial returns an agent behind which frames from the receiver never pile up: a pipe has no buffer.
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

// startWithPipes returns a receiver that needs no network.
func startWithPipes(tb testing.TB, next consumer.Traces) (*threadReceiver, *pipes) {
	tb.Helper()
	return startWithPipesAnd(tb, settings(nil), next, func(*Stream) {})
}

func startWithPipesAnd(tb testing.TB, set receiver.Settings, next consumer.Traces, change func(*Stream)) (*threadReceiver, *pipes) {
	tb.Helper()
	cfg := createDefaultConfig().(*Config)
	change(&cfg.Protocols.Stream)
	r, err := newThreadReceiver(set, cfg, next)
	require.NoError(tb, err)
	p := newPipes()
	r.serve(tb.Context(), p)
	return r, p
}
