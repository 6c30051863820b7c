// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// nested returns the waiters for a permit or an object of a pool that seem to hold one already: they are past the call in which others wait for their
// first one. Nil: there are none.
func (q *query) nested(found *contentions, c *costly) *viewapi.Nested {
	if c.kind != jvmthread.WaitPermit && c.kind != jvmthread.WaitPool {
		return nil
	}
	var all [][]jvmthread.Frame
	for at := range c.places {
		all = append(all, callsOf(q.sn.Stacks[at.stack]))
	}
	var sum waits
	var site store.StackID
	most := int64(-1)
	for at := range c.places {
		own, w := callsOf(q.sn.Stacks[at.stack]), found.stacks[at]
		if w == nil || !slices.ContainsFunc(all, func(other []jvmthread.Frame) bool { return isPast(own, other) }) {
			continue
		}
		sum.merge(w)
		if w.Time > most || w.Time == most && at.stack < site {
			most, site = w.Time, at.stack
		}
	}
	if sum.threads.Len() == 0 {
		return nil
	}
	return &viewapi.Nested{Threads: sum.threads.Len(), Site: q.site(site)}
}

// callsOf returns the frames of a stack, outermost first.
func callsOf(stack string) (calls []jvmthread.Frame) {
	for line := range strings.Lines(stack) {
		if f, ok := symbols.ParseFrame(strings.TrimSpace(line)); ok {
			calls = append(calls, f)
		}
	}
	slices.Reverse(calls)
	return calls
}

// isPast reports whether a stack leads through the same calls as another one to a later line of the same method.
func isPast(own, other []jvmthread.Frame) bool {
	for i := range min(len(own), len(other)) {
		if own[i] == other[i] {
			continue
		}
		return own[i].Function() == other[i].Function() && other[i].Line > 0 && own[i].Line > other[i].Line && i+1 < min(len(own), len(other))
	}
	return false
}
