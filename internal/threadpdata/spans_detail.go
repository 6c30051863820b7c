// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// detail writes what only few intervals have: the spans of the application that were current on the thread, and on the owner of the lock
// that it waited for, where that one was, and the time on a processor.
func (e *Emitter) detail(iv *jvmthread.Interval, s ptrace.Span) {
	d := e.window.Detail(*iv)
	if d.IsZero() {
		return
	}
	a := s.Attributes()
	putContext(a, attrContextTraceID, attrContextSpanID, d.Span)
	putContext(a, attrOwnerTraceID, attrOwnerSpanID, d.OwnerSpan)
	linkToApplication(s, "context", d.Span)
	linkToApplication(s, "owner_context", d.OwnerSpan)
	if d.OwnerStack != jvmthread.NoStack {
		a.PutStr(attrOwnerFunction, e.place(d.OwnerStack).Function)
		a.PutStr(attrOwnerStacktrace, e.sym.Stack(d.OwnerStack))
	}
	if d.HasCPU && iv.State == jvmthread.StateRunnable {
		a.PutInt(attrCPUTime, d.CPU)
	}
}

// linkToApplication writes a link to a span that the application sent by itself.
func linkToApplication(s ptrace.Span, kind string, c jvmthread.SpanContext) {
	if c.IsZero() {
		return
	}
	l := s.Links().AppendEmpty()
	l.SetTraceID(pcommon.TraceID(c.TraceID))
	l.SetSpanID(pcommon.SpanID(c.SpanID))
	l.Attributes().PutStr(attrLinkKind, kind)
}
