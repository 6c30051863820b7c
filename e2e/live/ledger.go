// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"
)

// entry counts the runs of a test.
type entry struct {
	Runs    int     `json:"runs"`
	Passes  int     `json:"passes"`
	Flaky   int     `json:"flaky"`   // how often the test was flaky
	Slowest float64 `json:"slowest"` // seconds
	// Of the last time:
	Load   float64 `json:"load"` // average of a minute, at the start
	Result result  `json:"result"`
	Date   string  `json:"date"`
	// FailedLoad is the load when the test was last flaky or failed.
	FailedLoad float64 `json:"failed_load,omitempty"`
}

// ledger counts the runs of all tests in a file.
type ledger struct {
	file    string
	entries map[string]entry
}

// openLedger reads a ledger. One that does not exist is empty.
func openLedger(file string) (*ledger, error) {
	l := &ledger{file: file, entries: make(map[string]entry)}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &l.entries); err != nil {
		return nil, fmt.Errorf("%s: %w: remove it to start a new one", file, err)
	}
	return l, nil
}

// add counts the runs of a test and writes the file.
func (l *ledger) add(v *verdict) error {
	e := l.entries[v.test]
	e.Load, e.Result, e.Date = v.load, v.result(), time.Now().UTC().Format(time.DateTime)
	if e.Result != wasSkipped {
		e.Runs += len(v.runs)
		e.Passes += v.passes()
		e.Slowest = max(e.Slowest, v.slowest().Seconds())
	}
	switch e.Result {
	case isFlaky:
		e.Flaky++
		e.FailedLoad = v.load
	case hasFailed:
		e.FailedLoad = v.load
	case hasPassed, wasSkipped:
	}
	l.entries[v.test] = e
	text, err := json.MarshalIndent(l.entries, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(l.file), 0o755); err != nil {
		return err
	}
	written := l.file + ".new" // an interrupted command does not lose the counts
	if err := os.WriteFile(written, text, 0o644); err != nil {
		return err
	}
	return os.Rename(written, l.file)
}

// quarantined reports whether a test is flaky too often: in more than 1 % of at least 200 runs.
func (e *entry) quarantined() bool { return e.Runs >= 200 && e.Flaky*100 > e.Runs }

// print prints the ledger as a table.
func (l *ledger) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\ntest\tpassed\trate\tslowest\tlast\t")
	for _, name := range slices.Sorted(maps.Keys(l.entries)) {
		e := l.entries[name]
		rate, note := "–", ""
		if e.Runs > 0 {
			rate = fmt.Sprintf("%.1f %%", 100*float64(e.Passes)/float64(e.Runs))
		}
		if e.quarantined() {
			note = "quarantine candidate"
		}
		fmt.Fprintf(t, "%s\t%d/%d\t%s\t%.1f s\t%s\t%s\n", name, e.Passes, e.Runs, rate, e.Slowest, e.Result, note)
	}
	return t.Flush()
}
