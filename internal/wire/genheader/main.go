// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Genheader generates the agent's C header and the tables of the specification from the tables of package wire. A test fails if either is
// stale.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/weft-otel/weft/internal/wire"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("genheader: ")
	header := flag.String("header", "", "C header to write")
	spec := flag.String("spec", "", "specification whose generated parts to write")
	flag.Parse()

	if *header != "" {
		if err := update(*header, func([]byte) ([]byte, error) { return cHeader(), nil }); err != nil {
			log.Fatal(err)
		}
	}
	if *spec != "" {
		if err := update(*spec, fillSpec); err != nil {
			log.Fatal(err)
		}
	}
}

// update does not write an unchanged file, so that make does not rebuild its dependents.
func update(path string, change func(old []byte) ([]byte, error)) error {
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	text, err := change(old)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if bytes.Equal(old, text) {
		return nil
	}
	return os.WriteFile(path, text, 0o644)
}

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
		fmt.Fprintf(&b, "| %d | [`%s`](#%s) | %s | %s |\n", f.Kind, f.Name, strings.ToLower(f.Name), from, f.What)
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
