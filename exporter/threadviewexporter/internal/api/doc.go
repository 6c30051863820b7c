// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package api answers: what do the page and its server exchange? It holds the JSON of every endpoint, and nothing else; docs/page-api.md lists
// the endpoints and their parameters.
//
// Times are integer nanoseconds since the session's Origin, which fit a JavaScript number exactly for 104 days. Durations are integer
// nanoseconds. Sums are exact. Thread ids are those of Java. Texts (names of threads, classes, methods) come from the JVM and can contain
// anything: treat them as text, not markup. Lists are never null.
package api
