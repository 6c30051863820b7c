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
