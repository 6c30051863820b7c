// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var updateGaps = flag.Bool("update-gaps", false, "rewrite the lists of known gaps")

// gap is something that is wrong: where the events came from, the scenario and the aspect.
type gap struct{ source, scenario, aspect string }

// gapList is a file with known gaps. What is right must not be listed, so that the list shrinks.
type gapList struct {
	file  string
	known map[gap]bool
	found []gap
}

// readGaps reads a list; at the end of a test with -update-gaps it is written.
func readGaps(t *testing.T, file string) *gapList {
	t.Helper()
	l := &gapList{file: file, known: map[gap]bool{}}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		require.Greater(t, len(words), 2, "%s: %q: want a scenario, a source and aspects", file, line)
		for _, aspect := range words[2:] {
			l.known[gap{words[1], words[0], aspect}] = true
		}
	}
	t.Cleanup(func() {
		if *updateGaps {
			l.write(t)
		}
	})
	return l
}

// check fails the test if something is wrong and not listed, or right and listed.
func (l *gapList) check(t *testing.T, g gap, ok bool, details string) {
	t.Helper()
	if !ok {
		l.found = append(l.found, g)
	}
	switch {
	case *updateGaps:
	case !ok && !l.known[g]:
		t.Errorf("%s, %s, %s: %s", g.source, g.scenario, g.aspect, details)
	case ok && l.known[g]:
		t.Errorf("%s, %s, %s is right: take it out of %s (or run the test with -update-gaps)", g.source, g.scenario, g.aspect, l.file)
	}
}

// write writes one line for each scenario and source.
func (l *gapList) write(t *testing.T) {
	t.Helper()
	var text strings.Builder
	text.WriteString("# Known gaps: scenario, source, aspects. Written by " + t.Name() + " -update-gaps.")
	var last gap
	for _, g := range l.found {
		if g.source != last.source || g.scenario != last.scenario {
			fmt.Fprintf(&text, "\n%s %s", g.scenario, g.source)
		}
		text.WriteString(" " + g.aspect)
		last = g
	}
	text.WriteString("\n")
	require.NoError(t, os.WriteFile(l.file, []byte(text.String()), 0o600))
}
