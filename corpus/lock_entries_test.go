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
}
