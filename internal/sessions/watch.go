// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"time"

	"github.com/weft-otel/weft/internal/engine/window"
)

// tick is how often sessions are checked.
const tick = time.Second

// watch checks the sessions until ctx ends.
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

// check gives up batches that have been missing for too long, and ends sessions that have been silent for too long. If such a session
// continues later, it is a new one here, joined in the middle.
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
