// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording

import "strings"

// Run is what a runnable thread did, which the JVM does not report.
type Run uint8

// What a runnable thread may do. It is said to run only of the time for which its clock shows that.
const (
	RunUnseen Run = iota // not known, it was not seen to wait: it may have waited for short I/O, for memory or, without readings of its clocks, for a processor
	RunOnCPU             // it was on a processor
	RunQueued            // it waited for one
	NumRuns
)

var runs = [NumRuns]string{"runnable", "running", "waiting for a processor"}

// Ran says it with the method, which may be empty: "running in Report.format".
func Ran(r Run, function string) string {
	if function == "" {
		return runs[r]
	}
	return runs[r] + " in " + SimpleFunction(function)
}

// runOf returns what a thread ran that did something in words of Ran.
func runOf(text string) (r Run, ok bool) {
	for r, words := range runs {
		if rest, found := strings.CutPrefix(text, words); found && (rest == "" || strings.HasPrefix(rest, " in ")) {
			return Run(r), true
		}
	}
	return RunUnseen, false
}
