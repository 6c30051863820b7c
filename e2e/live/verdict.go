// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"
)

// result is what the runs of a test say of it.
type result string

const (
	hasPassed  result = "passed"
	hasFailed  result = "failed" // at least two of three times
	isFlaky    result = "flaky"  // failed once, and passed twice
	wasSkipped result = "skipped"
)

// verdict is a test with its runs: one, or three if the first one failed.
type verdict struct {
	test   string
	folder string  // of what is kept
	load   float64 // of the machine at the start
	runs   []run
}

func (v *verdict) passes() (n int) {
	for _, r := range v.runs {
		if r.passed {
			n++
		}
	}
	return n
}

func (v *verdict) result() result {
	switch passes := v.passes(); {
	case v.runs[0].skipped && passes == len(v.runs):
		return wasSkipped
	case v.runs[0].passed:
		return hasPassed
	case passes == len(v.runs)-1:
		return isFlaky
	}
	return hasFailed
}

// report prints the result, and of a test that failed, where its files are and what its first failed run says.
func (v *verdict) report(w io.Writer) {
	first := v.runs[0]
	fmt.Fprintf(w, "%-7s %s (%.1f s, load %.1f)\n", v.result(), v.test, first.took.Seconds(), v.load)
	if first.passed {
		return
	}
	fmt.Fprintf(w, "        %d of %d runs passed; see %s\n", v.passes(), len(v.runs), v.folder)
	text, err := os.ReadFile(first.output)
	if err != nil {
		fmt.Fprintf(w, "        %v\n", err)
	}
	for _, line := range excerpt(string(text)) {
		fmt.Fprintf(w, "        %s\n", line)
	}
}

// excerpts are the beginnings of what the output of a test says about failures, and how many lines to show; zero ends one.
var excerpts = []struct {
	begin *regexp.Regexp
	lines int
}{
	{regexp.MustCompile(`^(=== |PASS|FAIL)|^ *--- (PASS|SKIP)|^\s+(Error Trace|Test):|^\s+process_test.go:|^e2e: jdk`), 0},
	{regexp.MustCompile(`^\s+Error:|^panic:|^fatal error:|^SIGQUIT`), 12},
	{regexp.MustCompile(`^ *--- FAIL|^\s+\w+\.go:\d+: \S|^e2e: `), 3},
}

// excerpt returns the first lines of each failure in the output of a test.
func excerpt(output string) (lines []string) {
	const most, width = 60, 300
	left := 0
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		for _, e := range excerpts {
			if e.begin.MatchString(line) {
				left = e.lines
				break
			}
		}
		if left > 0 && len(lines) < most {
			lines = append(lines, line[:min(width, len(line))])
			left--
		}
	}
	return lines
}

// slowest returns the longest time of a run.
func (v *verdict) slowest() (longest time.Duration) {
	for _, r := range v.runs {
		longest = max(longest, r.took)
	}
	return longest
}
