// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadlogexporter

import (
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/recording/orca"
)

// writable is a format that can be written, and the extension of its files.
type writable struct {
	recording.Format

	extension string
}

func writables() (list []writable) {
	extensions := map[string]string{"orca": orca.Extension, "tptp": ".trcxml", "native": ".weft"}
	all := formats.All()
	for i := range all {
		if all[i].NewEncoder == nil {
			continue
		}
		extension := extensions[all[i].Name]
		if extension == "" {
			extension = "." + all[i].Name
		}
		list = append(list, writable{all[i], extension})
	}
	return list
}

func formatNames() (names []string) {
	all := writables()
	for i := range all {
		names = append(names, all[i].Name)
	}
	return names
}

// findFormat returns the format with a name that Validate has accepted.
func findFormat(name string) writable {
	all := writables()
	for i := range all {
		if all[i].Name == name {
			return all[i]
		}
	}
	return all[0]
}
