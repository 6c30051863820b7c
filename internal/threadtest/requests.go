// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"fmt"
	"strings"

	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Report formats what a Tracker of requests reports, as in goldens.
func (h *History) Report(r *requests.Report) string {
	var b strings.Builder
	for i := range r.Waits {
		w := &r.Waits[i]
		fmt.Fprintf(&b, "%s waits %d..%d", h.SpanName(w.Detail.Span), w.Start, w.End)
		if w.Count > 1 {
			fmt.Fprintf(&b, " (%d waits of %d)", w.Count, w.Time)
		}
		fmt.Fprintf(&b, ": %s\n", h.Interval(w.Interval))
		for _, o := range w.Holders {
			fmt.Fprintf(&b, "    %s %s %d %s\n", h.threadName(o.Thread), h.SpanName(o.Span), o.Time, o.Doing.State)
		}
		for _, ia := range w.Causes {
			fmt.Fprintf(&b, "    %s\n", h.Interaction(ia))
		}
	}
	for i := range r.Holds {
		d := &r.Holds[i]
		fmt.Fprintf(&b, "%s held %d..%d of %s: %d threads waited %d, %d requests%s\n", h.SpanName(d.Span), d.Start, d.End, h.Hold(d.Hold),
			d.Threads, d.Caused, d.Requests, h.spanNames(d.Waiters))
	}
	for i := range r.Ends {
		e := &r.Ends[i]
		fmt.Fprintf(&b, "%s on %s %d..%d: running %d", h.SpanName(e.Span), h.threadName(e.Thread), e.Start, e.End, e.Running())
		for kind, sum := range e.Waits {
			if sum.Count > 0 {
				fmt.Fprintf(&b, ", %d %s %d", sum.Count, jvmthread.Wait(kind), sum.Time)
			}
		}
		b.WriteString("\n")
		for _, l := range e.Lost {
			fmt.Fprintf(&b, "    %d in %d waits such as %s\n", l.Time, l.Count, h.Interval(l.Longest))
		}
	}
	if r.Dropped > 0 {
		fmt.Fprintf(&b, "%d dropped\n", r.Dropped)
	}
	return b.String()
}

func (h *History) spanNames(list []jvmthread.SpanContext) string {
	var b strings.Builder
	for _, c := range list {
		b.WriteString(" " + h.SpanName(c))
	}
	return b.String()
}
