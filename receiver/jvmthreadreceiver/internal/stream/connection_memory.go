// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
)

const (
	// silence is how long an agent may send nothing before its connection is considered broken. Agents send a frame each second.
	silence = 30 * time.Second
	// preambleTime limits the wait for the first bytes, which agents send at once. A port scanner sends none.
	preambleTime = 2 * time.Second
	// frameTime and frameRate limit the time of a frame from its first byte on. The slowest link that an agent works with has 64 kbit/s.
	frameTime = 10 * time.Second
	frameRate = 8 << 10 // bytes a second
	// patience is how long a frame waits for memory that others use. The agent resends it after it has reconnected.
	patience = 30 * time.Second
	// relief is how often a frame that waits for memory makes another one, that takes too long, end.
	relief = 100 * time.Millisecond
	// retryRoom is how often a frame that waits for memory tries again.
	retryRoom = 5 * time.Millisecond
	// maxHello limits the hello in bytes. Resources of JVMs have about 1 KB, tokens 16 KB at most.
	maxHello = 128 << 10
	// maxAttributes limits the attributes of a hello, which each batch has in its resource. JVMs have about 20.
	maxAttributes = 512
)

var _ wire.Source = (*connection)(nil)

// Await implements wire.Source: it limits the time of a frame.
func (c *connection) Await(payload int) {
	if c.greeted {
		c.setReadDeadline(time.Now().Add(either(c.testTimeout, frameTime) + time.Duration(payload)*time.Second/frameRate))
	}
}

// TryRoom implements wire.Source. The first buffer is a part of perConnection, so small frames never wait.
func (c *connection) TryRoom(from, to int) bool {
	if !c.buffers.Set(beyondFirst(from), beyondFirst(to)) {
		return false
	}
	if beyondFirst(to) > 0 {
		c.frameSince.CompareAndSwap(0, time.Now().UnixNano())
	}
	return true
}

func beyondFirst(size int) int {
	const first = 16 << 10
	return max(0, size-first)
}

// Room implements wire.Source: it waits until there is memory. Meanwhile nothing is read, and the agent buffers its events.
func (c *connection) Room(from, to int) error {
	if c.TryRoom(from, to) {
		return nil
	}
	if beyondFirst(from) == 0 {
		c.frameSince.Store(0) // its end would give nothing to others
	}
	if err := c.waitForRoom(beyondFirst(to) - beyondFirst(from)); err != nil {
		return err
	}
	c.frameSince.Store(time.Now().UnixNano())
	c.Await(c.sessions.Config.MaxFrameSize) // the agent is not to blame for the wait
	return nil
}

func (c *connection) waitForRoom(bytes int) error {
	began := time.Now()
	for relieved := began; !c.buffers.Take(bytes); {
		now := time.Now()
		if now.Sub(relieved) > relief {
			c.sessions.admission.relieve()
			relieved = now
		}
		if now.Sub(began) > patience {
			outlet.Count(c.sessions.Out.Telemetry.ReceiverJvmThreadConnectionsRefused, 1)
			return &refusal{wire.RefuseLimit, fmt.Sprintf("no memory for a frame of %d bytes (protocols::stream::max_buffers_mib)", bytes)}
		}
		if !outlet.Pause(c.ctx, retryRoom) {
			return c.ctx.Err()
		}
	}
	return nil
}

// depart waits for the memory of a batch on its way to the next component. The others that wait or have it need no frames to go on.
//
// A batch is decoded into events, and encoded as a carrier of at most twice the size of its frame.
func (c *connection) depart(frame wire.Frame) error {
	const event = int(unsafe.Sizeof(jvmthread.Event{}))
	bytes := len(frame.Payload)/wire.RecordSize*event + 2*len(frame.Payload)
	for flight := c.sessions.flight; !flight.Take(bytes); {
		if flight.Held() == 0 { // larger than all the memory there is; alone it may pass
			flight.Force(bytes)
			break
		}
		if !outlet.Pause(c.ctx, retryRoom) {
			return c.ctx.Err()
		}
	}
	c.flying = bytes
	return nil
}

// arrive gives back what depart has taken.
func (c *connection) arrive() {
	c.sessions.flight.Give(c.flying)
	c.flying = 0
}
