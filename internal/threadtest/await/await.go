// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package await answers: how does a test wait for another goroutine or process? Until a condition holds, and not for a time: the only limit
// is that of a test that hangs.
package await

import (
	"testing"
	"time"
)

// hang is how long a condition may take that holds within milliseconds unless it never will.
const hang = 10 * time.Minute

// Until waits until a condition holds. It is for what has no signal to wait for, such as a file that another process writes.
func Until(tb testing.TB, what string, condition func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(hang); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("after %v still not: %s", hang, what)
		}
	}
}
