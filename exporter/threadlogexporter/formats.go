// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadlogexporter

import (
	"github.com/weft-otel/weft/internal/orca"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/tptp"
	"github.com/weft-otel/weft/internal/triples"
)

// writable is a format with the extension of its files.
type writable struct {
	recording.Format

	extension string
}

func formats() []writable {
	return []writable{
		{orca.Format(), orca.Extension},
		{tptp.Format(), ".trcxml"},
		{triples.Format(), ".triples"},
	}
}

func formatNames() (names []string) {
	all := formats()
	for i := range all {
		names = append(names, all[i].Name)
	}
	return names
}

// findFormat returns a format that Validate has seen.
func findFormat(name string) writable {
	all := formats()
	for i := range all {
		if all[i].Name == name {
			return all[i]
		}
	}
	return all[0]
}
