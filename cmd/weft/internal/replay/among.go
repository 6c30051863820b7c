// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/recording/orca"
	"github.com/weft-otel/weft/internal/wording"
)

// among is files of a folder or archive.
type among struct {
	*Gathered

	name   string
	before int // sources
	other  []string
	others int
}

func (g *Gathered) begin(name string) *among {
	return &among{Gathered: g, name: name, before: len(g.Sources)}
}

// add adds a file of a folder.
func (a *among) add(name string) error {
	file, err := a.open(name)
	if err != nil {
		return err
	}
	var without *emptyError
	inside, err := a.archive(name, file)
	switch {
	case errors.As(err, &without):
		a.omit(name, "an archive without recordings")
		return nil
	case !inside && err == nil && a.check(name, file):
		a.source(name, file).Path = name
	}
	return err
}

// maxNamed bounds the files that a note names.
const maxNamed = 5

// check reports whether a file is a recording, and remembers it otherwise.
func (a *among) check(name string, file io.ReadSeeker) bool {
	if slices.Contains(orca.SideFiles(), filepath.Ext(name)) {
		return false
	}
	err := formats.Recognize(file, a.limit())
	var foreign *formats.Foreign
	switch {
	case err == nil:
		return true
	case errors.As(err, &foreign):
		a.omit(name, foreign.Is)
	case errors.Is(err, formats.ErrUnknown):
		a.omit(name, "unknown")
	default:
		a.omit(name, err.Error())
	}
	return false
}

// omit remembers a file that is not read.
func (a *among) omit(name, what string) {
	if a.others++; len(a.other) < maxNamed {
		within := strings.TrimPrefix(strings.TrimPrefix(name, a.name), string(filepath.Separator))
		a.other = append(a.other, fmt.Sprintf("%s (%s)", strings.TrimPrefix(within, "/"), what))
	}
}

// emptyError is why a folder or archive cannot be read.
type emptyError struct{ text string }

func (e *emptyError) Error() string { return e.text }

// end says what was not a recording: a note if something was, otherwise an error. It adds to the error about what could not be read.
func (a *among) end(err error) error {
	list := strings.Join(a.other, ", ")
	if more := a.others - len(a.other); more > 0 {
		list += fmt.Sprintf(", and %d more", more)
	}
	switch {
	case len(a.Sources) == a.before && a.others == 0 && err != nil:
	case len(a.Sources) == a.before:
		return errors.Join(err, &emptyError{fmt.Sprintf("%s has no recording and no thread dump: %s", printable.Text(a.name), cmp.Or(printable.Text(list), "it is empty"))})
	case a.others > 0:
		a.Notes = append(a.Notes, fmt.Sprintf("%s: %s read, %s not: %s", a.name, are(len(a.Sources)-a.before, "recording"), are(a.others, "other file"), list))
	}
	return err
}

func are(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return wording.Plural(n, what) + " are"
}
