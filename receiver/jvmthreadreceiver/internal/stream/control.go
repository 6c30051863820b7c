// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/internal/wire"
)

// answerTime limits the wait for an agent's answer if the caller sets no deadline. The agent first sends the events it has buffered.
const answerTime = 10 * time.Second

// maxPending limits the unanswered requests to one agent.
const maxPending = 16

// controls sends control requests over one connection and matches the agent's answers. It implements agentcontrolextension.Agent.
type controls struct {
	write func(frame []byte) error

	mu      sync.Mutex
	last    uint32
	pending map[uint32]chan<- wire.Status // nil: the connection has ended
	initial uint32                        // the receiver's own request, sent at connect; 0: none
	closed  chan struct{}
}

func newControls(write func(frame []byte) error) *controls {
	return &controls{write: write, pending: make(map[uint32]chan<- wire.Status), closed: make(chan struct{})}
}

// Control implements agentcontrolextension.Agent.
func (c *controls) Control(ctx context.Context, options map[string]string) (map[string]string, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, answerTime)
		defer cancel()
	}
	answer := make(chan wire.Status, 1)
	id, err := c.add(answer)
	if err != nil {
		return nil, err
	}
	defer c.drop(id)
	if err := c.send(id, options); err != nil {
		return nil, err
	}
	select {
	case status := <-answer:
		if status.Error != "" {
			return nil, &agentcontrolextension.AgentError{Message: status.Error}
		}
		current := make(map[string]string, len(status.Options))
		for _, o := range status.Options {
			current[o.Key] = o.Value
		}
		return current, nil
	case <-c.closed:
		return nil, agentcontrolextension.ErrDisconnected
	case <-ctx.Done():
		return nil, fmt.Errorf("the agent has not answered: %w", ctx.Err())
	}
}

// start sends the options for each agent that connects, without waiting for the answer.
func (c *controls) start(options map[string]string) error {
	if len(options) == 0 {
		return nil
	}
	id, err := c.add(nil)
	if err != nil {
		return err
	}
	c.initial = id
	return c.send(id, options)
}

func (c *controls) send(id uint32, options map[string]string) error {
	control := wire.Control{ID: id}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		control.Options = append(control.Options, wire.Attribute{Key: key, Value: options[key]})
	}
	frame := wire.AppendControl(nil, &control)
	if size := len(frame) - wire.FrameHeaderSize; size > wire.MaxControl {
		return fmt.Errorf("options take %d bytes; use at most %d", size, wire.MaxControl)
	}
	return c.write(frame)
}

// answer passes an agent's answer to its waiter. It returns the error if the agent rejected the options sent by start.
func (c *controls) answer(status *wire.Status) (rejected string) {
	c.mu.Lock()
	waiter := c.pending[status.ID]
	delete(c.pending, status.ID)
	c.mu.Unlock()
	switch {
	case waiter != nil:
		waiter <- wire.Status{ID: status.ID, Error: status.Error, Options: slices.Clone(status.Options)}
	case status.ID != 0 && status.ID == c.initial:
		return status.Error
	}
	return ""
}

// add returns the ID of a new request.
func (c *controls) add(answer chan<- wire.Status) (uint32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending == nil {
		return 0, agentcontrolextension.ErrDisconnected
	}
	if len(c.pending) >= maxPending {
		return 0, fmt.Errorf("%d requests are unanswered; wait for their answers", len(c.pending))
	}
	c.last = max(c.last+1, 1)
	c.pending[c.last] = answer
	return c.last, nil
}

func (c *controls) drop(id uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

// close fails all pending requests.
func (c *controls) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending != nil {
		c.pending = nil
		close(c.closed)
	}
}
