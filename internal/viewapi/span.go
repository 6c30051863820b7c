// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package viewapi

// SpanPlaces is where a span of a trace is in a session: GET api/sessions/{session}/span. The list is empty if the session does not have it.
type SpanPlaces struct {
	ID     string      `json:"id"`
	Places []SpanPlace `json:"places"` // at most 10, those of the longest time first
}

// SpanPlace is what a span stands for.
type SpanPlace struct {
	// Kind is interval (a span of thread_span in the trace of a window), wait (a span of thread_span in the trace of a request) or request (a span of
	// the application: the time during which it was current on the thread, as far as it is known).
	Kind     string     `json:"kind"`
	Thread   ThreadRef  `json:"thread"`
	From     int64      `json:"from"`
	To       int64      `json:"to"`
	Name     string     `json:"name"`     // of the interval, or of the request; empty: unknown
	Interval *Reference `json:"interval"` // null for a request
}
