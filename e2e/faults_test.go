// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"flag"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver"
)

var faultsFor = flag.Duration("faults", 5*time.Second, "how long TestFaultyNetwork and TestTamperingNetwork run on each JDK")

// tally counts the events of threads called nap-*, and what was reported as lost, as the receiver passes them on.
type tally struct {
	mu      sync.Mutex
	sym     *symbols.Table
	batches map[uint64]int
	kinds   map[jvmthread.Kind]int
	lost    int64
	ends    int
	losses  int // of the session, after which it came back
}

func (y *tally) consume(_ context.Context, td ptrace.Traces) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				var c threadpdata.Carrier
				if err := threadpdata.Parse(span, y.sym, &c); err != nil {
					return err
				}
				y.add(&c)
			}
		}
	}
	return nil
}

func (y *tally) add(c *threadpdata.Carrier) {
	if c.End == threadpdata.EndLost { // the agent was away for long; it returns
		y.losses++
		return
	}
	if c.Batch > 0 {
		y.batches[c.Batch]++
	}
	if c.End != "" {
		y.ends++
	}
	for i := range c.Events {
		switch ev := &c.Events[i]; ev.Kind {
		case jvmthread.KindGap:
			y.lost += ev.Arg
		default:
			y.kinds[ev.Kind]++
		}
	}
}

// listenInProcess starts a receiver with a configuration, below protocols::stream, in this process.
func listenInProcess(t *testing.T, config map[string]any, next func(context.Context, ptrace.Traces) error) {
	t.Helper()
	factory := jvmthreadreceiver.NewFactory()
	cfg := factory.CreateDefaultConfig()
	require.NoError(t, confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"stream": config}}).Unmarshal(cfg))
	to, err := consumer.NewTraces(next)
	require.NoError(t, err)
	set := receivertest.NewNopSettings(component.MustNewType("jvm_thread"))
	var r receiver.Traces
	r, err = factory.CreateTraces(t.Context(), set, cfg, to)
	require.NoError(t, err)
	require.NoError(t, r.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { assert.NoError(t, r.Shutdown(context.WithoutCancel(t.Context()))) })
}

func newTally() *tally {
	return &tally{sym: symbols.New(symbols.DefaultLimits()), batches: make(map[uint64]int), kinds: make(map[jvmthread.Kind]int)}
}

// TestFaultyNetwork has a JVM send through a network that delays and cuts connections. The program knows what it did: everything arrives
// once or is reported as lost, and the program does not notice.
func TestFaultyNetwork(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		dir := threadtest.SocketDir(t)
		here, server := filepath.Join(dir, "weft.sock"), filepath.Join(dir, "server.sock")
		got := newTally()
		listenInProcess(t, map[string]any{"endpoint": "unix://" + server, "session_linger": "50ms"}, got.consume) // lost and back, many times
		checkFaulty(t, j, "unix://"+here, newProxy(t, "unix", here, server), got)
	})
}

// TestTamperingNetwork repeats it over TLS, with a network that also changes, repeats and omits bytes.
func TestTamperingNetwork(t *testing.T) {
	ca := newAuthority(t)
	pair := ca.issue(t, nil)
	onEachJDK(t, func(t *testing.T, j jdk) {
		server := freeAddress(t)
		got := newTally()
		listenInProcess(t, map[string]any{
			"endpoint": "tcp://" + server, "tls": map[string]any{"cert_file": pair.cert, "key_file": pair.key},
		}, got.consume)
		network := newProxy(t, "tcp", "localhost:0", server)
		network.tampers = true
		_, port, err := net.SplitHostPort(network.listener.Addr().String())
		require.NoError(t, err)
		checkFaulty(t, j, "tls://localhost:"+port, network, got, "ca-file="+ca.file)
	})
}

func checkFaulty(t *testing.T, j jdk, endpoint string, network *proxy, got *tally, options ...string) {
	t.Helper()
	const threads = 8
	agent := "-agentpath:" + built("libweft.so") + "=" + strings.Join(append([]string{
		"endpoint=" + endpoint, "service=naps", "include-threads=nap-*", "depth=0", "monitor=off", "wait=off", "park=off", "pool=64k", "retain=1m", "exit-wait=60s",
		"control=off", // a session that is back has no events that repeat the states of threads
	}, options...), ",")
	jvm := start(t, nil, filepath.Join(j.Home, "bin", "java"), agent, "-cp", classes, "Naps", strconv.Itoa(threads), strconv.Itoa(int(faultsFor.Seconds())))
	pollFor(t, *faultsFor+patience, "the threads have ended", func() bool { return !jvm.running() || len(jvm.outLines()) > 0 })
	network.calm.Store(true)
	network.cutAll() // a stalled connection would last
	// Without TLS, the agent takes the end of a connection that was cut after its last frame for the receiver's answer to it.
	poll(t, "the agent is connected again", network.connected)
	require.NoError(t, jvm.stdin.Close())
	require.Equal(t, 0, jvm.wait(t))
	require.Len(t, jvm.outLines(), 1)
	if network.tampers { // the agent says once what is wrong with the connection
		require.LessOrEqual(t, len(jvm.errLines()), 1)
	} else {
		require.Empty(t, jvm.errLines())
	}
	var truth struct{ Threads, Naps int }
	jvm.truth(t, &truth)
	poll(t, "the session has ended", func() bool {
		got.mu.Lock()
		defer got.mu.Unlock()
		return got.ends > 0
	})

	sent := 0
	for _, n := range got.kinds {
		sent += n
	}
	faults := 0
	for i := range network.faults {
		faults += int(network.faults[i].Load())
	}
	t.Logf("%d naps, %d events sent, %d reported lost, %d batches, %d faults, lost and back %d times", truth.Naps, sent, got.lost, len(got.batches), faults, got.losses)
	t.Log(got.kinds)
	assert.Equal(t, 2*truth.Naps+2*threads, sent+int(got.lost))
	assert.Positive(t, faults)
	for batch, times := range got.batches {
		assert.Equal(t, 1, times, "batch %d", batch)
	}
	assert.Equal(t, 1, got.ends)
}
