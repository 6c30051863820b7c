// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// place is where a collector runs: one life after the other.
type place struct {
	world *world
	name  string
	disk  *disk
	build func(*life) // starts the components

	mu   sync.Mutex
	life *life     // nil: none
	last *life     // the one before
	due  time.Time // when the next life begins, if there is none
}

// current returns the life that others can reach; nil: none.
func (p *place) current() *life {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.life
}

// life is a collector from its start to its end. Its components are the real ones. When it is killed, they do not notice: they continue with a
// copy of the disk and a network that takes everything, and are stopped, so that no goroutine is left. Nothing of that reaches others.
type life struct {
	place *place
	store *store
	entry *entrance                                         // for agents
	take  func(ctx context.Context, td ptrace.Traces) error // of other collectors; nil: nothing
	stops []func(context.Context) error                     // of components, in the order in which a collector stops them

	mu       sync.Mutex
	dead     bool
	stopping bool
	fuse     int // how many more crossings it lives for; 0: no limit
}

var errDown = errors.New("connection refused")

// cross is called where a life touches the world: before and after each write to the disk, each request and each answer. There it dies.
func (l *life) cross() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fuse == 0 {
		return
	}
	if l.fuse--; l.fuse == 0 {
		l.die()
	}
}

// kill ends the life now, or after some more crossings.
func (l *life) kill(after int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if after > 0 {
		l.fuse = after
	} else {
		l.die()
	}
}

func (l *life) die() {
	if l.dead {
		return
	}
	l.dead = true
	if gone := l.store.gone.Load(); gone > 0 {
		l.place.world.note("%s dies while it moves %d requests on its disk", l.place.name, gone)
		l.place.world.excused.Store(true)
	}
	if l.stopping {
		l.place.world.note("%s is killed while it stops", l.place.name)
		l.place.world.torn.Store(true)
	}
	l.store.leave()
	l.entry.hangUp()
}

func (l *life) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// begin starts the next life, which ends after some crossings unless that is 0.
func (p *place) begin(fuse int) {
	l := &life{place: p, fuse: fuse, entry: newEntrance()}
	l.store = &store{life: l, disk: p.disk}
	p.build(l)
	p.world.started = time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.life = l
}

// tend notices that a life has ended, and starts the next one when its time has come.
func (p *place) tend(down time.Duration) {
	switch l := p.current(); {
	case l != nil && l.isDead():
		p.world.note("%s is dead for %v", p.name, down)
		p.bury(down)
	case l == nil && !time.Now().Before(p.due) && (p.last == nil || p.last.isDead()):
		p.world.note("%s starts", p.name)
		p.begin(p.world.plan.fuse(p.world.rng))
	}
}

// bury lets the components of a life end that is dead or shall stop.
func (p *place) bury(down time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.life
	p.life, p.last, p.due = nil, l, time.Now().Add(down)
	p.world.ending.Go(func() {
		for _, stop := range l.stops {
			if err := stop(context.Background()); err != nil && !l.isDead() {
				p.world.fail("%s does not stop: %v", p.name, err)
			}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.stopping = false
		l.die() // its time is over, and what is not on the disk is gone
	})
}

// stop stops the life like SIGTERM, and kills it if that takes too long.
func (p *place) stop(down time.Duration) {
	const patience = 10 * time.Second
	l := p.current()
	l.mu.Lock()
	l.stopping = true
	l.mu.Unlock()
	time.AfterFunc(patience, func() { l.kill(0) })
	p.bury(down)
}

// entrance is a listener without a network.
type entrance struct {
	arrivals chan net.Conn
	closed   chan struct{}
	once     sync.Once

	mu   sync.Mutex
	all  []net.Conn
	dead bool
}

func newEntrance() *entrance {
	return &entrance{arrivals: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (e *entrance) Accept() (net.Conn, error) {
	select {
	case conn := <-e.arrivals:
		return conn, nil
	case <-e.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (e *entrance) Close() error {
	e.once.Do(func() { close(e.closed) })
	return nil
}

// Addr implements net.Listener.
func (*entrance) Addr() net.Addr { return &net.UnixAddr{Name: "cluster", Net: "unix"} }

// dial connects an agent.
func (e *entrance) dial() (net.Conn, error) {
	here, there := net.Pipe()
	e.mu.Lock()
	if e.dead {
		e.mu.Unlock()
		return nil, errDown
	}
	e.all = append(e.all, there)
	e.mu.Unlock()
	select {
	case e.arrivals <- there:
		return here, nil
	case <-e.closed:
		return nil, errors.Join(io.EOF, here.Close(), there.Close())
	}
}

func (e *entrance) isDead() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dead
}

// hangUp closes all connections, as the end of a process does: agents cannot distinguish that from a regular end.
func (e *entrance) hangUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dead = true
	for _, conn := range e.all {
		_ = conn.Close()
	}
}
