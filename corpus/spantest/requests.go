// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package spantest

import (
	"cmp"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// SlowRequest is how long a request takes that somebody looks at.
const SlowRequest = 100 * time.Millisecond

// Request is a span of the application.
type Request struct {
	Trace string `json:"trace"`
	Span  string `json:"span"`
}

// Hold is an acquisition as the program measured it, or a whole request; times are nanoseconds since 1970.
type Hold struct {
	Request

	Of       string `json:"of"`
	Thread   string `json:"thread"`
	Called   int64  `json:"called"`
	Acquired int64  `json:"acquired"`
	Released int64  `json:"released"`
	Busy     int64  `json:"busy"` // of the time between Called and Acquired: for how long the thread ran or lacked a processor; 0 for a virtual one
}

// Served is what a program with OpenTelemetry's SDK exported, what Weft added to its traces, and what the program measured.
type Served struct {
	Own   map[ID]*Span     // of the program
	Slow  map[string]*Span // of these, the slow requests by trace
	Added []*Span          // Weft's, in these traces
	Waits map[string][]*Span
	Holds map[string][]Hold // by trace
	Of    map[string][]Hold // by what was held
}

// NewServed looks at the spans of a service.
func NewServed(o *Output, service string, holds []Hold) *Served {
	r := &Served{Own: map[ID]*Span{}, Slow: map[string]*Span{}, Waits: map[string][]*Span{}, Holds: map[string][]Hold{}, Of: map[string][]Hold{}}
	traces := map[pcommon.TraceID]bool{}
	for _, s := range o.Of(service, func(s *Span) bool { return s.Session == "" }) {
		r.Own[s.ID()] = s
		traces[s.TraceID()] = true
		if s.IsRoot() && s.Name() != "restock" && time.Duration(s.EndTimestamp()-s.StartTimestamp()) > SlowRequest {
			r.Slow[s.TraceID().String()] = s
		}
	}
	for _, s := range o.Requests {
		if s.Service != service || !traces[s.TraceID()] {
			continue
		}
		r.Added = append(r.Added, s)
		if s.Has("weft.wait.time") {
			r.Waits[s.TraceID().String()] = append(r.Waits[s.TraceID().String()], s)
		}
	}
	for _, waits := range r.Waits {
		slices.SortFunc(waits, func(a, b *Span) int { return cmp.Compare(a.Begin(), b.Begin()) })
	}
	for _, h := range holds {
		r.Holds[h.Trace] = append(r.Holds[h.Trace], h)
		r.Of[h.Of] = append(r.Of[h.Of], h)
	}
	for _, of := range r.Of {
		slices.SortFunc(of, func(a, b Hold) int { return cmp.Compare(a.Acquired, b.Acquired) })
	}
	return r
}
