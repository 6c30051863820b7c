// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// topic is a partition of Kafka, whose reader begins after a restart where it was some time before.
type topic struct {
	mu        sync.Mutex
	records   []ptrace.Traces
	committed int // records that need not be read again
}

// append implements a producer.
func (k *topic) append(_ context.Context, td ptrace.Traces) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.records = append(k.records, td)
	return nil
}

func (k *topic) at(i int) (ptrace.Traces, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i >= len(k.records) {
		return ptrace.Traces{}, false
	}
	td := ptrace.NewTraces()
	k.records[i].CopyTo(td)
	return td, true
}

// lag returns how many records have not been read.
func (k *topic) lag() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.records) - k.committed
}

func (k *topic) commit(read int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.committed = read
}

// poll is not part of other intervals: what happens at the same time happens in any order, and a seed would differ from run to run.
const poll = 49*time.Millisecond + 997

// read passes one record after the other to a life, and commits each second what was processed.
func (k *topic) read(l *life) {
	ctx, cancel := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	k.mu.Lock()
	next := k.committed
	k.mu.Unlock()
	reading.Go(func() {
		for committed := time.Now(); ctx.Err() == nil; {
			td, ok := k.at(next)
			if ok {
				l.cross()
				ok = l.take(ctx, td) == nil
				l.cross()
			}
			if ok {
				next++
			}
			if time.Since(committed) >= time.Second && !l.isDead() {
				k.commit(next)
				committed = time.Now()
			}
			if !ok {
				pause(ctx, poll)
			}
		}
		if !l.isDead() {
			k.commit(next)
		}
	})
	l.stops = append([]func(context.Context) error{func(context.Context) error {
		cancel()
		reading.Wait()
		return nil
	}}, l.stops...)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
