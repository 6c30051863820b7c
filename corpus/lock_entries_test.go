// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import "github.com/weft-otel/weft/e2e/spantest"

// lockEntries are programs on platform threads: locks, joins and windows.
var lockEntries = []entry{
	{name: "parks", program: []string{"Parks", "50"}, from: agent, engine: seconds, check: checked(spantest.CheckParks)},
	{
		name: "joins", program: []string{"Joins", "200"}, from: agent, engine: map[string]any{"window": "10ms", "max_spans_per_window": 0},
		check: checkJoins,
	},

	{
		name: "switched-aggregated", program: []string{"Switched", "WEFT", "mode=aggregated"}, from: agent, engine: wholeRun(nil),
		check: checkSwitched("wait", "notify", "park", "sleep", "hold", "block"),
	},
	{name: "switched-wait", program: []string{"Switched", "WEFT", "wait=off"}, from: agent, engine: wholeRun(nil), check: checkSwitched("wait", "notify")},
	{name: "switched-monitor", program: []string{"Switched", "WEFT", "monitor=off"}, from: agent, engine: wholeRun(nil), check: checkSwitched("block")},
	{name: "switched-park", program: []string{"Switched", "WEFT", "park=off"}, from: agent, engine: wholeRun(nil), check: checkSwitched("park")},
	{name: "switched-sleep", program: []string{"Switched", "WEFT", "sleep=off"}, from: agent, engine: wholeRun(nil), check: checkSwitched("sleep", "hold")},
}
