// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// recorder is a Follower that writes down what it gets.
type recorder struct {
	*sessions.Session
	name    string
	log     *[]string
	pending []string
}

func (r *recorder) Window(w *window.Window) {
	r.Select(w)
	r.pending = append(r.pending, fmt.Sprint(r.name, " ", (w.End-w.Start)/1000, " ", w.Events))
}
func (*recorder) Advanced()             {}
func (r *recorder) Closed(w window.Cut) { *r.log = append(*r.log, r.name+" "+string(w)) }

func (r *recorder) Take() sessions.Delivery {
	out := r.pending
	r.pending = nil
	if len(out) == 0 {
		return nil
	}
	return func(context.Context) { *r.log = append(*r.log, out...) }
}

// shared returns the members of one analyzer, with windows of the given lengths.
func shared(log *[]string, windows ...time.Duration) (out []*sessions.Member) {
	options := sessions.DefaultOptions()
	options.Window, options.AckWithin = 10*time.Microsecond, time.Hour
	a := sessions.NewAnalyzer(options, zap.NewNop())
	for i, length := range windows {
		out = append(out, join(a, length, func(s *sessions.Session) sessions.Follower {
			return &recorder{Session: s, name: string(rune('a' + i)), log: log}
		}))
	}
	return out
}

// Each member gets each window once, whoever brings the carriers, and windows of its own length.
func TestMembersShareSessions(t *testing.T) {
	var log []string
	members := shared(&log, 0, 0, 5*time.Microsecond)
	for batch := range uint64(12) {
		end := ""
		if batch == 11 {
			end = threadpdata.EndExit
		}
		for _, m := range members {
			consume(t, m, carrier(batch+1, end))
		}
	}
	for _, m := range members {
		m.Shutdown(t.Context())
	}
	assert.Equal(t, []string{
		"c 4 4", "a 9 9", "b 9 9", "c 5 5", "a end", "b end", "c end", "a 2 3", "b 2 3", "c 2 3",
	}, log)
}

// The end of a session that is lost has the number of the batch with which the JVM returns. Members do not take one for the other.
func TestMembersShareSessionsThatReturn(t *testing.T) {
	var log []string
	members := shared(&log, 0, 0)
	lost := threadpdata.Carrier{Session: jvmthread.SessionID{0: 1}, Batch: 2, Before: 1, Watermark: 1500, End: threadpdata.EndLost}
	back := threadpdata.Carrier{
		Session: jvmthread.SessionID{0: 1}, Batch: 2, First: 2, Before: 1, Watermark: 2001, End: threadpdata.EndExit,
		Events: []jvmthread.Event{{Kind: jvmthread.KindThreadStart, Thread: 1, Time: 2000}},
	}
	for _, td := range []ptrace.Traces{carrier(1, ""), batchOf(&lost), batchOf(&back)} {
		for _, m := range members {
			require.NoError(t, m.Consume(threadpdata.Direct(t.Context()), td))
		}
	}
	members[0].Shutdown(t.Context())
	assert.Equal(t, []string{"a lost", "b lost", "a 0 1", "b 0 1", "a end", "b end", "a 0 1", "b 0 1"}, log)
}

// Members with windows of one length have one engine, so a window has one verdict and one selection.
func TestMembersShareEngines(t *testing.T) {
	engines := make(map[any]int)
	options := sessions.DefaultOptions()
	options.AckWithin = time.Hour
	a := sessions.NewAnalyzer(options, zap.NewNop())
	var last *sessions.Member
	for _, length := range []time.Duration{0, time.Second, 10 * time.Second} {
		last = join(a, length, func(s *sessions.Session) sessions.Follower {
			engines[s.Engine]++
			return follower{func() {}}
		})
	}
	consume(t, last, carrier(1, ""))
	last.Shutdown(t.Context())
	counts := make(map[int]int)
	for _, n := range engines {
		counts[n]++
	}
	assert.Equal(t, map[int]int{2: 1, 1: 1}, counts)
}

// Each visits the member's own followers.
func TestEachVisitsTheMembersFollowers(t *testing.T) {
	var log []string
	members := shared(&log, 0, 0)
	consume(t, members[0], carrier(1, ""))
	var names []string
	members[1].Each(t.Context(), func(f sessions.Follower) { names = append(names, f.(*recorder).name) })
	assert.Equal(t, []string{"b"}, names)
	members[0].Shutdown(t.Context())
	consume(t, members[1], carrier(2, ""))
	members[1].Each(t.Context(), func(sessions.Follower) { assert.Fail(t, "a session started after the shutdown") })
}
