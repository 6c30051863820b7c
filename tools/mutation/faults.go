// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
)

// fault replaces one line of a file.
type fault struct {
	title, file   string
	before, after string // without leading white space
}

func readFaults(path string) ([]fault, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []fault
	for i, line := range strings.Split(string(text), "\n") {
		title, begins := strings.CutPrefix(line, "== ")
		switch {
		case begins:
			all = append(all, fault{title: title})
		case line == "" || strings.HasPrefix(line, "#"):
		case len(all) == 0:
			return nil, fmt.Errorf("%s:%d: %q, want a title first: == TITLE", path, i+1, line)
		case strings.HasPrefix(line, "- "):
			all[len(all)-1].before = line[2:]
		case strings.HasPrefix(line, "+ "):
			all[len(all)-1].after = line[2:]
		default:
			all[len(all)-1].file = line
		}
	}
	return all, nil
}

// apply returns the text of the file with the fault.
func (f *fault) apply(text string) (string, error) {
	lines, found := strings.Split(text, "\n"), 0
	for i, line := range lines {
		if trimmed := strings.TrimLeft(line, " \t"); trimmed == f.before {
			lines[i] = line[:len(line)-len(trimmed)] + f.after
			found++
		}
	}
	if found != 1 {
		return "", fmt.Errorf("fault %q: %s has %d lines %q, want 1: adapt faults.txt to the source", f.title, f.file, found, f.before)
	}
	return strings.Join(lines, "\n"), nil
}
