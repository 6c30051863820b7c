// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest/wiretext"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

// FuzzServedConnection serves a connection that sends any bytes, with or without a hello before them. The server must end it, keep nothing
// of it, stay within its memory, and have delivered each batch once and in order that it acknowledges.
func FuzzServedConnection(f *testing.F) {
	files, err := filepath.Glob("../../../../protocol/vectors/*.txt")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(f, err)
		text, _, _ := strings.Cut(string(content), "-- hex --\n")
		frames, err := wiretext.AppendStream(nil, text)
		require.NoError(f, err)
		f.Add(frames, false)
		f.Add(frames, true)
	}
	greeting := stream(f, hello)
	f.Add(stream(f, events), true)
	f.Add(randomFrames(1), true)
	cfg := DefaultConfig()
	cfg.MaxDefinitionsMiB, cfg.MaxBuffersMiB, cfg.SessionLinger, cfg.AllowUnverifiedSessions = 1, minBuffersMiB, 0, true
	shared := outlettest.New(f, nil, nil)
	f.Fuzz(func(t *testing.T, b []byte, greeted bool) {
		if greeted {
			b = append(bytes.Clone(greeting), b...)
		}
		next := &numbers{limit: int64(cfg.MaxDefinitionsMiB+2*cfg.MaxBuffersMiB) << 20}
		out := *shared
		out.Next = next
		server := newServer(Settings{Config: &cfg, Out: &out})
		ctx, cancel := context.WithCancel(t.Context())
		server.sessions.ctx, next.held = ctx, server.sessions.held
		conn := &memory{in: bytes.NewReader(b)}
		c := newConnection(ctx, conn, nil, server.sessions)
		server.sessions.admission.add(c, peerName(conn))
		c.serve()
		server.sessions.wg.Wait() // until the session is lost

		require.Empty(t, next.problem)
		require.LessOrEqual(t, answers(conn.out.Bytes()), max(next.first-1, next.last), "a batch is acknowledged that was not delivered")
		require.Zero(t, server.sessions.held())
		require.Empty(t, server.sessions.admission.peers)
		require.Empty(t, server.sessions.byID)
		cancel()
	})
}

// answers returns the last batch that the server acknowledged; 0: none.
func answers(out []byte) (acked uint64) {
	r := wire.NewReader(bytes.NewReader(out), wire.MaxControl)
	for {
		frame, err := r.Next()
		if err != nil {
			return acked
		}
		if frame.Kind == wire.FrameAck {
			acked, _ = frame.Ack() // the server's own
		}
	}
}

// numbers is a consumer that checks the numbers of batches.
type numbers struct {
	limit       int64
	held        func() int64
	first, last uint64
	problem     string
}

func (*numbers) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (n *numbers) ConsumeTraces(_ context.Context, traces ptrace.Traces) error {
	var c threadpdata.Carrier
	err := threadpdata.Parse(traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0), symbols.New(symbols.DefaultLimits()), &c)
	switch {
	case err != nil:
		n.problem = err.Error()
	case n.held() > n.limit:
		n.problem = "too much memory"
	case c.End != "": // has the number of the next batch
	case n.last != 0 && c.Batch != n.last+1:
		n.problem = "a batch is missing, or was delivered twice"
	default:
		if n.first == 0 {
			n.first = c.Batch
		}
		n.last = c.Batch
	}
	return nil
}

// memory is a connection whose client has sent all it will send.
type memory struct {
	net.Conn

	in  *bytes.Reader
	out bytes.Buffer
}

func (m *memory) Read(b []byte) (int, error)       { return m.in.Read(b) }
func (m *memory) Write(b []byte) (int, error)      { return m.out.Write(b) }
func (*memory) Close() error                       { return nil }
func (*memory) LocalAddr() net.Addr                { return &net.UnixAddr{Name: "memory", Net: "unix"} }
func (*memory) RemoteAddr() net.Addr               { return &net.UnixAddr{Net: "unix"} }
func (*memory) SetReadDeadline(_ time.Time) error  { return nil }
func (*memory) SetWriteDeadline(_ time.Time) error { return nil }

// stream returns the bytes of a text.
func stream(tb testing.TB, text string) []byte {
	tb.Helper()
	b, err := wiretext.AppendStream(nil, text)
	require.NoError(tb, err)
	return b
}

// randomFrames returns frames of all kinds with random contents; most of them are broken somewhere.
func randomFrames(seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 1))
	var b []byte
	for range 1 + random.IntN(20) {
		payload := make([]byte, random.IntN(300))
		for i := range payload {
			if random.IntN(3) == 0 {
				payload[i] = byte(random.Uint32())
			}
		}
		length, kind := len(payload), random.IntN(12)
		if random.IntN(20) == 0 {
			length = int(random.Uint32() >> random.IntN(32))
		}
		b = append(b, byte(length), byte(length>>8), byte(length>>16), byte(length>>24), byte(kind), 0, 0, 0)
		b = append(b, payload...)
	}
	return b
}
