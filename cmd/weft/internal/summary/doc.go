// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package summary answers: what do the traces of a run say at a glance? It reads the traces of windows as OTLP JSON, one object a line, and
// adds up what their root and thread spans carry: the hottest locks, the waits, the most blocked threads, and the longest handoff chain.
//
// Sums are exact, since they come from the totals that a window keeps before any span is folded, and a window that comes twice counts
// once. Of state spans it looks for the longest of being blocked, which are never folded. It does not look at links or critical paths.
package summary
