// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package threadpdata maps threads, waits and locks to OpenTelemetry data: carriers, in which components exchange raw events (carrier*.go),
// the trace of a window (spans*.go), contention metrics (metric*.go) and log records (logs.go). All attribute names are in attributes.go, the
// same list as docs/semantic-conventions.md.
//
// The trace of a window is written span by span: spans_plan.go decides what a span shows, spans_words.go puts that into words, ids.go connects
// the span to others, and spans_write.go and spans_interval.go write its attributes.
package threadpdata
