// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The list must follow the source: a fault that cannot be put in says nothing about the tests.
func TestEachFaultCanBePutIn(t *testing.T) {
	all, err := readFaults("faults.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 30 {
		t.Errorf("%d faults, want at least 30", len(all))
	}
	for i := range all {
		text, err := os.ReadFile(filepath.Join("..", "..", all[i].file))
		if err != nil {
			t.Errorf("fault %q: %v", all[i].title, err)
			continue
		}
		if _, err := all[i].apply(string(text)); err != nil {
			t.Error(err)
		}
	}
}
