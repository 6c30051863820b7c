// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// Agent sends the events of a simulated JVM as they happen. Like the real one it keeps batches until they are acknowledged, drops events
// and reports them as lost if it has no room, and connects again for as long as the JVM runs.
type Agent struct {
	Shape           Shape
	Run             Run
	Network, Socket string
	Retain          int // bytes of batches that it keeps, 8 MiB in the real agent by default
	Seen            *Seen

	mu     sync.Mutex
	kept   []kept // not acknowledged, oldest first
	bytes  int    // of them
	unsent int    // index of the first one not sent on this connection
	acked  uint64
	heard  time.Time     // when a batch was acknowledged last
	last   time.Duration // of simulated time, when the JVM ended
	ended  bool
	wake   chan struct{} // there may be something to send
}

type kept struct {
	Batch
	due time.Time // when it was complete
}

// Live runs the JVM until ctx ends, and then waits for up to patience until all that it sent is acknowledged and its session has ended.
func (a *Agent) Live(ctx context.Context, patience time.Duration) error {
	a.wake = make(chan struct{}, 1)
	connected, disconnect := context.WithCancel(context.WithoutCancel(ctx))
	defer disconnect()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(patience, disconnect) })
	defer stop()
	var generating sync.WaitGroup
	generating.Go(func() { a.generate(ctx) })
	defer generating.Wait()
	const first, most = 50 * time.Millisecond, 5 * time.Second // as the agent's
	for pause := first; ; {
		progress, over := a.connect(connected)
		if over {
			return nil
		}
		if connected.Err() != nil {
			return errors.New("not everything was acknowledged in time")
		}
		if progress {
			pause = first
		}
		select {
		case <-connected.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, most)
	}
}

// generate makes the batches.
func (a *Agent) generate(ctx context.Context) {
	source := a.Shape.Source()
	for {
		due := a.Run.Began.Add(source.at() + a.Shape.Batch)
		select {
		case <-ctx.Done():
			a.mu.Lock()
			a.ended, a.last = true, source.at()
			a.mu.Unlock()
			a.signal()
			return
		case <-time.After(time.Until(due)):
		}
		a.mu.Lock()
		if a.bytes >= a.Retain {
			lost, _ := source.Drop()
			a.Seen.lose(lost)
		} else {
			b := source.Next(nil)
			a.kept = append(a.kept, kept{b, due})
			a.bytes += len(b.Frame)
			a.Seen.happen(b.Events)
		}
		a.mu.Unlock()
		a.signal()
	}
}

func (a *Agent) signal() {
	select {
	case a.wake <- struct{}{}:
	default: // it is awake
	}
}

// connect sends over one connection until it breaks. It reports whether a batch was acknowledged, and whether the session is over.
func (a *Agent) connect(ctx context.Context) (progress, over bool) {
	conn, err := (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, a.Network, a.Socket)
	if err != nil {
		return false, false
	}
	defer conn.Close() //nolint:errcheck // everything was acknowledged, or is sent again
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	before := a.acked
	const welcomeTimeout = 5 * time.Second // as the agent's
	_ = conn.SetReadDeadline(time.Now().Add(welcomeTimeout))
	if _, err := conn.Write(a.Shape.Hello(&a.Run, before)); err != nil {
		return false, false
	}
	replies := wire.NewReader(conn, wire.MaxControl)
	frame, err := replies.Next()
	if err != nil {
		return false, false
	}
	acked, err := frame.Welcome()
	if frame.Kind != wire.FrameWelcome || err != nil {
		a.Seen.refuse()
		return false, false
	}
	_ = conn.SetReadDeadline(time.Time{})
	a.mu.Lock()
	a.forget(acked)
	a.unsent = 0
	a.mu.Unlock()
	broken := make(chan struct{})
	go func() {
		defer close(broken)
		a.read(replies)
		_ = conn.Close() // wakes the writer
		a.signal()
	}()
	over = a.write(conn, broken)
	<-broken
	return a.acked > before, over
}

// read handles what the receiver sends until the connection breaks.
func (a *Agent) read(replies *wire.Reader) {
	for {
		frame, err := replies.Next()
		if err != nil {
			return
		}
		switch frame.Kind {
		case wire.FrameAck:
			sequence, err := frame.Ack()
			if err != nil {
				return
			}
			a.mu.Lock()
			a.forget(sequence)
			a.mu.Unlock()
			a.signal()
		case wire.FrameRefuse:
			a.Seen.refuse()
			return
		default: // controls, which the simulated agent ignores
		}
	}
}

// forget drops what was acknowledged. The caller holds the lock.
func (a *Agent) forget(sequence uint64) {
	n := 0
	if len(a.kept) > 0 && a.kept[0].Sequence <= sequence {
		since := a.kept[0].due
		if a.heard.After(since) {
			since = a.heard
		}
		a.heard = time.Now()
		a.Seen.rest(a.heard.Sub(since))
	}
	for n < len(a.kept) && a.kept[n].Sequence <= sequence {
		a.Seen.acknowledge(a.kept[n].Events, time.Since(a.kept[n].due))
		a.bytes -= len(a.kept[n].Frame)
		a.kept[n].Frame = nil
		n++
	}
	a.kept = a.kept[n:]
	a.unsent = max(0, a.unsent-n)
	a.acked = max(a.acked, sequence)
}

// write sends until the connection breaks, or until the session has ended and everything is acknowledged.
func (a *Agent) write(conn net.Conn, broken <-chan struct{}) (over bool) {
	for {
		a.mu.Lock()
		var frame []byte
		if a.unsent < len(a.kept) {
			frame = a.kept[a.unsent].Frame
			a.unsent++
		}
		over = a.ended && len(a.kept) == 0
		last := a.last
		a.mu.Unlock()
		switch {
		case over:
			_, err := conn.Write(wire.AppendEnd(nil, wire.End{Time: Beginning + jvmthread.Time(last), Reason: wire.EndExit}))
			if half, ok := conn.(interface{ CloseWrite() error }); ok && err == nil {
				err = half.CloseWrite()
			}
			<-broken // the receiver closes the connection when it has delivered the end
			return err == nil
		case frame != nil:
			if _, err := conn.Write(frame); err != nil {
				_ = conn.Close() // wakes the reader
				return false
			}
		default:
			select {
			case <-broken:
				return false
			case <-a.wake:
			}
		}
	}
}
