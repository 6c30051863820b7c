// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/engine/contention"
)

// waiter is a thread that waited.
type waiter struct {
	name string
	time time.Duration
}

// threadsOf names threads as people do, those that waited longest first: "report", "3 matchers", "24 http-nio-8080-exec threads", "3 matchers
// and 2 settlers", "3 matchers and 45 others", "12 threads".
func threadsOf(waiters []waiter) string {
	type group struct {
		names []string
		time  time.Duration
	}
	pools := make(map[string]*group)
	var all time.Duration
	for _, w := range waiters {
		pool := contention.Pool(w.name)
		g := pools[pool]
		if g == nil {
			g = new(group)
			pools[pool] = g
		}
		g.names, g.time = append(g.names, w.name), g.time+w.time
		all += w.time
	}
	groups := slices.Collect(maps.Values(pools))
	for _, g := range groups {
		slices.Sort(g.names)
	}
	slices.SortFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(len(b.names), len(a.names)), cmp.Compare(a.names[0], b.names[0]))
	})
	switch {
	case len(groups) == 0:
		return "threads"
	case len(groups) == 1:
		return groupOf(groups[0].names)
	case len(groups) == 2:
		return groupOf(groups[0].names) + " and " + groupOf(groups[1].names)
	case groups[0].time*2 > all:
		return groupOf(groups[0].names) + " and " + units.Grouped(int64(len(waiters)-len(groups[0].names))) + " others"
	}
	return units.Plural(int64(len(waiters)), "thread")
}

// groupOf names threads whose names differ only in numbers.
func groupOf(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	word, numbered := commonName(names)
	switch {
	case !numbered || strings.ContainsAny(word, " -_#/.:0123456789"):
		return units.Grouped(int64(len(names))) + " " + word + " threads"
	case word == "" || strings.EqualFold(word, "thread"):
		return units.Plural(int64(len(names)), "thread")
	case strings.HasSuffix(word, "s"):
		return units.Grouped(int64(len(names))) + " " + word
	}
	return units.Plural(int64(len(names)), word)
}

// commonName returns what the names of a pool have in common, and whether that is all but a number at the end. Names that differ in the
// middle have a * there.
func commonName(names []string) (word string, numbered bool) {
	word = stem(names[0])
	for _, name := range names[1:] {
		if stem(name) != word {
			return strings.TrimRight(contention.Pool(names[0]), "*-_# "), false
		}
	}
	return word, word != names[0]
}

// stem returns a name without a number at its end.
func stem(name string) string {
	if n := strings.TrimRight(name, "0123456789"); n != name {
		return strings.TrimRight(n, "-_# ")
	}
	return name
}

// listed names the first threads of a list, with numbers only where they continue a name: "http-exec-3, -7 and 2 more".
func listed(names []string) string {
	const most = 3
	var b strings.Builder
	before := ""
	for i, name := range names[:min(most, len(names))] {
		if i > 0 {
			b.WriteString(", ")
		}
		common := stem(name)
		if common == before && common != name {
			b.WriteString(name[len(common):])
		} else {
			b.WriteString(name)
		}
		before = common
	}
	if more := len(names) - most; more > 0 {
		b.WriteString(" and " + units.Grouped(int64(more)) + " more")
	}
	return b.String()
}
