// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

// MetricTexts returns instrument and unit of each metric by name.
func MetricTexts() map[string][2]string {
	out := make(map[string][2]string)
	for _, m := range metricTexts {
		out[m.name] = [2]string{[...]string{"counter", "gauge", "histogram"}[m.instrument], m.unit}
	}
	return out
}
