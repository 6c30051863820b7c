// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import "strings"

// Help describes the screen and its keys.
const Help = `The first lines say which lock or pool cost the most within the window, who
held it, and what that thread did. A deadlock comes first.

  1-5, Tab        tables: now, waits, locks, threads, incidents
  ↑ ↓ j k         select a row; PgUp, PgDn, Home and End go further
  Enter           details: stacks of the waiter and of the holder
  Esc             back; in a table, clear the filter
  s S             sort by the next or the previous column
  r               reverse the order
  /               filter the rows by an RE2 pattern, in any column
  + -             longer or shorter window of the sums: 1 s … all
  ← →             kind of waits: blocked, waited, reenter, parked, …
  i               show threads without a task, too
  p               pause the screen; the agent continues
  Ctrl-Z          suspend
  ?               this help
  q, Ctrl-C       quit

now        the threads that wait, and who holds what they wait for
waits      methods that waited within the window, by kind
locks      locks and pools for which threads waited within the window
threads    for how long each thread was blocked, ran, waited and slept
incidents  episodes of contention since the start of the session

/s is the number of waits in a second of the window. The sums are those
of the page (docs/page-api.md). "held" is what contention shows: a lock
without waiters is not known to be held.`

func helpPane() *pane {
	p := &pane{title: "weft top"}
	for l := range strings.SplitSeq(Help, "\n") {
		p.lines = append(p.lines, paneLine{text: l})
	}
	return p
}
