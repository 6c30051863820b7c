// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package api answers: what do the page and its server say to each other? It holds the JSON of every endpoint, and nothing else;
// docs/page-api.md lists the endpoints and their parameters.
//
// Every time is an integer: nanoseconds since the session's Origin, which fit a JavaScript number exactly for 104 days. Every duration is
// integer nanoseconds. Sums are exact. Ids of threads are those of Java. Texts (names of threads, classes, methods) come from the JVM and can hold
// anything: they are text, never markup. Lists are never null.
package api
