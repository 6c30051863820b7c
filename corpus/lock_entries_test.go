// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

// lockEntries are programs on platform threads: locks, joins and windows.
var lockEntries = []entry{
	{name: "parks", program: []string{"Parks", "50"}, from: agent, engine: seconds, check: checkParks},
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

	{name: "locknames", program: []string{"LockNames"}, from: agent, engine: wholeRun(nil), check: checkLockNames},
	{name: "locknames-interpreted", program: []string{"LockNames"}, java: []string{"-Xint"}, from: agent, engine: wholeRun(nil), check: checkLockNames},
	{
		name: "locknames-compiled", program: []string{"LockNames"}, java: []string{"-Xcomp", "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,LockNames*::*"},
		from: agent, engine: wholeRun(nil), check: checkLockNames,
	},

	{name: "deadlock-jfr", program: []string{"Deadlock", "3000"}, from: flight, engine: seconds, check: checked(checkRecordedDeadlock)},
	{name: "deadlock", program: []string{"Deadlock", "3000"}, from: agent, engine: map[string]any{"window": "500ms"}, check: checked(checkDeadlock)},

	{
		name: "exchange", program: []string{"com.acme.orders.Exchange", "1"}, from: agent, engine: map[string]any{"window": "200ms", "max_spans_per_window": 0},
		check: checkUnfolded,
	},
	{
		name: "exchange-folded", program: []string{"com.acme.orders.Exchange", "1"}, from: agent,
		engine: map[string]any{"window": "200ms", "max_spans_per_window": maxSpans}, check: checkFolded,
	},

	{name: "owners-many", program: []string{"Owners", "many", "160", "0"}, from: agent, engine: wholeRun(nil), check: checkOwners},
	{name: "owners-one", program: []string{"Owners", "one", "100", "0"}, from: agent, engine: wholeRun(nil), check: checkOwners},
}
