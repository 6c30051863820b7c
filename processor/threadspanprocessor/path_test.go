// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// The lane shows the path of the configured threads and counts towards the budget.
func TestCriticalPath(t *testing.T) {
	for _, tt := range []struct {
		path sessions.PathOptions
		max  int
		want []string
	}{
		{
			sessions.PathOptions{Mode: sessions.PathBounded},
			0,
			[]string{"threads", "critical path", "critical path: sleep", "critical path: runnable", "thread", "unknown", "sleep", "runnable"},
		},
		{sessions.PathOptions{Mode: sessions.PathBounded, Thread: "^http-"}, 0, []string{"threads", "thread", "unknown", "sleep", "runnable"}},
		{sessions.PathOptions{Mode: sessions.PathBounded, Thread: "work"}, 6, []string{"threads", "critical path", "critical path: sleep", "thread", "sleep", "runnable"}},
		{
			sessions.PathOptions{Mode: sessions.PathUnbounded},
			0,
			[]string{"threads", "critical path", "critical path: sleep", "critical path: runnable", "thread", "unknown", "sleep", "runnable"},
		},
	} {
		p := start(t, func(c *Config) { c.Sessions.CriticalPath, c.Sessions.MaxSpansPerWindow = tt.path, tt.max }, nil)
		require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, threadpdata.EndExit, 1)))
		assert.Equal(t, tt.want, names(p.sink.AllTraces()), "%+v", tt.path)
		p.stop(t)
	}
}

// Savings and slacks are computed unless they are switched off.
func TestWhatIf(t *testing.T) {
	for _, on := range []bool{true, false} {
		p := start(t, func(c *Config) {
			c.Sessions.CriticalPath = sessions.PathOptions{Mode: sessions.PathBounded, WhatIf: on}
		}, nil)
		request := (&caseReader{t: t, sessions: make(map[byte]*caseSession)}).read(`
session 1 batch 1 end=exit
0       main   threadStart
0       worker threadStart
10000   worker contendedEnter lock=com.acme.OrderBook owner=main
25000   worker contendedEntered lock=com.acme.OrderBook
40000   worker threadEnd
`)
		require.NoError(t, p.ConsumeTraces(t.Context(), request.traces))
		found := make(map[string]int64)
		add := func(a pcommon.Map) {
			for _, key := range []string{"weft.what_if.saved", "weft.what_if.bound", "weft.critical_path.slack"} {
				if v, ok := a.Get(key); ok {
					found[key] = v.Int()
				}
			}
		}
		eachSpan(p.sink.AllTraces()[0], func(_ string, s ptrace.Span) {
			add(s.Attributes())
			for _, ev := range s.Events().All() {
				add(ev.Attributes())
			}
		})
		want := map[string]int64{"weft.what_if.saved": 15000, "weft.what_if.bound": 15000, "weft.critical_path.slack": 0}
		if !on {
			want = map[string]int64{}
		}
		assert.Equal(t, want, found)
		p.stop(t)
	}
}
