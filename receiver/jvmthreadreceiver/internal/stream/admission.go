// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
)

// errTooManyHalfOpen is the cause with which a connection without a hello ends when there are too many of them.
var errTooManyHalfOpen = errors.New("too many connections without a hello")

// admission decides which connections may stay. One whose hello is not complete costs an attacker nothing, so those have a limit of their own,
// and beyond it the peer with most of them loses its oldest: a newcomer always gets in, and an honest agent, whose hello takes
// milliseconds, is hardly ever the oldest. The others are limited for each peer as well, so that one peer cannot lock out the rest.
type admission struct {
	cfg         *Config
	definitions *budget.Budget // texts and IDs that agents define
	buffers     *budget.Budget // frames and batches

	mu       sync.Mutex
	all      map[*connection]struct{}
	peers    map[string]*peer
	halfOpen int
	asking   int // have a hello, and the authenticator has not answered
	open     int
}

// peer is a user or an address with connections.
type peer struct {
	name        string
	halfOpen    []*connection // oldest first
	asking      int
	open        int
	definitions *budget.Budget
	buffers     *budget.Budget
}

// The share of the memory that a peer or one of its connections may have while the others have none; see budget.Budget.Member.
const (
	peerShare        = 3. / 4
	definitionsShare = 1. / 16
	bufferShare      = 1. / 8
)

// perConnection is the memory of a connection without definitions and large frames: stacks, buffers for reading, TLS.
const perConnection = 64 << 10

// slowFrame is how long a frame may take while others wait for memory.
const slowFrame = 2 * time.Second

// errSlowFrame is the cause with which a connection ends whose frame takes the memory that others wait for.
var errSlowFrame = errors.New("others wait for the memory that its unfinished frame takes")

func newAdmission(cfg *Config) *admission {
	definitions, buffers := int64(cfg.MaxDefinitionsMiB)<<20, int64(cfg.MaxBuffersMiB)<<20
	normal := DefaultConfig()
	return &admission{
		cfg: cfg, all: make(map[*connection]struct{}), peers: make(map[string]*peer),
		definitions: budget.Process.New(budget.Definitions, definitions).Choose(cfg.MaxDefinitionsMiB != normal.MaxDefinitionsMiB),
		buffers:     budget.Process.New(budget.Buffers, buffers).Choose(cfg.MaxBuffersMiB != normal.MaxBuffersMiB),
	}
}

// add lets in a connection whose hello is not complete. The caller closes the other one that it returns, if any.
func (a *admission) add(c *connection, name string) (evicted *connection) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.peers[name]
	if p == nil {
		p = &peer{name: name, definitions: a.definitions.Member(peerShare), buffers: a.buffers.Member(peerShare)}
		a.peers[name] = p
	}
	c.peer, c.definitions, c.buffers = p, p.definitions.Member(definitionsShare), p.buffers.Member(bufferShare)
	c.buffers.Force(perConnection)
	a.all[c] = struct{}{}
	p.halfOpen = append(p.halfOpen, c)
	c.came = time.Now()
	if a.halfOpen++; a.halfOpen <= a.cfg.MaxHalfOpen {
		return nil
	}
	evicted = a.oldest()
	evicted.evicted = true // its hello may be complete just now, and is too late
	a.drop(evicted)
	return evicted
}

// grace is how long a connection has for its hello at least, however many come after it: after a restart, all agents come at once.
const grace = 50 * time.Millisecond

// wait waits until another connection may come. Those that come meanwhile wait in the backlog of the socket.
func (a *admission) wait(ctx context.Context) {
	for a.isBusy() {
		if !outlet.Pause(ctx, time.Millisecond) {
			return
		}
	}
}

// isBusy reports whether another connection would end one that has had no time yet.
func (a *admission) isBusy() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.halfOpen >= a.cfg.MaxHalfOpen && time.Since(a.oldest().came) < grace
}

// oldest returns the oldest connection without a hello of the peer with most of them.
func (a *admission) oldest() *connection {
	var most *peer
	for _, p := range a.peers {
		if most == nil || len(p.halfOpen) > len(most.halfOpen) {
			most = p
		}
	}
	return most.halfOpen[0]
}

// ask admits a connection with a hello to the authenticator. Until asked is called, it is none of those without a hello, which others can push
// out: a slow authenticator would lock out all agents that come at the same time. Their number is limited for each peer as well, so that
// those with invalid credentials leave room for others.
func (a *admission) ask(c *connection) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.evicted {
		return errTooManyHalfOpen
	}
	if limit := a.cfg.MaxHalfOpen; a.asking >= limit || c.peer.asking >= a.cfg.perPeer(limit) {
		return &refusal{wire.RefuseLimit, "too many agents wait for the authenticator (protocols::stream::max_half_open); try again later"}
	}
	a.drop(c)
	a.asking++
	c.peer.asking++
	return nil
}

// asked ends what ask has begun, perhaps long after the connection has left.
func (a *admission) asked(p *peer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asking--
	p.asking--
	a.forget(p)
}

// admit lets in a connection whose hello is complete. It may replace another one of the same session.
func (a *admission) admit(c *connection, replaces bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	limit, each := a.cfg.MaxConnections, a.cfg.connectionsPerPeer()
	switch {
	case c.evicted:
		return errTooManyHalfOpen
	case replaces && a.open < limit+a.cfg.MaxHalfOpen: // and the other one ends
	case a.open >= limit:
		return &refusal{wire.RefuseLimit, fmt.Sprintf("limit of %d connections (protocols::stream::max_connections) reached", limit)}
	case c.peer.open >= each:
		return &refusal{
			wire.RefuseLimit,
			fmt.Sprintf("limit of %d connections of %s (protocols::stream::max_connections_per_peer) reached", each, c.peer.name),
		}
	}
	a.drop(c)
	c.open = true
	c.peer.open++
	a.open++
	return nil
}

// remove ends what add has begun.
func (a *admission) remove(c *connection) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drop(c)
	delete(a.all, c)
	if c.open {
		c.open = false
		c.peer.open--
		a.open--
	}
	c.definitions.Close()
	c.buffers.Close()
	a.forget(c.peer)
}

// forget removes a peer that has nothing left.
func (a *admission) forget(p *peer) {
	if p.open == 0 && p.asking == 0 && len(p.halfOpen) == 0 && p.definitions.Held() == 0 && p.buffers.Held() == 0 {
		delete(a.peers, p.name)
	}
}

// relieve closes the connection whose unfinished frame is the oldest, because others wait for its memory.
func (a *admission) relieve() {
	a.mu.Lock()
	defer a.mu.Unlock()
	var oldest *connection
	since := time.Now().Add(-slowFrame).UnixNano()
	for c := range a.all {
		if began := c.frameSince.Load(); began != 0 && began < since {
			oldest, since = c, began
		}
	}
	if oldest != nil {
		oldest.frameSince.Store(0)
		oldest.cancel(errSlowFrame)
	}
}

// drop removes a connection from those without a hello, if it is one.
func (a *admission) drop(c *connection) {
	if i := slices.Index(c.peer.halfOpen, c); i >= 0 {
		c.peer.halfOpen = slices.Delete(c.peer.halfOpen, i, i+1)
		a.halfOpen--
	}
}

// held returns the bytes that all connections hold.
func (a *admission) held() int64 { return a.definitions.Held() + a.buffers.Held() }
