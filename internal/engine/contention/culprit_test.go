// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import "testing"

func TestCulprit(t *testing.T) {
	for _, test := range []struct {
		name    string
		holders []Holder
		want    int
	}{
		{"no holders", nil, -1},
		{"half of the time", []Holder{{"worker-1", 0.5}, {"report", 0.4}}, 0},
		{"not one of those that wait", []Holder{{"worker-1", 0.4}, {"worker-2", 0.3}, {"report", 0.2}}, 2},
		{"not one of those that wait, but too short", []Holder{{"worker-1", 0.3}, {"worker-2", 0.3}, {"report", 0.19}}, -1},
		{"one of those that wait", []Holder{{"worker-1", 0.35}, {"worker-2", 0.2}}, 0},
		{"one of those that wait, like others", []Holder{{"worker-1", 0.4}, {"worker-2", 0.3}}, -1},
		{"one of many that wait", []Holder{{"worker-1", 0.28}, {"worker-2", 0.12}, {"worker-3", 0.1}}, -1},
		{"mostly unknown", []Holder{{"worker-1", 0.1}}, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			if have := Culprit(test.holders, "worker-*"); have != test.want {
				t.Errorf("have %d, want %d", have, test.want)
			}
		})
	}
}
