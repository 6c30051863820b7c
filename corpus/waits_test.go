// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
)

// unknowable lists what a source need not know. If the cells are not empty, they must be right all the same.
var unknowable = []struct {
	source  source
	columns []string
	applies func(c *waitCase) bool
	why     string
}{
	{flight, []string{"name"}, anyWait, "a recording has no bytecode"},
	{flight, []string{"entry"}, func(c *waitCase) bool { return c.Name == "sleep" }, "JDK 25 records a sleep without the frame of Thread.sleep"},
	{flight, []string{"holder", "held", "share"}, parkedWaits, "a recording has no owner of what a thread parks for"},
	{flight, []string{"cause", "releaser", "path"}, ended("unpark"), "a recording has no unparks"},
	{flight, []string{"cause", "releaser", "path"}, ended("interrupt"), "a recording has no interrupts"},
	{agent, []string{"share"}, heldByMain, "only the owner at the beginning of the wait is known"},
	{
		agent,
		[]string{"holder", "held", "share"},
		func(c *waitCase) bool { return c.Kind == "permit" && ended("timeout")(c) },
		"a permit has no owner, and none was released",
	},
}

func anyWait(*waitCase) bool { return true }

// heldByMain applies to waits that do not end by getting the lock.
func heldByMain(c *waitCase) bool { return c.Name == "lock-timeout" || c.Name == "lock-interrupted" }

func parkedWaits(c *waitCase) bool { return c.Name != "synchronized" }

func ended(how string) func(*waitCase) bool {
	return func(c *waitCase) bool {
		return slices.ContainsFunc(c.Waits, func(w truthWait) bool { return strings.Contains(w.Cause, how) })
	}
}

func whyUnknown(from source, c *waitCase, column string) string {
	for _, u := range unknowable {
		if u.source == from && slices.Contains(u.columns, column) && u.applies(c) {
			return u.why
		}
	}
	return ""
}

// matrixCell is one aspect of a scenario; want and got are those of the first wait that differs.
type matrixCell struct {
	column, want, got string
	ok                bool
	unknown           string // why it cannot be known
}

// compareCase compares the waits of a scenario with the truth, column by column.
func compareCase(r *run, c *waitCase, saves map[string]savings) []matrixCell {
	o, service, from := r.Output, r.service, r.entry.from
	var pairs []pair
	count := matrixCell{column: "waits", ok: true}
	for i := range c.Waits {
		w := &c.Waits[i]
		spans := waitsDuring(o, service, w)
		count.add("1", strconv.Itoa(len(spans)))
		if len(spans) > 0 {
			pairs = append(pairs, pair{w, spans[0]})
		}
	}
	cells := []matrixCell{count}
	for _, column := range matrixColumns {
		cell := matrixCell{column: column.name, ok: true, unknown: whyUnknown(from, c, column.name)}
		if len(pairs) == 0 {
			cell.add("a wait", "")
		}
		for _, p := range pairs {
			cell.add(column.cell(o, c, p.truth, p.span))
		}
		cells = append(cells, cell)
	}
	path := matrixCell{column: "path", ok: true, unknown: whyUnknown(from, c, "path")}
	want, got := time.Duration(c.Path)*time.Millisecond, pathThrough(o, service, c).Round(time.Millisecond)
	if got >= want {
		want = got
	}
	if path.unknown == "" {
		path.add(want.String(), got.String())
	}
	what := matrixCell{column: "saves", ok: true, unknown: whyUnknown(from, c, "saves")}
	if spantest.IsContended(c.Kind) {
		what.add(saves[lockClass(o, service, c)].compare())
	}
	return append(cells, path, what)
}

type pair struct {
	truth *truthWait
	span  *spantest.Span
}

// add compares one wait; the first one that differs is shown.
func (c *matrixCell) add(want, got string) {
	ok := want == "*" || slices.Contains(strings.Split(want, "|"), got)
	ok = ok || c.unknown != "" && (got == "" || got == "unknown")
	if c.ok {
		c.want, c.got, c.ok = want, got, ok
	}
}

// checkWaits compares all waits with the truth.
func checkWaits(t spantest.T, r *run) {
	t.Helper()
	var truth []waitCase
	r.know(t, &truth)
	require.NotEmpty(t, truth)
	saves := savingsOf(r.Output, r.service, truth)
	for i := range truth {
		c := &truth[i]
		for _, cell := range compareCase(r, c, saves) {
			if !cell.ok {
				t.Errorf("%s, %s: %s", c.Name, cell.column, cell)
			}
		}
	}
}

func (c matrixCell) String() string {
	switch {
	case c.unknown != "" && c.ok && c.got == "":
		return "unknown"
	case c.ok && c.got == "":
		return "-"
	case c.ok:
		return c.got
	default:
		return fmt.Sprintf("%q (%s)", c.got, c.want)
	}
}
