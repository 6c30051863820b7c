// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/internal/wire"
)

// answerTime bounds the wait for an agent's answer if the caller gives no deadline. It comes behind what the agent has to send anyway.
const answerTime = 10 * time.Second

// maxAsked bounds the requests to one agent that are not answered yet.
const maxAsked = 16

// requests is what an agent is asked over one connection.
type requests struct {
	mu     sync.Mutex
	last   uint32
	asked  map[uint32]chan<- wire.Status // nil: the connection is over
	own    uint32                        // the receiver's own request, whose answer goes to the log; 0: none
	closed chan struct{}
}

func newRequests() *requests {
	return &requests{asked: make(map[uint32]chan<- wire.Status), closed: make(chan struct{})}
}

// Control implements agentcontrolextension.Agent.
func (c *connection) Control(ctx context.Context, options map[string]string) (agentcontrolextension.Status, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, answerTime)
		defer cancel()
	}
	answer := make(chan wire.Status, 1)
	id, err := c.requests.add(answer)
	if err != nil {
		return agentcontrolextension.Status{}, err
	}
	defer c.requests.drop(id)
	if err := c.ask(id, options); err != nil {
		return agentcontrolextension.Status{}, err
	}
	select {
	case status := <-answer:
		if status.Error != "" {
			return agentcontrolextension.Status{}, &agentcontrolextension.AgentError{Message: status.Error}
		}
		return agentcontrolextension.Status{Options: optionsOf(status.Options)}, nil
	case <-c.requests.closed:
		return agentcontrolextension.Status{}, agentcontrolextension.ErrDisconnected
	case <-ctx.Done():
		return agentcontrolextension.Status{}, fmt.Errorf("the agent has not answered: %w", ctx.Err())
	}
}

// askAtConnect sends what the configuration says, and asks for a snapshot if the agent has told of its threads' states before, to somebody
// else. The answer goes to the log.
func (c *connection) askAtConnect(s *session) error {
	options := maps.Clone(c.receiver.agentOptions)
	if s.late {
		s.late = false
		if options == nil {
			options = make(map[string]string, 1)
		}
		options["snapshot"] = "now"
	}
	if len(options) == 0 {
		return nil
	}
	id, err := c.requests.add(nil)
	if err != nil {
		return err
	}
	c.requests.own = id
	return c.ask(id, options)
}

// ask sends a control frame.
func (c *connection) ask(id uint32, options map[string]string) error {
	control := wire.Control{ID: id}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		control.Options = append(control.Options, wire.Attribute{Key: key, Value: options[key]})
	}
	frame := wire.AppendControl(nil, &control)
	if size := len(frame) - wire.FrameHeaderSize; size > wire.MaxControl {
		return fmt.Errorf("the options take %d bytes; give at most %d", size, wire.MaxControl)
	}
	return c.write(frame)
}

// answered takes an agent's answer to whoever waits for it.
func (c *connection) answered(s *session, status *wire.Status) {
	own, answer := c.requests.take(status.ID)
	switch {
	case answer != nil:
		answer <- wire.Status{ID: status.ID, Error: status.Error, Options: slices.Clone(status.Options)}
	case own && status.Error != "":
		c.receiver.log.Warn("An agent refuses agent_options, or the snapshot for a late receiver",
			zap.Stringer("session", s.id), zap.String("service", s.service()), zap.String("error", status.Error))
	}
}

// add returns the id of a new request.
func (r *requests) add(answer chan<- wire.Status) (uint32, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil {
		return 0, agentcontrolextension.ErrDisconnected
	}
	if len(r.asked) >= maxAsked {
		return 0, fmt.Errorf("%d requests are not answered yet; wait for them", len(r.asked))
	}
	r.last = max(r.last+1, 1)
	r.asked[r.last] = answer
	return r.last, nil
}

func (r *requests) drop(id uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.asked, id)
}

// take returns who waits for an answer, nil if nobody does.
func (r *requests) take(id uint32) (own bool, answer chan<- wire.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer = r.asked[id]
	delete(r.asked, id)
	return id != 0 && id == r.own, answer
}

// close ends all requests.
func (r *requests) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked != nil {
		r.asked = nil
		close(r.closed)
	}
}

func optionsOf(list []wire.Attribute) map[string]string {
	options := make(map[string]string, len(list))
	for _, o := range list {
		options[o.Key] = o.Value
	}
	return options
}
