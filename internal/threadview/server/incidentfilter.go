// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// incidentFilter reads the parameters that choose incidents by what they consist of.
func (q *query) incidentFilter() func(*store.Incident) bool {
	lock, thread, anything := q.containing("lock"), q.containing("thread"), q.containing("q")
	request := q.containing("request")
	if len(request) > 0 && (len(request) != 32 || strings.Trim(string(request), "0123456789abcdef") != "") {
		q.fail("request", "want a trace ID of 32 hexadecimal digits, got %q", shorten(string(request)))
	}
	has := q.ids("threads")
	_, ids := q.values["threads"]
	byThread, byAny := q.namedThreads(thread), q.namedThreads(anything)
	return func(inc *store.Incident) bool {
		switch {
		case !lock.isObject(inc) || !thread.isThread(inc, byThread) || !request.isRequest(inc):
			return false
		case ids && !slices.ContainsFunc(inc.Cast, func(id jvmthread.ThreadID) bool { return has(uint64(id)) }):
			return false
		}
		return anything.isObject(inc) || anything.isThread(inc, byAny) || anything.isRequest(inc)
	}
}

// needle is a part of a text, in lower case. An empty one is in all.
type needle string

func (q *query) containing(name string) needle { return needle(strings.ToLower(q.text(name))) }

func (p needle) in(text string) bool {
	return p == "" || strings.Contains(strings.ToLower(text), string(p))
}

// isObject reports whether threads waited for an object whose name contains the text.
func (p needle) isObject(inc *store.Incident) bool {
	about := func(one store.IncidentPart) bool { return p.in(one.Object) }
	return p.in(inc.Object) || p.in(inc.Name) || slices.ContainsFunc(inc.Holds, about) || slices.ContainsFunc(inc.Waits, about)
}

// isThread reports whether a thread took needle whose name contains the text. The threads with such a name now are given, if they are known.
func (p needle) isThread(inc *store.Incident, named map[jvmthread.ThreadID]bool) bool {
	by := func(one store.IncidentPart) bool { return p.in(one.Name) }
	return p == "" || slices.ContainsFunc(inc.Holds, by) || slices.ContainsFunc(inc.Waits, by) ||
		slices.ContainsFunc(inc.Cast, func(id jvmthread.ThreadID) bool { return named[id] })
}

// isRequest reports whether the trace ID of a request contains the text.
func (p needle) isRequest(inc *store.Incident) bool {
	return p == "" || slices.ContainsFunc(inc.Requests, func(id [16]byte) bool { return strings.Contains(hex.EncodeToString(id[:]), string(p)) })
}

// namedThreads returns the threads whose names contain a text; none if it is empty.
func (q *query) namedThreads(p needle) map[jvmthread.ThreadID]bool {
	named := make(map[jvmthread.ThreadID]bool)
	if p == "" {
		return named
	}
	for i := range q.sn.Threads {
		if th := &q.sn.Threads[i]; p.in(th.Name) {
			named[th.ID] = true
		}
	}
	return named
}
