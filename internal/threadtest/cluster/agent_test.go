// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// agent keeps the protocol as the agent of a JVM does: it numbers batches, keeps each until it is acknowledged, and after a broken connection
// sends again what the receiver does not have. If it has no room, it drops events and reports how many.
type agent struct {
	name    string
	hello   wire.Hello
	program *program
	room    int              // batches that are kept
	entry   func() *entrance // where to connect; nil: nowhere
	stopped chan struct{}    // the JVM was killed, or has ended

	mu      sync.Mutex
	sent    []batch        // all so far
	acked   uint64         // those that are not kept any longer
	events  int            // in them
	lost    int            // events that were dropped
	mark    jvmthread.Time // the last watermark
	beat    jvmthread.Time // of the last batch
	ending  bool           // there will be no more batches
	done    bool           // the receiver has closed the connection after the end
	fooled  bool           // it died before it accepted the end, which looks the same
	killed  bool
	wire    *cable        // nil: not connected
	cut     int           // the connection breaks after so many bytes; 0: it does not
	away    time.Time     // no connection before
	since   time.Time     // not connected since; zero: it is
	longest time.Duration // without a connection
}

type batch struct {
	events    int // in it and those before
	watermark jvmthread.Time
	data      []byte
}

func newAgent(rng *rand.Rand, name string, length jvmthread.Time, entry func() *entrance) *agent {
	now := time.Now().UnixNano()
	skew := rng.Int64N(int64(time.Hour)) // clocks of two machines differ
	a := &agent{name: name, room: 1000, entry: entry, stopped: make(chan struct{})}
	if rng.IntN(4) == 0 {
		a.room = 10 + rng.IntN(30)
	}
	a.hello = wire.Hello{Wall: now + skew, Monotonic: now, PID: 1, Attributes: []wire.Attribute{{Key: "service.name", Value: name}}}
	for a.hello.Session[0] == 0 {
		for i := range a.hello.Secret {
			a.hello.Secret[i] = byte(rng.Uint32())
		}
		a.hello.Session = a.hello.Secret.Session()
	}
	a.program = newProgram(rng, jvmthread.Time(now), length)
	a.mark, a.beat = jvmthread.Time(now), jvmthread.Time(now)
	a.since = time.Now()
	return a
}

// work makes a batch with what has happened meanwhile, and the end of the session after the last one.
func (a *agent) work(rng *rand.Rand) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ending || a.killed {
		return
	}
	now := jvmthread.Time(time.Now().UnixNano())
	watermark := max(a.mark, now-jvmthread.Time(rng.Int64N(int64(50*time.Millisecond))))
	if len(a.sent)-int(a.acked) >= a.room {
		a.lost += a.program.drop(watermark)
		return
	}
	sections := a.program.take(rng, watermark, now)
	if len(sections) == 0 && now-a.beat < jvmthread.Time(700*time.Millisecond) {
		return
	}
	before := 0
	if n := len(a.sent); n > 0 {
		before = a.sent[n-1].events
	}
	b := batch{events: before, watermark: watermark}
	for _, s := range sections {
		for i := range s.Events {
			if s.Events[i].Kind != jvmthread.KindGap {
				b.events++
			}
		}
	}
	b.data = wire.AppendBatch(nil, wire.BatchHeader{Sequence: uint64(len(a.sent) + 1), Watermark: watermark, Before: uint64(before)}, sections...)
	a.sent, a.mark, a.beat = append(a.sent, b), watermark, now
	a.ending = a.program.over() && now > a.program.end
	if a.wire != nil {
		a.wire.send(b.data)
		if a.ending {
			a.wire.send(a.end())
		}
	}
}

func (a *agent) end() []byte {
	return wire.AppendEnd(nil, wire.End{Time: a.mark, Reason: wire.EndExit})
}

// connect serves one connection after the other, until the session is over.
func (a *agent) connect(pause time.Duration) {
	for {
		a.converse()
		a.mu.Lock()
		over := a.done || a.killed
		wait := max(pause, time.Until(a.away))
		a.mu.Unlock()
		if over {
			return
		}
		select {
		case <-a.stopped:
			return
		case <-time.After(wait):
		}
	}
}

