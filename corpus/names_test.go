// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"strings"
	"unicode"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/corpus/spantest"
)

// checkCrowd checks a server with 200 threads: its spans have few names, which trace stores list in their search forms, and short explanations.
func checkCrowd(t spantest.T, r *run) {
	t.Helper()
	names, threads := map[string]bool{}, map[string]bool{}
	for _, s := range r.ByID {
		names[s.Name()] = true
	}
	assert.True(t, names["blocked PriceList.lock"])
	checkFewNames(t, names)
	for _, s := range r.Spans {
		assert.Less(t, len(s.Text("weft.explanation")), 1000, "characters of an explanation")
		assert.False(t, s.Text("weft.state") == "reentering" && s.Number("weft.interval.time") < 100*spantest.Microsecond, "a short span of reentering")
		threads[s.Text("thread.name")] = true
	}
	assert.Greater(t, len(threads), 60, "more threads than names")
	checkNewcomer(t, r, bottleneck{lock: "PriceList.lock", holder: "price-reloader", doing: "asleep in PriceList.fetch", sufferers: `http-nio-.*-exec-\*`})
}

// checkFewNames checks the limits on names of spans in docs/semantic-conventions.md. Which locks a server touches for how long differs from run
// to run, so only the limits are the same in each.
func checkFewNames(t spantest.T, names map[string]bool) {
	t.Helper()
	states, roots, holds, fixed := map[string]bool{}, 0, 0, map[string]bool{}
	for name := range names {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "critical path: "), "threads: ")
		kind, _, _ := strings.Cut(name, " ")
		switch {
		case kind == "contention" || strings.HasPrefix(name, "pool exhausted"):
			roots++
		case kind == "held":
			holds++
		case strings.ContainsFunc(name, unicode.IsUpper) || strings.HasSuffix(name, "class initialization"):
			states[name] = true
		default:
			fixed[name] = true
		}
	}
	assert.LessOrEqual(t, len(states), 20, "names of states with a lock or class: %v", states)
	assert.LessOrEqual(t, roots, 16, "names of incidents")
	assert.LessOrEqual(t, holds, 8, "names of holds")
	assert.LessOrEqual(t, len(fixed), 30, "names without a lock or class: %v", fixed)
}
