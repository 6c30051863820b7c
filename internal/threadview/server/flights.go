// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"
	"sync"

	"github.com/weft-otel/weft/internal/failure"
)

// recentBytes bounds the answers that are remembered. An answer has at most maxAnswer.
const recentBytes = 4 << 20

// flights lets equal requests share one computation: pages that follow a session ask the same at the same time. It remembers the last answers.
// A key contains the version of the session, so an answer never becomes wrong.
type flights struct {
	log func(message string, err error)

	mu      sync.Mutex
	running map[string]*flight
	recent  []*flight // with answers, the oldest first
	bytes   int       // of them
}

// flight is one computation.
type flight struct {
	key     string
	waiting int // requests; the last one that leaves cancels the computation
	cancel  context.CancelFunc
	done    chan struct{} // closed at the end; what follows is constant then
	body    []byte
	problem *Problem
}

func (f *flight) size() int { return len(f.key) + len(f.body) }

// do returns what compute returns, from a computation for an equal request if there is one. The computation is not cancelled as long as one of
// the requests waits for it.
func (fs *flights) do(ctx context.Context, key string, compute func(context.Context) ([]byte, *Problem)) ([]byte, *Problem) {
	f := fs.join(ctx, key, compute)
	select {
	case <-f.done:
		return f.body, f.problem
	case <-ctx.Done():
		fs.leave(f)
		return nil, problem(http.StatusServiceUnavailable, "the request was cancelled")
	}
}

func (fs *flights) join(ctx context.Context, key string, compute func(context.Context) ([]byte, *Problem)) *flight {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.recent {
		if f.key == key {
			return f
		}
	}
	if f := fs.running[key]; f != nil {
		f.waiting++
		return f
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{key: key, waiting: 1, cancel: cancel, done: make(chan struct{})}
	if fs.running == nil {
		fs.running = make(map[string]*flight)
	}
	fs.running[key] = f
	go fs.run(own, f, compute)
	return f
}

func (fs *flights) run(ctx context.Context, f *flight, compute func(context.Context) ([]byte, *Problem)) {
	defer fs.land(f)
	if p := failure.Contain(func() { f.body, f.problem = compute(ctx) }); p != nil { // as in an HTTP server, it costs one response
		f.body, f.problem = nil, defect(fs.log, p)
	}
}

// land ends a computation and remembers its answer.
func (fs *flights) land(f *flight) {
	f.cancel()
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.running[f.key] == f {
		delete(fs.running, f.key)
		if f.problem == nil {
			fs.recent = append(fs.recent, f)
			fs.bytes += f.size()
		}
	}
	for fs.bytes > recentBytes {
		fs.bytes -= fs.recent[0].size()
		fs.recent[0] = nil
		fs.recent = fs.recent[1:]
	}
	close(f.done)
}

// leave cancels a computation for which no request waits.
func (fs *flights) leave(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.waiting--; f.waiting == 0 && fs.running[f.key] == f {
		delete(fs.running, f.key)
		f.cancel()
	}
}