func (a *agent) converse() {
	e := a.entry()
	if e == nil {
		return
	}
	conn, err := e.dial()
	if err != nil {
		return
	}
	line := newCable(conn)
	defer line.hangUp()
	a.mu.Lock()
	if a.killed {
		a.mu.Unlock()
		return
	}
	line.cut, a.cut = a.cut, 0
	a.wire = line
	hello := a.hello
	hello.Acked = a.acked
	a.mu.Unlock()
	line.send(wire.AppendHello(wire.AppendPreamble(nil), &hello))
	a.listen(wire.NewReader(conn, wire.MaxControl))
	a.fooled = e.isDead()
}

// listen handles what the receiver sends until the connection breaks. After the end, the receiver closes it.
func (a *agent) listen(reader *wire.Reader) {
	welcome := false
	for {
		frame, err := reader.Next()
		a.mu.Lock()
		if err != nil {
			a.wire = nil
			if a.done = welcome && a.ending && int(a.acked) == len(a.sent) && errors.Is(err, io.EOF); !a.done && a.since.IsZero() {
				a.since = time.Now()
			}
			a.mu.Unlock()
			return
		}
		switch frame.Kind {
		case wire.FrameWelcome:
			sequence, _ := frame.Welcome()
			a.take(sequence)
			a.longest, a.since = max(a.longest, time.Since(a.since)), time.Time{}
			welcome = true
			a.wire.send(a.program.definitions)
			for _, b := range a.sent[a.acked:] {
				a.wire.send(b.data)
			}
			if a.ending {
				a.wire.send(a.end())
			}
		case wire.FrameAck:
			sequence, _ := frame.Ack()
			a.take(sequence)
		}
		a.mu.Unlock()
	}
}

func (a *agent) take(acked uint64) {
	if acked > uint64(len(a.sent)) {
		panic(fmt.Sprintf("batch %d of %d is acknowledged", acked, len(a.sent)))
	}
	a.acked = max(a.acked, acked)
	if a.acked > 0 {
		a.events = a.sent[a.acked-1].events
	}
}

// breaks breaks the connection now, or after some more bytes, and lets the agent be away for some time.
func (a *agent) breaks(after int, away time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.away = time.Now().Add(away)
	switch {
	case after > 0:
		a.cut = after // of the next connection
	case a.wire != nil:
		a.wire.hangUp()
	}
}

// vanish kills the JVM.
func (a *agent) vanish() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.killed || a.done {
		return
	}
	a.killed = true
	close(a.stopped)
	if a.wire != nil {
		a.wire.hangUp()
	}
}

// all returns how many events are in batches.
func (a *agent) all() int {
	if len(a.sent) == 0 {
		return 0
	}
	return a.sent[len(a.sent)-1].events
}

// over reports whether nothing more will come of the agent.
func (a *agent) over() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.killed || a.done
}

// cable sends in the background, as the kernel does.
type cable struct {
	conn net.Conn
	cut  int // see agent

	mu    sync.Mutex
	data  []byte
	wake  chan struct{}
	once  sync.Once
	close chan struct{}
}

func newCable(conn net.Conn) *cable {
	c := &cable{conn: conn, wake: make(chan struct{}, 1), close: make(chan struct{})}
	go c.work()
	return c
}

func (c *cable) send(data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.data = append(c.data, data...)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *cable) work() {
	for {
		select {
		case <-c.wake:
		case <-c.close:
			return
		}
		c.mu.Lock()
		data := c.data
		c.data = nil
		c.mu.Unlock()
		if c.cut > 0 && len(data) >= c.cut {
			_, _ = c.conn.Write(data[:c.cut-1])
			c.hangUp()
			return
		}
		if c.cut > 0 {
			c.cut -= len(data)
		}
		if _, err := c.conn.Write(data); err != nil {
			return
		}
	}
}

func (c *cable) hangUp() {
	c.once.Do(func() {
		close(c.close)
		_ = c.conn.Close()
	})
}
