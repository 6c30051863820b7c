// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// countingAgent is an agent that knows how many events it has made: those of threads that sleep. It keeps all batches that are not
// acknowledged, and connects again until it has ended.
type countingAgent struct {
	endpoint string
	hello    wire.Hello
	done     chan struct{} // closed when the receiver has accepted the end

	mu      sync.Mutex
	conn    net.Conn // nil: not connected
	kept    []batchFrame
	acked   uint64
	last    uint64
	events  uint64
	from    jvmthread.Time
	at      jvmthread.Time
	ending  bool
	stopped chan struct{}
	stop    sync.Once
	workers sync.WaitGroup
}

type batchFrame struct {
	sequence uint64
	before   uint64 // events in earlier batches
	data     []byte
}

const (
	sleepers   = 4
	sleepEvery = 5 * time.Millisecond
)

// startAgent starts an agent that makes 1,600 events a second.
func startAgent(t *testing.T, endpoint, service string) *countingAgent {
	t.Helper()
	a := &countingAgent{endpoint: strings.TrimPrefix(endpoint, "unix://"), done: make(chan struct{}), stopped: make(chan struct{})}
	now := time.Now().UnixNano()
	a.hello = wire.Hello{Wall: now, Monotonic: now, PID: 1, Attributes: []wire.Attribute{{Key: "service.name", Value: service}}}
	a.hello.Secret, a.hello.Session = wire.NewSecret()
	a.from = jvmthread.Time(now)
	a.at = a.from
	a.workers.Go(a.work)
	a.workers.Go(a.connect)
	t.Cleanup(func() { a.vanish() })
	return a
}

// vanish ends the agent without a word, like a JVM that is killed. It returns how many events were acknowledged, of those that it has made.
func (a *countingAgent) vanish() (acked, made uint64) {
	a.stop.Do(func() { close(a.stopped) })
	a.hangUp()
	a.workers.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.kept) > 0 {
		return a.kept[0].before, a.events
	}
	return a.events, a.events
}

// work makes a batch every 50 ms.
func (a *countingAgent) work() {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-a.stopped:
			return
		case now := <-ticker.C:
			if !a.append(jvmthread.Time(now.UnixNano())) {
				return
			}
		}
	}
}

func (a *countingAgent) append(until jvmthread.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ending {
		return false
	}
	sections := make([]wire.Section, sleepers)
	before := a.events
	step := jvmthread.Time(sleepEvery)
	for i := range sections {
		sections[i].Thread = jvmthread.ThreadID(i + 1)
	}
	for ; a.at+step <= until; a.at += step {
		kind := jvmthread.KindSleepStart
		if (a.at-a.from)/step%2 == 1 {
			kind = jvmthread.KindSleepEnd
		}
		for i := range sections {
			ev := jvmthread.Event{Kind: kind, Thread: sections[i].Thread, Time: a.at}
			if a.at == a.from {
				ev.Kind = jvmthread.KindThreadStart
			}
			sections[i].Events = append(sections[i].Events, ev)
			a.events++
		}
	}
	a.last++
	data := wire.AppendBatch(nil, wire.BatchHeader{Sequence: a.last, Watermark: a.at - 1, Before: before}, sections...)
	a.kept = append(a.kept, batchFrame{a.last, before, data})
	if a.conn != nil {
		_, _ = a.conn.Write(data) // a broken connection is noticed by its reader
	}
	return true
}

// end ends the session and waits until the receiver has accepted that. It returns the number of events, and the time of the session.
func (a *countingAgent) end(t *testing.T) (events uint64, length time.Duration) {
	t.Helper()
	a.mu.Lock()
	a.ending = true
	a.mu.Unlock()
	a.hangUp() // it sends the end when it has connected again
	select {
	case <-a.done:
	case <-time.After(patience):
		require.FailNow(t, "the receiver has not accepted the end")
	}
	return a.events, (a.at - a.from).Sub(0)
}

func (a *countingAgent) hangUp() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conn != nil {
		_ = a.conn.Close()
	}
}

// connect serves one connection after the other.
func (a *countingAgent) connect() {
	for {
		if over := a.converse(); over {
			close(a.done)
			return
		}
		select {
		case <-a.stopped:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// converse returns true if the receiver has closed the connection after the end, with all batches acknowledged.
func (a *countingAgent) converse() (over bool) {
	conn, err := net.Dial("unix", a.endpoint)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	reader := wire.NewReader(conn, wire.MaxControl)
	a.hello.Acked = a.acked
	if _, err := conn.Write(wire.AppendHello(wire.AppendPreamble(nil), &a.hello)); err != nil {
		return false
	}
	for {
		frame, err := reader.Next()
		if err != nil {
			return a.disconnected(err)
		}
		switch frame.Kind {
		case wire.FrameWelcome:
			sequence, _ := frame.Welcome()
			a.resend(conn, sequence)
		case wire.FrameAck:
			sequence, _ := frame.Ack()
			a.take(sequence)
		}
	}
}

// disconnected returns true if nothing is left to send.
func (a *countingAgent) disconnected(why error) (over bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.conn = nil
	return a.ending && len(a.kept) == 0 && errors.Is(why, io.EOF)
}

// resend sends everything that the receiver does not have.
func (a *countingAgent) resend(conn net.Conn, acked uint64) {
	a.take(acked)
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []byte
	for i := range sleepers {
		all = wire.AppendThread(all, jvmthread.Thread{ID: jvmthread.ThreadID(i + 1), Name: "sleeper-" + string(rune('1'+i))})
	}
	for _, b := range a.kept {
		all = append(all, b.data...)
	}
	if a.ending {
		all = wire.AppendEnd(all, wire.End{Time: a.at, Reason: wire.EndExit})
	}
	a.conn = conn
	_, _ = conn.Write(all) // a broken connection is noticed by its reader
}

func (a *countingAgent) take(acked uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.acked = max(a.acked, acked)
	for len(a.kept) > 0 && a.kept[0].sequence <= a.acked {
		a.kept = a.kept[1:]
	}
}

// unacknowledged returns for how long no batch was acknowledged, as a number of batches.
func (a *countingAgent) unacknowledged() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.kept)
}
