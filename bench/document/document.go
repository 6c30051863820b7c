// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package document answers: where in a document does a measured table belong?
package document

import (
	"bytes"
	"fmt"
	"os"
	"slices"
)

// Replace replaces the text between the line <!-- COMMAND: generated --> and the next <!-- end --> of a document.
func Replace(path, command, text string) error {
	begin, end := []byte("<!-- "+command+": generated -->\n"), []byte("<!-- end -->")
	document, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, found := bytes.Cut(document, begin)
	_, last, closed := bytes.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no lines %q and %q", path, bytes.TrimSpace(begin), end)
	}
	return os.WriteFile(path, slices.Concat(head, begin, []byte(text), end, last), 0o644) //nolint:gosec // a document of the repository
}
