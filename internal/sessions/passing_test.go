// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/sessions"
)

// streaming is a Follower that delivers a part of each window before the window is over, and the rest later.
type streaming struct {
	*sessions.Session
	gate     <-chan struct{}
	parts    chan<- jvmthread.SessionID
	rests    chan<- jvmthread.SessionID
	finished int
}

func (s *streaming) Window(w *window.Window) {
	s.Select(w)
	s.Pass(1000)
	s.Deliver(func(context.Context) {
		s.parts <- s.ID
		<-s.gate
		s.Pass(-1000)
	})
	s.finished++
}
func (*streaming) Advanced()         {}
func (*streaming) Closed(window.Cut) {}

func (s *streaming) Take() sessions.Delivery {
	if s.finished == 0 {
		return nil
	}
	s.finished = 0
	return func(context.Context) { s.rests <- s.ID }
}

// While parts of windows wait for the next consumer, other sessions are processed, have critical paths, and can be asked. Nothing else of the
// session is delivered meanwhile.
func TestPartsOfWindowsDelayNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 10 // more than there are CPUs
		gate, parts, rests := make(chan struct{}), make(chan jvmthread.SessionID, 100), make(chan jvmthread.SessionID, 100)
		options := sessions.DefaultOptions()
		options.Window = 10 * time.Microsecond
		held := new(gauge)
		a := sessions.NewAnalyzer(options, zap.NewNop())
		metrics := unmeasured()
		metrics.Held = upDown{gauge: held}
		asked := 0
		m := a.Join(sessions.MemberSettings{Metrics: metrics, Follow: func(s *sessions.Session) sessions.Follower {
			return &streaming{Session: s, gate: gate, parts: parts, rests: rests}
		}})
		for id := range byte(count) {
			for batch := range uint64(12) { // a window ends with the 10th
				require.NoError(t, m.Consume(t.Context(), of(id+1, carrier(batch+1, ""))))
			}
		}
		require.NoError(t, m.Consume(t.Context(), of(99, carrier(1, ""))))
		synctest.Wait()
		assert.Len(t, parts, count, "all wait for the next consumer")
		assert.Empty(t, rests)
		assert.GreaterOrEqual(t, held.now.Load(), int64(count*1000))
		m.Each(t.Context(), func(sessions.Follower) { asked++ })
		assert.Equal(t, 1, asked, "those that are not in the middle of a window")
		time.Sleep(5 * time.Minute) // in the synctest bubble
		assert.Empty(t, rests)
		close(gate)
		m.Shutdown(t.Context())
		assert.Len(t, rests, len(parts))
		assert.Zero(t, held.now.Load())
	})
}

// lingering is a Follower whose last delivery waits.
type lingering struct {
	*sessions.Session
	gate <-chan struct{}
	last chan<- jvmthread.SessionID
	over bool
}

func (*lingering) Window(*window.Window) {}
func (*lingering) Advanced()             {}
func (s *lingering) Closed(window.Cut)   { s.over = true }

func (s *lingering) Take() sessions.Delivery {
	if !s.over {
		return nil
	}
	return func(context.Context) {
		s.last <- s.ID
		<-s.gate
	}
}

// Sessions that have been silent for too long end, although the next consumer takes nothing of what another one left.
func TestSilentSessionsEndWhileTheNextConsumerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 10
		gate, last := make(chan struct{}), make(chan jvmthread.SessionID, 100)
		a := sessions.NewAnalyzer(sessions.DefaultOptions(), zap.NewNop())
		m := join(a, 0, func(s *sessions.Session) sessions.Follower { return &lingering{Session: s, gate: gate, last: last} })
		for id := range byte(count) {
			require.NoError(t, m.Consume(t.Context(), of(id+1, carrier(1, ""))))
		}
		time.Sleep(sessions.DefaultOptions().SessionTimeout + 2*time.Second) // in the synctest bubble
		synctest.Wait()
		assert.Len(t, last, count)
		require.NoError(t, m.Consume(t.Context(), of(99, carrier(1, ""))))
		time.Sleep(sessions.DefaultOptions().SessionTimeout + 2*time.Second)
		synctest.Wait()
		assert.Len(t, last, count+1)
		close(gate)
		m.Shutdown(t.Context())
	})
}
