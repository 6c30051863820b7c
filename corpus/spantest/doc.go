// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package spantest answers: do the spans of a run say what happened? It has the rules that hold for the spans of each run, and for each
// sample program the comparison with what the program knows about itself.
package spantest

// T is a test, or an attempt to record a run.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	FailNow()
}
