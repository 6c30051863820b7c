// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

const (
	nowTab = iota
	waitsTab
	locksTab
	threadsTab
	incidentsTab
	tabCount
)

// tabNames are what the tabs are called, in the order of their keys.
var tabNames = [tabCount]string{"now", "waits", "locks", "threads", "incidents"}

// kinds are the waits of which the server adds up methods.
var kinds = [...]string{"blocked", "waited", "reenter", "parked", "joined", "sleeping"}

// tabColumns are the columns of each tab. Each has a cell in each row of rows.go.
var tabColumns = [tabCount][]column{
	nowTab: {
		{head: "thread", field: "thread.name", least: 12, most: 32},
		{head: "state", field: "state", least: 10, most: 10, drop: 3},
		{head: "for", field: "time", right: true, least: 9},
		{head: "what", field: "object", least: 14, most: 28},
		{head: "held by", field: "holder.name", least: 10, most: 24},
		{head: "doing", field: "doing", prose: true, least: 16, most: 36, drop: 1},
		{head: "where", field: "line", least: 14, most: 26, drop: 5},
		{head: "method", field: "method", least: 16, most: 36, drop: 4},
	},
	waitsTab: {
		{head: "method", field: "method", least: 12, most: 44},
		{head: "lock", field: "name", least: 8, most: 32},
		{head: "kind", field: "wait", least: 4, most: 9, drop: 3},
		{head: "times", field: "stats.count", right: true, drop: 2},
		{head: "/s", field: "stats.count", right: true, drop: 1},
		{head: "time", field: "stats.time", right: true, least: 9},
		{head: "mean", field: "stats.average", right: true, least: 9, drop: 4},
		{head: "p95", field: "stats.p95", right: true, least: 9, drop: 6},
		{head: "longest", field: "stats.max", right: true, least: 9, drop: 5},
		{head: "threads", field: "threads", right: true, drop: 7},
	},
	locksTab: {
		{head: "lock", field: "name", least: 18, most: 44},
		{head: "kind", field: "kind", least: 4, most: 9, drop: 3},
		{head: "times", field: "blocked.count", right: true, drop: 2},
		{head: "/s", field: "blocked.count", right: true, drop: 1},
		{head: "blocked", field: "blocked.time", right: true, least: 9},
		{head: "held", field: "held.time", right: true, least: 9, drop: 4},
		{head: "waiters", field: "waiters", right: true, drop: 5},
		{head: "holders", field: "holders", right: true, drop: 6},
		{head: "handoffs", field: "handoffs", right: true, drop: 7},
		{head: "convoy", field: "convoy", right: true, drop: 8},
	},
	threadsTab: {
		{head: "thread", field: "name", least: 12, most: 40},
		{head: "now", least: 10, most: 40, drop: 2},
		{head: "blocked", field: "blocked.time", right: true, least: 9},
		{head: "share", right: true, least: 6, drop: 1},
		{head: "times", field: "blocked.count", right: true, drop: 4},
		{head: "/s", field: "blocked.count", right: true, drop: 5},
		{head: "runs", right: true, least: 6, drop: 3},
		{head: "waits", right: true, least: 6, drop: 6},
		{head: "sleeps", right: true, least: 6, drop: 7},
		{head: "group", field: "group", least: 6, most: 20, drop: 8},
	},
	incidentsTab: {
		{head: "at", right: true, least: 12, drop: 2},
		{head: "incident", least: 12, most: 30},
		{head: "lasted", right: true, least: 9, drop: 3},
		{head: "blocked", right: true, least: 9},
		{head: "longest", right: true, least: 9, drop: 4},
		{head: "waits", right: true, drop: 6},
		{head: "threads", right: true, drop: 5},
		{head: "what happened", prose: true, least: 16, drop: 1},
	},
}

// firstSorting is the order of each tab at first: what costs most comes first. Of the threads that wait now, the server puts those first
// that others block, and of them those that have waited longest.
var firstSorting = [tabCount]sorting{
	nowTab: {column: asServed}, waitsTab: {column: 5}, locksTab: {column: 4}, threadsTab: {column: 2}, incidentsTab: {column: 3},
}
