// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package historyfuzz answers: does any damaged history crash, hang or bloat Weft? Its test damages real recordings and what Weft makes of
// them, and passes each to all that reads a history: the commands, the page and its assistant, and the components of the collector.
//
// A run of the unit tests tries a fixed sample. To try more:
//
//	go test ./cmd/weft/internal/historyfuzz -seed=$(date +%Y%m%d) -mutations=10000 -for=2h -timeout=3h
//
// That also cuts each history after each of its events. A failure prints the flags that repeat it, and keeps the damaged file and the output
// in build/failed.
package historyfuzz
