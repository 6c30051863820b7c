// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// proxy is a network that fails: it passes bytes on between clients and a server, and delays, cuts, and, if the peers can notice it, changes
// them.
type proxy struct {
	listener         net.Listener
	network, address string // of the server
	tampers          bool   // changes, repeats and omits bytes: only TLS notices that
	calm             atomic.Bool
	faults           [faultKinds]atomic.Int64
	accepted         atomic.Int64 // connections of clients
	chunks           atomic.Int64 // passed on

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// fault is what happens to a chunk of bytes.
type fault int

const (
	delayed fault = iota
	stalled
	trickled
	cutAfter // the chunk
	cutWithin
	changed
	repeated
	omitted
	faultKinds
)

// newProxy listens at an address in front of a server, which has an address of the same network.
func newProxy(t *testing.T, network, here, address string) *proxy {
	t.Helper()
	listener, err := net.Listen(network, here)
	require.NoError(t, err)
	p := &proxy{listener: listener, network: network, address: address, conns: make(map[net.Conn]struct{})}
	t.Cleanup(func() {
		_ = listener.Close()
		p.cutAll()
	})
	go p.accept()
	return p
}

func (p *proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.accepted.Add(1)
		go p.pass(conn)
	}
}

// pass connects a client with the server until one of the connections ends.
func (p *proxy) pass(client net.Conn) {
	server, err := net.Dial(p.network, p.address)
	if err != nil {
		_ = client.Close()
		return
	}
	p.add(client, server)
	var both sync.WaitGroup
	both.Go(func() { p.copy(server, client) })
	both.Go(func() { p.copy(client, server) })
	both.Wait()
	p.remove(client, server)
}

func (p *proxy) add(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = struct{}{}
	}
}

func (p *proxy) remove(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(p.conns, c)
	}
}

func (p *proxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
	clear(p.conns)
}

// connected reports whether there is a connection that was not cut.
func (p *proxy) connected() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns) > 0
}

// copy passes bytes on in one direction. Whatever ends it ends both directions, except for the orderly end of what is sent.
func (p *proxy) copy(to, from net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !p.send(to, buffer[:n]) {
			break
		}
		if errors.Is(err, io.EOF) {
			if half, ok := to.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
				return
			}
		}
		if err != nil {
			break
		}
	}
	_ = to.Close()
	_ = from.Close()
}

// send passes one chunk on, with a fault in each fiftieth, of one kind after the other. It returns false if the connection is cut.
func (p *proxy) send(to net.Conn, chunk []byte) bool {
	write := func(b []byte) bool {
		_, err := to.Write(b)
		return err == nil
	}
	const every = 50
	number := p.chunks.Add(1)
	if p.calm.Load() || number%every != 1 { // the first one, too
		return write(chunk)
	}
	kinds := changed
	if p.tampers {
		kinds = faultKinds
	}
	kind := fault(number / every % int64(kinds))
	p.faults[kind].Add(1)
	random := rand.New(rand.NewPCG(uint64(number), 0))
	at := random.IntN(len(chunk))
	switch kind {
	case delayed:
		time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
	case stalled:
		time.Sleep(time.Duration(random.IntN(5000)) * time.Millisecond)
	case trickled:
		for ; at > 0 && len(chunk) > 1; at-- {
			if !write(chunk[:1]) {
				return false
			}
			chunk = chunk[1:]
		}
	case cutAfter:
		return write(chunk) && false
	case cutWithin:
		return write(chunk[:at]) && false
	case changed:
		chunk[at] ^= byte(1 + random.IntN(255))
	case repeated:
		return write(chunk) && write(chunk[at:])
	case omitted:
		chunk = chunk[at:]
	case faultKinds:
	}
	return write(chunk)
}
