// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package waits

import "testing"

func TestNamesThatAreNotInTheSource(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "Inventory.lock": "Inventory.lock", "local guard": "local guard", "Inventory.rw.readLock()": "Inventory.rw.readLock()",
		"Table$1.val$guard": "local guard", "ZipFile$Stream.this$0": "", "Causes$$Lambda$8+0x00007f47dc005c60.arg$1": "", "Causes$$Lambda$9.f": "",
	} {
		if got := inSource(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
