// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package summary answers: where did the threads of a run lose time? It reads the traces of windows as OTLP JSON, one object per line, and
// adds up the totals on their root and thread spans: the hottest locks, the waits, the most blocked threads and the longest handoff chain.
// Recordings are turned into the same traces first.
//
// Sums are exact, because a window's totals include the intervals that have no span, and a repeated window is counted once. State spans are
// only searched for the longest blocked times, which always have a span. Links and critical paths are not used.
//
// Package contention is not used, because its sums need every interval, while traces have folded most of them into these totals.
package summary
