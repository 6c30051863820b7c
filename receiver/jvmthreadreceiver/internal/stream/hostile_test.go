// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package stream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/golden"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

// attack is something that a hostile client does, in bytes, to a real server over a real socket.
type attack struct {
	name string
	does string
	over string // unix, tcp or tls
	run  func(h *hostile) (outcome string)
}

const (
	overUnix = "unix"
	overTCP  = "tcp"
	overTLS  = "tls"
)

// Small limits, so that attacks reach them soon.
const (
	hostileConnections = 256
	hostileHalfOpen    = 64
	hostileMiB         = 32
	hostileHelloTime   = 300 * time.Millisecond
	hostilePatience    = time.Minute // the same over TCP, where no attack relies on it and an honest agent on a busy machine needs longer
	hostileTimeout     = 2 * time.Second
)

// TestHostileClients runs each attack against a server that also serves an honest agent. That agent must lose nothing, have each batch
// delivered once, and get its acknowledgements promptly; memory stays within the limits, and nothing is left when the clients are gone.
// The outcomes are in testdata/hostile.txt, which -update writes.
func TestHostileClients(t *testing.T) {
	all := slices.Concat(greetingAttacks(), sessionAttacks(), frameAttacks(), definitionAttacks(), batchAttacks(), transportAttacks())
	var outcomes strings.Builder
	tried := 0
	for _, a := range all {
		t.Run(strings.ReplaceAll(a.name, " ", "_"), func(t *testing.T) {
			tried++
			fmt.Fprintf(&outcomes, "%s\n\tsends: %s\n\toutcome: %s\n", a.name, a.does, withstand(t, &a))
		})
	}
	if !t.Failed() && tried == len(all) { // not only a part of them with -run
		golden.Compare(t, "testdata/hostile.txt", outcomes.String())
	}
}

// hostile is an attack that takes place.
type hostile struct {
	*testing.T

	r        *running
	pool     *x509.CertPool // of the server's certificate, with TLS
	ledger   *ledger
	limit    int // bytes that the heap may grow
	heap     int
	acks     atomic.Int64
	progress chan struct{}
	slowest  time.Duration // acknowledgement
	lateName chan string   // the honest agent names another thread
	stop     chan struct{}
	done     chan struct{}
	tel      *componenttest.Telemetry
}

