// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stackprofile

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// WriteCollapsed writes the stacks of a profile as lines of functions, the outermost first, and of nanoseconds, as flame graph tools read them.
// The lines are in alphabetical order. Labels are left out; samples that differ in them only are one line.
func WriteCollapsed(w io.Writer, p *Profile) error {
	sums := make(map[string]int64)
	lines := make([]string, len(p.Stacks))
	for i, frames := range p.Stacks {
		lines[i] = collapse(frames)
	}
	for i := range p.Samples {
		s := &p.Samples[i]
		sums[lines[s.Stack]] += int64(s.Time)
	}
	sorted := make([]string, 0, len(sums))
	for line := range sums {
		sorted = append(sorted, line)
	}
	slices.Sort(sorted)
	out := bufio.NewWriter(w)
	for _, line := range sorted {
		if n := sums[line]; n > 0 {
			_, _ = out.WriteString(line)
			_ = out.WriteByte(' ')
			_, _ = out.WriteString(strconv.FormatInt(n, 10))
			_ = out.WriteByte('\n')
		}
	}
	return out.Flush() // returns the first error
}

// separators are what the format cannot have in a function.
var separators = strings.NewReplacer(";", ",", "\n", " ", "\r", " ") //nolint:gochecknoglobals // read-only value

func collapse(frames []jvmthread.Frame) string {
	var b strings.Builder
	for i := len(frames) - 1; i >= 0; i-- {
		if b.Len() > 0 {
			b.WriteByte(';')
		}
		b.WriteString(separators.Replace(name(&frames[i])))
	}
	return b.String()
}
