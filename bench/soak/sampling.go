// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/weft-otel/weft/bench/proc"
)

// sampling follows the memory of a process.
type sampling struct {
	stop    context.CancelFunc
	sampler sync.WaitGroup

	mu      sync.Mutex
	samples []sample
}

// sample is the memory of a process at a time.
type sample struct {
	at  time.Time
	rss int64
}

// begin samples until finish.
func (s *sampling) begin(ctx context.Context, pid int) {
	ctx, s.stop = context.WithCancel(ctx)
	s.sampler.Go(func() { s.sample(ctx, pid) })
}

// finish ends what begin began.
func (s *sampling) finish() {
	s.stop()
	s.sampler.Wait()
}

func (s *sampling) sample(ctx context.Context, pid int) {
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case now := <-tick.C:
			if rss, ok := proc.RSS(pid); ok {
				s.mu.Lock()
				s.samples = append(s.samples, sample{now, rss})
				s.mu.Unlock()
			}
		}
	}
}

// peak returns the highest memory so far.
func (s *sampling) peak() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.MaxFunc(s.samples, func(a, b sample) int { return int(a.rss - b.rss) }).rss
}

// mean returns the mean memory between two times.
func (s *sampling) mean(from, to time.Time) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum, n int64
	for _, one := range s.samples {
		if !one.at.Before(from) && one.at.Before(to) {
			sum += one.rss
			n++
		}
	}
	return sum / max(1, n)
}

// growth compares the memory around minute 5 of 30 with that of the end.
func (s *sampling) growth(what string, begin time.Time, lasts time.Duration) row {
	early := s.mean(begin.Add(lasts*9/60), begin.Add(lasts*11/60))
	late := s.mean(begin.Add(lasts*57/60), begin.Add(lasts*59/60))
	percent := 100 * float64(late-early) / float64(max(1, early))
	return row{what + ": growth of the RSS after the first sixth", "≤ 10 %", fmt.Sprintf("%.1f %% (%d to %d MB)", percent, early>>20, late>>20), percent <= 10}
}
