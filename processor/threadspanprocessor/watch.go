// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"context"
	"time"

	"github.com/weft-otel/weft/internal/window"
)

// watch looks after the sessions of which nothing comes, until ctx ends.
func (p *threadSpan) watch(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			p.check(ctx, now)
		}
	}
}

func (p *threadSpan) check(ctx context.Context, now time.Time) {
	p.mu.Lock()
	all := make([]*session, 0, len(p.sessions))
	for _, s := range p.sessions {
		all = append(all, s)
	}
	p.mu.Unlock()
	for _, s := range all {
		windows, silent, end := s.check(now)
		p.send(ctx, windows)
		switch {
		case end != "":
			p.drop(ctx, s, end)
		case silent:
			p.expire(ctx, s)
		}
	}
}

// expire ends a session that was silent for session_timeout. If it speaks again it is a new one here, joined in its middle.
func (p *threadSpan) expire(ctx context.Context, s *session) {
	p.mu.Lock()
	if p.sessions[s.id] != s {
		p.mu.Unlock()
		return
	}
	delete(p.sessions, s.id)
	p.mu.Unlock()
	p.telemetry.ProcessorThreadSpanSessions.Add(ctx, -1)
	p.send(ctx, s.close(window.CutLost))
}
