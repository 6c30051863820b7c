// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"

	"github.com/weft-otel/weft/internal/wire"
)

// fillSpec replaces the tables between the markers.
func fillSpec(text []byte) ([]byte, error) {
	text, err := fill(text, "frames", frameTable())
	if err != nil {
		return nil, err
	}
	return fill(text, "events", eventTable())
}

func fill(text []byte, name, table string) ([]byte, error) {
	open := []byte("<!-- " + name + ": generated -->\n")
	const end = "<!-- end -->"
	before, rest, ok := bytes.Cut(text, open)
	if !ok {
		return nil, fmt.Errorf("no marker %q", bytes.TrimSpace(open))
	}
	_, after, ok := bytes.Cut(rest, []byte(end))
	if !ok {
		return nil, fmt.Errorf("no marker %q after %q", end, bytes.TrimSpace(open))
	}
	return bytes.Join([][]byte{before, open, []byte(table), []byte(end), after}, nil), nil
}

func frameTable() string {
	var b bytes.Buffer
	b.WriteString("| kind | name | from | what |\n| --- | --- | --- | --- |\n")
	for _, f := range wire.Frames {
		from := "agent"
		if f.Kind >= wire.FrameWelcome {
			from = "receiver"
		}
		fmt.Fprintf(&b, "| %d | [`%s`](#%[2]s) | %s | %s |\n", f.Kind, f.Name, from, f.What)
	}
	return b.String()
}

func eventTable() string {
	var b bytes.Buffer
	b.WriteString("| kind | name | peer | lock | arg | stack | what |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, e := range wire.Events {
		stack := ""
		if e.Stack {
			stack = "yes"
		}
		fmt.Fprintf(&b, "| %d | `%s` | %s | %s | %s | %s | %s |\n", e.Kind, e.Kind, e.Peer, e.Lock, e.Arg, stack, e.What)
	}
	return b.String()
}
