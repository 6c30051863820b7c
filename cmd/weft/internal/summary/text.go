// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/wording"
)

const (
	pageWidth = 100
	nameWidth = 32

	longestRows = 5 // further rows rarely have another cause
)

// WriteText writes the summary as tables for people, at most 100 columns wide, with at most top rows each.
func (s *Summary) WriteText(w io.Writer, top int) error {
	w = printable.Writer(w)
	var b strings.Builder
	for i := range s.Sessions {
		if i > 0 {
			b.WriteString("\n" + strings.Repeat("─", pageWidth) + "\n\n")
		}
		s.Sessions[i].write(&b, top)
	}
	if more := s.Total - len(s.Sessions); more > 0 {
		fmt.Fprintf(&b, "\nand %s\n", wording.Plural(more, "more session"))
	}
	for line := range strings.Lines(b.String()) {
		if _, err := io.WriteString(w, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) write(b *strings.Builder, top int) {
	if s.Aggregated {
		fmt.Fprintf(b, "%s: %s of aggregated waits; an agent in aggregated mode does not report threads\n", printable.Text(s.Session.Service),
			wording.Duration(time.Duration(s.Answer.To)))
		s.writeLocks(b, top)
		s.writeKinds(b)
		s.writeObjectWaits(b, top)
		return
	}
	writeSentence(b, printable.Text(s.Headline))
	b.WriteString("\n")
	if isDumped(&s.Session) {
		s.writeDumps(b, top)
		return
	}
	s.writeHead(b)
	s.writeDeadlocks(b)
	s.writeLocks(b, top)
	s.writeKinds(b)
	s.writeRun(b)
	s.writeThreads(b, top)
	s.writeLongest(b)
	s.writeObjectWaits(b, top)
}

// writeSentence breaks a sentence at spaces.
func writeSentence(b *strings.Builder, text string) {
	width := 0
	for i, word := range strings.Split(text, " ") {
		n := len([]rune(word))
		switch {
		case i == 0:
		case width+1+n > pageWidth:
			b.WriteString("\n")
			width = 0
		default:
			b.WriteString(" ")
			width++
		}
		b.WriteString(word)
		width += n
	}
	b.WriteString("\n")
}

func (s *Session) writeHead(b *strings.Builder) {
	d := &s.Session
	fmt.Fprintf(b, "%s: %s, %s\n", printable.Text(d.Service), wording.Duration(time.Duration(s.Answer.To-s.Answer.From)), wording.Plural(d.Threads, "thread"))
	fmt.Fprintf(b, "%s, %s lost, %s missed\n", wording.Plural(d.Events, "event"), wording.Grouped(d.Lost), wording.Grouped(d.Missed))
	if d.Evicted > 0 {
		fmt.Fprintf(b, "The history before %s did not fit into memory: all sums are of the time since.\n", clock(d, d.From))
	}
	s.writeThresholds(b)
	if unused := s.Session.Attributes["weft.recording.unused"]; unused != "" {
		b.WriteString("\n")
		writeSentence(b, printable.Text("Not used, though they may explain waits: "+unused+"."))
	}
}

// writeThresholds lists what a recording omits, because zero waits may just mean short waits.
func (s *Session) writeThresholds(b *strings.Builder) {
	list := s.thresholds()
	if list == "" {
		return
	}
	format := s.Session.Attributes["weft.recording.format"]
	if format == "otlp" {
		fmt.Fprintf(b, "\nThe recording is spans:\n")
	} else {
		fmt.Fprintf(b, "\nThe %s recording contains only events that lasted at least:\n", printable.Text(format))
	}
	width := 0
	for t := range strings.SplitSeq(list, "; ") {
		text := "  " + printable.Text(strings.TrimPrefix(t, "spans: "))
		if width+len(text) > pageWidth && width > 0 {
			b.WriteString("\n")
			width = 0
		}
		b.WriteString(text)
		width += len(text)
	}
	b.WriteString("\n")
}

func (s *Session) writeDeadlocks(b *strings.Builder) {
	for i := range s.Session.Deadlocks {
		d := &s.Session.Deadlocks[i]
		b.WriteString("\nDEADLOCK")
		if since := clock(&s.Session, d.Since); since != "" {
			b.WriteString(" since " + since)
			if d.Until > 0 {
				b.WriteString(" until " + clock(&s.Session, d.Until))
			}
		}
		b.WriteByte('\n')
		writeWrapped(b, d.Text)
	}
}

func (s *Session) writeRun(b *strings.Builder) {
	b.WriteString("\nLONGEST HANDOFF RUN\n")
	r := s.Run
	if r == nil {
		b.WriteString("  no lock was handed off\n")
		return
	}
	name := clip(r.Lock.Name, 60)
	if name == "" {
		name = lockClass(r.Lock.Lock.Class, 60)
	}
	fmt.Fprintf(b, "  %s of %s in %s, from %s\n", wording.Plural(r.Length, "handoff"), name, wording.Duration(time.Duration(r.To-r.From)), clock(&s.Session, r.From))
	names := make([]string, len(r.Names))
	for i := range r.Names {
		names[i] = r.Names[i].Name
	}
	if r.Length+1 > len(names) {
		names = append(names, "…")
	}
	writeWrapped(b, strings.Join(names, " -> "))
}

// writeWrapped breaks a list of threads at its arrows.
func writeWrapped(b *strings.Builder, threads string) {
	const arrow = " -> "
	if threads == "" {
		return
	}
	width := 0
	for i, name := range strings.Split(printable.Text(threads), arrow) {
		name = clip(name, 60)
		switch {
		case i == 0:
			b.WriteString("  ")
			width = 2
		case width+len(arrow)+len([]rune(name))+len(arrow) > pageWidth:
			b.WriteString(" ->\n     ")
			width = 5
		default:
			b.WriteString(arrow)
			width += len(arrow)
		}
		b.WriteString(name)
		width += len([]rune(name))
	}
	b.WriteString("\n")
}
