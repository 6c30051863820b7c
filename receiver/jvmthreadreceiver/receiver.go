// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"

	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/internal/entrance"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/file"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/stream"
)

// threadReceiver runs the stream server and the file reader.
type threadReceiver struct {
	id    component.ID
	cfg   *Config
	out   *outlet.Outlet
	files *file.Reader // nil: none are read

	finished chan struct{} // closed once the files have been read, unless they are followed

	cancel context.CancelFunc // nil: not running
	wg     sync.WaitGroup
}

func newThreadReceiver(set receiver.Settings, cfg *Config, next consumer.Traces) (*threadReceiver, error) {
	out, err := outlet.New(set, cfg.Protocols.Stream.Transport(), next)
	if err != nil {
		return nil, err
	}
	r := &threadReceiver{id: set.ID, cfg: cfg, out: out, finished: make(chan struct{})}
	if cfg.Protocols.File.HasValue() {
		r.files = file.New(cfg.Protocols.File.Get(), r.out)
	}
	return r, nil
}

// Start opens the listener and begins to read files.
func (r *threadReceiver) Start(ctx context.Context, host component.Host) error {
	keys, err := r.cfg.Carriers.Load()
	if err != nil {
		return err
	}
	r.out.Keys = keys
	server := stream.Settings{Config: &r.cfg.Protocols.Stream, Out: r.out, AgentOptions: r.cfg.AgentOptions, Entrance: entrance.Process}
	if r.cfg.RemoteControl {
		if server.Agents, err = agentcontrolextension.Find(host, r.cfg.AgentControl); err != nil {
			return fmt.Errorf("remote_control: %w", err)
		}
	}
	if auth := &r.cfg.Protocols.Stream.Auth; auth.HasValue() && !r.cfg.filesOnly {
		if server.Auth, err = auth.Get().GetServerAuthenticator(ctx, host.GetExtensions()); err != nil {
			return fmt.Errorf("protocols::stream::auth: %w; configure one such as bearertokenauth under extensions and add it to service::extensions", err)
		}
	}
	if r.files != nil {
		if err := r.files.OpenStorage(ctx, host, r.id); err != nil {
			return err
		}
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if !r.cfg.filesOnly {
		listening, err := stream.Listen(ctx, server)
		if err != nil {
			cancel()
			return errors.Join(err, r.closeStorage(ctx))
		}
		r.wg.Go(func() { listening.Serve(running) })
	}
	if r.files != nil {
		r.wg.Go(func() {
			defer close(r.finished)
			r.files.Run(running)
		})
	}
	r.cancel = cancel
	return nil
}

// Finished is closed once all files that are not followed have been read. The command weft, which embeds the receiver, waits for it.
func (r *threadReceiver) Finished() <-chan struct{} { return r.finished }

// Shutdown closes the listener, all connections and files. It does not end sessions.
func (r *threadReceiver) Shutdown(ctx context.Context) error {
	if r.cancel == nil {
		return nil
	}
	r.cancel()
	r.cancel = nil
	done := make(chan struct{})
	go func() {
		r.wg.Wait()
		close(done)
	}()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = fmt.Errorf("the next component still holds a batch: %w", ctx.Err())
	}
	err = errors.Join(err, r.closeStorage(ctx))
	r.out.Telemetry.Shutdown()
	return err
}

func (r *threadReceiver) closeStorage(ctx context.Context) error {
	if r.files == nil {
		return nil
	}
	return r.files.CloseStorage(ctx)
}
