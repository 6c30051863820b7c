// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/viewapi"
)

// Threads names threads as people do, those that waited longest first: "report", "3 matchers", "24 http-nio-8080-exec threads", "3 matchers and 2
// settlers", "3 matchers and 45 others", "12 threads". The groups are the first ones of all threads, which waited for a time together.
func Threads(groups []viewapi.ThreadGroup, all int, time int64) string {
	listed := 0
	for i := range groups {
		listed += groups[i].Threads
	}
	switch {
	case all == 0 || len(groups) == 0:
		return "threads"
	case len(groups) == 1 && listed == all:
		return group(&groups[0])
	case len(groups) == 2 && listed == all:
		return group(&groups[0]) + " and " + group(&groups[1])
	case groups[0].Time*2 > time:
		return group(&groups[0]) + " and " + Plural(all-groups[0].Threads, "other")
	}
	return Plural(all, "thread")
}

// group names threads whose names differ only in numbers.
func group(g *viewapi.ThreadGroup) string {
	if g.Threads == 1 {
		return g.Name
	}
	word, numbered := g.Name, false
	if n := strings.TrimRight(word, "*"); n != word {
		word, numbered = strings.TrimRight(n, "-_# "), true
	}
	switch {
	case word == "" || strings.EqualFold(word, "thread"):
		return Plural(g.Threads, "thread")
	case !numbered || len(word) < 3 || noPlural(word) || strings.ContainsAny(word, " -_#/.:*0123456789") || !strings.ContainsAny(strings.ToLower(word), "aeiouy"): // no word: http, io
		return Grouped(g.Threads) + " " + word + " threads"
	case strings.HasSuffix(word, "s"):
		return Grouped(g.Threads) + " " + word
	}
	return Plural(g.Threads, word)
}

// noPlural reports whether an s does not make the plural of a word, or not one that people say: pricing, search, delivery.
func noPlural(word string) bool {
	return slices.ContainsFunc([]string{"ing", "ch", "sh", "x", "z", "y"}, func(end string) bool { return strings.HasSuffix(strings.ToLower(word), end) })
}

// Listed names the first threads of a list of so many, with numbers only where they continue a name: "http-exec-3, -7 and 2 more".
func Listed(names []string, all int) string {
	const most = 3
	var b strings.Builder
	before := ""
	for i, name := range names[:min(most, len(names))] {
		if i > 0 {
			b.WriteString(", ")
		}
		common := strings.TrimRight(name, "0123456789")
		if common != name {
			common = strings.TrimRight(common, "-_# ")
		}
		if common == before && common != name {
			b.WriteString(name[len(common):])
		} else {
			b.WriteString(name)
		}
		before = common
	}
	if more := all - min(most, len(names)); more > 0 {
		b.WriteString(" and " + Grouped(more) + " more")
	}
	return b.String()
}
