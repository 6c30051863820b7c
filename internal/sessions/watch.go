// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"time"

	"github.com/weft-otel/weft/internal/engine/window"
)

// tick is how often sessions are looked at that say nothing.
const tick = time.Second

// watch looks after the sessions of which nothing comes, until ctx ends.
func (s *Set[T]) watch(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			s.check(ctx, now)
		}
	}
}

// check gives up what is missing for too long, and ends the sessions that were silent for too long: one that speaks again is a new one here,
// joined in its middle.
func (s *Set[T]) check(ctx context.Context, now time.Time) {
	for _, e := range s.all() {
		out, silent, end := e.check(now)
		s.deliver(ctx, out)
		switch {
		case end != "":
			s.drop(ctx, e, end)
		case silent:
			s.end(ctx, e, window.CutLost)
		}
	}
}
