// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/wording"
)

// maxAnswer is the most bytes of an answer. An assistant pays for each.
const maxAnswer = 8000

const (
	maxTail = 600 // bytes kept for what says that something is missing, and for the link
	maxLine = 900
	maxName = 120 // bytes of a name of a thread, a lock or a method
	maxText = 500 // bytes of a sentence, which has several names
)

// answer collects lines up to a limit.
type answer struct {
	b       strings.Builder
	more    int      // entries beyond the limit of a list
	omitted int      // lines beyond the limit of an answer
	base    *url.URL // of the page, for links; nil: there are none
	link    string
}

func newAnswer(base *url.URL) *answer { return &answer{base: base} }

// sentence is a text that the page made of several names.
type sentence string

// line adds a line. Texts of the JVM in it cannot break it, fill it or control a terminal.
func (a *answer) line(format string, args ...any) {
	for i, arg := range args {
		switch text := arg.(type) {
		case string:
			args[i] = clip(text, maxName)
		case sentence:
			args[i] = clip(string(text), maxText)
		}
	}
	text := clip(printable.Text(fmt.Sprintf(format, args...)), maxLine)
	if a.omitted > 0 || a.b.Len()+len(text)+1 > maxAnswer-maxTail {
		a.omitted++
		return
	}
	a.b.WriteString(text + "\n")
}

// text returns the answer.
func (a *answer) text() string {
	if a.more > 0 {
		fmt.Fprintf(&a.b, "%d more: choose a shorter time range or a larger limit.\n", a.more)
	}
	if a.omitted > 0 {
		fmt.Fprintf(&a.b, "%s omitted, since an answer has at most %d bytes: choose a shorter time range or a smaller limit.\n", plural(a.omitted, "line"), maxAnswer)
	}
	if a.link != "" {
		a.b.WriteString("Page: " + a.link + "\n")
	}
	return a.b.String()
}

// clip shortens a text to a number of bytes.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const mark = "…"
	at := most - len(mark)
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return text[:at] + mark
}

func duration(ns int64) string { return wording.Duration(time.Duration(ns)) }

func plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ss"):
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// place says where something happened: "in com.acme.Book.add (Book.java:7)".
func place(function, line string) sentence {
	switch {
	case function == "":
		return "at an unknown place"
	case line == "":
		return sentence("in " + clip(function, maxName))
	}
	return sentence("in " + clip(function, maxName) + " (" + clip(line, maxName) + ")")
}

// object names what a thread waits for, with the kind of wait.
func object(name, kind string) sentence {
	if name == "" {
		return sentence(kind)
	}
	return sentence(clip(name, maxName) + " (" + kind + ")")
}
