// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package why answers: why was this thread slow? It prints the page's answer (GET api/sessions/{session}/why) on a terminal, and finds the
// thread and the times that a person names.
package why

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// PrintJSON writes the answer as the page sends it, with one field a line.
func PrintJSON(w io.Writer, why *viewapi.Why) error {
	e := json.NewEncoder(printable.Writer(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(why)
}

// Print writes the answer for people, in lines of at most width characters if words allow; 0: of any length.
func Print(w io.Writer, why *viewapi.Why, width int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s from %s to %s", printable.Text(why.Thread.Name), Offset(why.From), Offset(why.To))
	if chosen := chosen(why.Chosen); chosen != "" {
		b.WriteString(", " + chosen)
	}
	b.WriteString("\n")
	for _, line := range wrap(printable.Text(why.Text), max(width, 0), 0) {
		b.WriteString(line + "\n")
	}
	if len(why.Steps) > 0 {
		b.WriteString("\n")
		writeSteps(&b, why, width)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// chosen says why the page chose the thread, if the request did not name it.
func chosen(reason string) string {
	switch reason {
	case "waited longest":
		return "the thread that waited longest for others"
	case "main thread":
		return "the main thread, since no thread waited for others"
	case "ended last":
		return "the thread that ended last, since none waited for others"
	}
	return ""
}

// step is the cells of a step.
type step struct {
	at, time, share string
	what            []string // a line for each thread, from the one asked about to the one that kept it
}

// writeSteps writes the table of steps.
func writeSteps(b *strings.Builder, why *viewapi.Why, width int) {
	head := step{at: "AT", time: "TIME", share: "SHARE", what: []string{"WHAT"}}
	if why.Summed {
		head.at = "TIMES"
	}
	rows := []step{head}
	for i := range why.Steps {
		s := &why.Steps[i]
		row := step{at: "+" + duration(s.From-why.From), what: whats(why, s)}
		if why.Summed {
			row.at = strconv.Itoa(s.Count)
		}
		row.time, row.share = duration(s.Time), share(s.Time, why.Total)
		rows = append(rows, row)
	}
	if why.Hidden > 0 {
		row := step{time: duration(why.Rest), share: share(why.Rest, why.Total), what: []string{plural(why.Hidden, "other step")}}
		rows = append(rows, row)
	}
	var at, took, part int
	for _, r := range rows {
		at, took, part = max(at, length(r.at)), max(took, length(r.time)), max(part, length(r.share))
	}
	left := at + took + part + 6
	for _, r := range rows {
		b.WriteString(right(r.at, at) + "  " + right(r.time, took) + "  " + right(r.share, part) + "  ")
		for depth, what := range r.what {
			for i, line := range wrap(what, room(width, left+2*depth), 4) {
				if depth > 0 || i > 0 {
					b.WriteString(strings.Repeat(" ", left+2*depth))
				}
				b.WriteString(line + "\n")
			}
		}
	}
}

// whats says what each thread did: the one asked about, those that it waited for, and the one that ran or waited for no other.
func whats(why *viewapi.Why, s *viewapi.Step) (lines []string) {
	add := func(before *viewapi.StepWait, thread viewapi.ThreadRef, text string) {
		switch {
		case before == nil && thread.ID == why.Thread.ID:
		case before == nil:
			lines = append(lines, "not started yet")
			text = thread.Name + ": " + text
		case before.Holder != nil:
			text = thread.Name + " held it: " + text
		default:
			text = thread.Name + ": " + text
		}
		lines = append(lines, printable.Text(text))
	}
	var before *viewapi.StepWait
	for i := range s.Waits {
		w := &s.Waits[i]
		add(before, w.Thread, in(w.Title, w.Method, w.Line))
		before = w
		if i == 0 && s.Hidden > 0 {
			lines = append(lines, plural(s.Hidden, "more wait"))
			before = &viewapi.StepWait{} // the last one of those is not known
		}
	}
	doing := s.Doing
	if s.Line != "" && strings.HasSuffix(doing, " in "+wording.SimpleFunction(s.Method)) {
		doing += " (" + s.Line + ")"
	}
	add(before, s.Thread, doing)
	return lines
}

// in says where a thread did something: "blocked Book.lock in Book.add (Book.java:7)".
func in(what, method, line string) string {
	if method != "" {
		what += " in " + wording.SimpleFunction(method)
	}
	if line != "" {
		what += " (" + line + ")"
	}
	return what
}

func duration(ns int64) string { return wording.Duration(time.Duration(ns)) }

func share(ns, total int64) string { return wording.Percent(float64(ns) / float64(max(total, 1))) }

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

func length(text string) int { return utf8.RuneCountInString(text) }

func right(text string, width int) string { return strings.Repeat(" ", width-length(text)) + text }

// leastWidth is the width of a column in a terminal that is too narrow.
const leastWidth = 24

// room returns what is left of a width, or 0 if that is unlimited.
func room(width, used int) int {
	if width <= 0 {
		return 0
	}
	return max(width-used, leastWidth)
}

// wrap breaks a text at spaces into lines of a width, unless that is 0. Further lines are indented.
func wrap(text string, width, indent int) []string {
	if width == 0 {
		return []string{text}
	}
	var lines []string
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		switch {
		case line == "":
			line = word
		case length(line)+1+length(word) > width:
			lines = append(lines, line)
			line = strings.Repeat(" ", indent) + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
