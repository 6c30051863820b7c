// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"io"
	"strings"

	"github.com/weft-otel/weft/internal/printable"
)

// Report says what was converted. Its texts are safe for a terminal.
type Report struct {
	In, From string // the input and its format
	To       string // format of the output
	Files    []string

	Sessions    int
	Threads     int
	MoreThreads bool   // than that: the limit of what is counted was reached
	Events      uint64 // read, and written unless omitted
	Aggregates  uint64 // batches of sums in place of events
	Omitted     uint64 // events that the format cannot express
	// CannotExpress lists what the input contains and the format has no place for, then the notes of the format.
	CannotExpress []string

	Lost         uint64   // events that the input is known to lack, or that could not be read
	Refused      uint64   // names and stacks beyond the limits of a session
	Problems     []string // of the input, the first ones
	ProblemCount uint64
}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	more := ""
	if r.MoreThreads {
		more = " or more"
	}
	fmt.Fprintf(&b, "%s (%s) → %s (%s): ", printable.Text(r.In), r.From, printable.Text(joined(r.Files)), r.To)
	fmt.Fprintf(&b, "%s, %d%s threads, %d events", plural(uint64(r.Sessions), "session"), r.Threads, more, r.Events-r.Omitted)
	if r.Aggregates > 0 {
		fmt.Fprintf(&b, ", %s", plural(r.Aggregates, "aggregate"))
	}
	b.WriteByte('\n')
	if len(r.CannotExpress) > 0 {
		fmt.Fprintf(&b, "%s cannot express:\n", r.To)
	}
	for _, line := range r.CannotExpress {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	if r.Lost > 0 {
		fmt.Fprintf(&b, "%s missing in the input\n", plural(r.Lost, "event"))
	}
	if r.Refused > 0 {
		fmt.Fprintf(&b, "%s beyond the limits of a session are missing\n", plural(r.Refused, "name or stack", "names or stacks"))
	}
	for _, problem := range r.Problems {
		fmt.Fprintf(&b, "%s\n", problem)
	}
	if rest := r.ProblemCount - min(r.ProblemCount, uint64(len(r.Problems))); rest > 0 {
		fmt.Fprintf(&b, "and %s\n", plural(rest, "more problem"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// plural is a count and its noun, whose plural may be irregular.
func plural(n uint64, noun string, many ...string) string {
	switch {
	case n == 1:
	case len(many) > 0:
		noun = many[0]
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func joined(list []string) string { return strings.Join(list, ", ") }
