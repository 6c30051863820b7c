// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/weft-otel/weft/bench/load"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// inFlight is how many batches or requests are sent before the first of them is acknowledged.
const inFlight = 8

// jvm is a simulated JVM. Its frames are complete before the measurement begins.
type jvm struct {
	shape   load.Shape
	batches []load.Batch
	paced   bool // the batches are sent when the agent would send them, otherwise as fast as they are acknowledged
}

// send sends the load over a connection of its own to the socket, and returns when the collector has acknowledged everything and closed
// the session.
func (j *jvm) send(ctx context.Context, socket string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // everything was acknowledged
	run := load.NewRun("orders")
	if _, err := conn.Write(j.shape.Hello(&run, 0)); err != nil {
		return err
	}
	acks := &acks{reader: wire.NewReader(conn, wire.MaxControl)}
	for i := range j.batches {
		if j.paced {
			time.Sleep(time.Until(run.Began.Add(j.batches[i].At)))
		}
		if _, err := conn.Write(j.batches[i].Frame); err != nil {
			return errors.Join(err, acks.wait(uint64(i+1)))
		}
		if i+1 >= inFlight {
			if err := acks.wait(uint64(i + 1 - inFlight + 1)); err != nil {
				return err
			}
		}
	}
	if err := acks.wait(uint64(len(j.batches))); err != nil {
		return err
	}
	last := load.Beginning + jvmthread.Time(len(j.batches))*jvmthread.Time(j.shape.Batch)
	if _, err := conn.Write(wire.AppendEnd(nil, wire.End{Time: last, Reason: wire.EndExit})); err != nil {
		return err
	}
	if err := conn.(*net.UnixConn).CloseWrite(); err != nil {
		return err
	}
	for err == nil {
		_, err = acks.reader.Next()
	}
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("at the end of the session: %w", err)
	}
	return nil
}

// acks reads the receiver's side of a connection.
type acks struct {
	reader *wire.Reader
	acked  uint64
}

// wait returns when a batch has been acknowledged.
func (a *acks) wait(number uint64) error {
	for a.acked < number {
		frame, err := a.reader.Next()
		if err != nil {
			return fmt.Errorf("waiting for batch %d: %w", number, err)
		}
		switch frame.Kind {
		case wire.FrameAck:
			if a.acked, err = frame.Ack(); err != nil {
				return err
			}
		case wire.FrameRefuse:
			refuse, err := frame.Refuse()
			return errors.Join(fmt.Errorf("refused: %s", refuse.Message), err)
		default: // the welcome
		}
	}
	return nil
}