func heapInUse() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func withstand(t *testing.T, a *attack) (outcome string) {
	t.Helper()
	h := &hostile{
		T: t, ledger: newLedger(), tel: componenttest.NewTelemetry(), limit: 100 << 20, heap: heapInUse(),
		progress: make(chan struct{}, 1), lateName: make(chan string, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	out := outlettest.New(t, h.tel, h.ledger)
	h.r = startWith(t, Settings{Out: out, testTimeout: hostileTimeout}, func(c *Config) {
		c.MaxConnections, c.MaxHalfOpen, c.MaxSessions = hostileConnections, hostileHalfOpen, hostileConnections
		c.MaxDefinitionsMiB, c.MaxBuffersMiB, c.HelloTimeout = hostileMiB, hostileMiB, hostileHelloTime
		if a.over != overUnix {
			c.Endpoint = "127.0.0.1:0"
		} else {
			c.Endpoint = "unix://" + filepath.Join(threadtest.SocketDir(t), "s")
		}
		if a.over == overTCP {
			c.HelloTimeout = hostilePatience
		}
		if a.over == overTLS {
			server, pool := certificate(t)
			c.TLS, h.pool = configoptional.Some(server), pool
		}
	})
	go h.work()
	finish := sync.OnceFunc(func() {
		close(h.stop)
		<-h.done
	})
	t.Cleanup(finish) // if the attack fails
	h.advance(2)
	outcome = a.run(h)
	h.advance(20)
	if !threadtest.Race {
		assert.Less(t, heapInUse()-h.heap, h.limit, "the heap grew")
	}
	finish()
	assert.Equal(t, h.acks.Load(), h.ledger.honest(), "batches delivered")
	assert.Less(t, h.slowest, 10*time.Second, "an acknowledgement was late")
	h.r.stop()
	admission := h.r.sessions.admission
	assert.Zero(t, admission.open+admission.halfOpen)
	assert.Zero(t, admission.buffers.Held()+h.r.sessions.flight.Held())
	assert.Zero(t, admission.definitions.Held())
	assert.Empty(t, admission.peers)
	return outcome
}

// honestID is the number of the honest agent's session.
const honestID = 0xabcdef

// work is the honest agent.
func (h *hostile) work() {
	defer close(h.done)
	a := h.greeted(honestID)
	a.send("thread id=1 name=\"honest\"")
	ticks := time.NewTicker(time.Millisecond)
	defer ticks.Stop()
	thread := 1
	for n := int64(1); ; n++ {
		select {
		case <-h.stop:
			a.send("end reason=1")
			a.closed()
			return
		case name := <-h.lateName:
			thread++
			a.send(fmt.Sprintf("thread id=%d name=%q", thread, name))
		case <-ticks.C:
		}
		began := time.Now()
		a.send(fmt.Sprintf("batch sequence=%d watermark=%[1]d before=%d\n section thread=%d\n  event yield time=%[1]d", n, n-1, thread))
		if got := a.acked(); got != uint64(n) {
			h.Errorf("batch %d was acknowledged as %d", n, got)
		}
		h.slowest = max(h.slowest, time.Since(began))
		h.acks.Store(n)
		select {
		case h.progress <- struct{}{}:
		default:
		}
	}
}

// advance waits until the honest agent has some more batches acknowledged.
func (h *hostile) advance(batches int) {
	h.Helper()
	for range batches {
		select {
		case <-h.progress:
		case <-h.done:
			require.FailNow(h, "the honest agent has ended")
		case <-time.After(outlettest.Patience):
			require.FailNow(h, "the honest agent does not get on")
		}
	}
}

// metric returns the value of a counter.
func (h *hostile) counter(name string) int64 {
	h.Helper()
	return sumOf(h, h.tel, "otelcol_receiver_jvm_thread_"+name)
}

// connect returns a connection. It closes at the end of the test.
func (h *hostile) connect() net.Conn {
	h.Helper()
	address := h.r.listener.Addr()
	var conn net.Conn
	require.Eventually(h, func() (ok bool) { // the backlog of a Unix socket may be full
		var err error
		conn, err = (&net.Dialer{}).DialContext(h.Context(), address.Network(), address.String())
		return err == nil
	}, outlettest.Patience, time.Millisecond)
	require.NoError(h, conn.SetDeadline(time.Now().Add(outlettest.Patience)))
	h.Cleanup(func() { _ = conn.Close() })
	return conn
}

// open returns a connection, with TLS if the server has it.
func (h *hostile) open() net.Conn {
	h.Helper()
	conn := h.connect()
	if h.pool != nil {
		return tls.Client(conn, &tls.Config{RootCAs: h.pool, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12})
	}
	return conn
}

func (h *hostile) foe() *agent {
	h.Helper()
	conn := h.open()
	return &agent{tb: h, conn: conn, reader: wire.NewReader(conn, wire.MaxControl)}
}

// greeted returns an agent with a session, after as many tries as it takes.
func (h *hostile) greeted(number int) *agent {
	h.Helper()
	for deadline := time.Now().Add(outlettest.Patience); ; {
		a := h.foe()
		if _, err := a.conn.Write(stream(h, another(number))); err == nil {
			if frame, err := a.reader.Next(); err == nil && frame.Kind == wire.FrameWelcome {
				return a
			}
		}
		_ = a.conn.Close()
		require.True(h, time.Now().Before(deadline), "no connection is accepted")
	}
}

// session returns a hostile agent with a session of its own.
func (h *hostile) session() *agent { h.Helper(); return h.greeted(1) }

// outcome returns how a connection ends: with a refusal, or without.
func (h *hostile) outcome(a *agent) string {
	h.Helper()
	why := ""
	for {
		frame, err := a.reader.Next()
		if err != nil {
			require.NotErrorIs(h, err, os.ErrDeadlineExceeded, "the connection is still open")
			if why == "" {
				return "closed"
			}
			return why
		}
		if refuse, err := frame.Refuse(); err == nil && frame.Kind == wire.FrameRefuse {
			why = "refused: " + refuse.Message
		}
	}
}

// sends returns an attack that sends a text after the hello of a session, and how that ends.
func sends(name, does, text string) attack {
	return attack{name, does, overUnix, func(h *hostile) string {
		a := h.session()
		_, _ = a.conn.Write(stream(h, text)) // the server may close first
		return h.outcome(a)
	}}
}

// begins returns an attack that sends a text instead of preamble and hello.
func begins(name, does, text string) attack {
	return attack{name, does, overUnix, func(h *hostile) string {
		a := h.foe()
		_, _ = a.conn.Write(stream(h, text))
		return h.outcome(a)
	}}
}

// fewer returns n, or a tenth of it with the race detector, which makes everything slow.
func fewer(n int) int {
	if threadtest.Race {
		return n / 10
	}
	return n
}

// each calls a function for several clients at the same time.
func (h *hostile) each(n int, run func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { run(i) })
	}
	wg.Wait()
}

// ledger is the next component. It keeps the numbers of the honest agent's batches and the names of its threads.
type ledger struct {
	mu     sync.Mutex
	last   uint64
	twice  bool
	names  map[string]bool
	spans  int
	others map[string]uint64 // last batch of each other session
}

func newLedger() *ledger {
	return &ledger{names: make(map[string]bool), others: make(map[string]uint64)}
}

// Capabilities implements consumer.Traces.
func (*ledger) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

// ConsumeTraces implements consumer.Traces.
func (l *ledger) ConsumeTraces(_ context.Context, traces ptrace.Traces) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	rs := traces.ResourceSpans().At(0)
	id, _ := rs.Resource().Attributes().Get("weft.session.id")
	span := rs.ScopeSpans().At(0).Spans().At(0)
	l.spans++
	var c threadpdata.Carrier
	if id.Str() != secretOf(honestID).Session().String() {
		if threadpdata.Check(span) == nil {
			l.others[id.Str()]++
		}
		return nil
	}
	if err := threadpdata.Parse(span, symbols.New(symbols.DefaultLimits()), &c); err != nil {
		return err
	}
	if c.End != "" {
		return nil
	}
	l.twice = l.twice || c.Batch != l.last+1
	l.last = c.Batch
	for _, th := range c.Threads {
		l.names[th.Name] = true
	}
	return nil
}

// honest returns how many batches of the honest agent came, each once and in order, or -1.
func (l *ledger) honest() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.twice || !l.names["honest"] {
		return -1
	}
	return int64(l.last)
}

func (l *ledger) knows(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.names[name]
}

// delivered returns how many batches of other sessions came.
func (l *ledger) delivered() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, batches := range l.others {
		n += int(batches)
	}
	return n
}
