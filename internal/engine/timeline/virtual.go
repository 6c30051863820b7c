// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import "github.com/weft-otel/weft/internal/jvmthread"

// MayRun reports whether the thread runs or may run. A virtual thread that left a wait set may: it does not report when it gets the monitor
// again.
func (t *Thread) MayRun() bool {
	return t.open.State == jvmthread.StateRunnable || t.open.State == jvmthread.StateReentering && t.virtual
}

// ran makes the open interval of a virtual thread runnable. A virtual thread that left the wait set and did not get the monitor by
// contendedEntered got it at once, as it has done something else since.
func (t *Thread) ran() {
	t.inWait = false
	iv := &t.open
	iv.State, iv.Wait, iv.Lock, iv.Peer, iv.Stack = jvmthread.StateRunnable, jvmthread.WaitNone, jvmthread.NoLock, jvmthread.NoThread, jvmthread.NoStack
}
