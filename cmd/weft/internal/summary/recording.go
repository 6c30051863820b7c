// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	windows "github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// player adds up the traces of a recording's windows.
type player struct {
	collection *collection
	session    *replay.Session
	emitter    *threadpdata.Emitter
}

// spansPerWindow is the default of the thread_span processor. Sums include the intervals without a span.
const spansPerWindow = 2000

// Session implements [replay.Sink].
func (p *player) Session(s *replay.Session) {
	p.session = s
	p.emitter = threadpdata.NewEmitter(s.ID, s.Symbols, s.Engine.Waits())
	p.collection.sum.Recordings = append(p.collection.sum.Recordings, Recording{Format: s.Format, Thresholds: s.Thresholds})
}

// Window implements [replay.Sink].
func (p *player) Window(w *windows.Window) {
	w.Select(spansPerWindow, 0)
	traces := ptrace.NewTraces()
	rs := traces.ResourceSpans().AppendEmpty()
	threadpdata.FillResource(rs.Resource(), p.session.ID, p.session.PID, p.session.Attributes)
	p.emitter.Append(w, nil, rs.ScopeSpans().AppendEmpty().Spans())
	p.collection.add(traces)
}

// Aggregate implements [replay.Sink].
func (p *player) Aggregate(a *jvmthread.Aggregate) {
	p.collection.addAggregate(a, p.session.Symbols, p.session.Engine.Waits(), &p.session.Session)
}

// Close implements [replay.Sink].
func (*player) Close() {}
