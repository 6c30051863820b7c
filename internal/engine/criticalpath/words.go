// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

// kindTitles are also in web/src/lib/words.ts; a test compares them.
var kindTitles = [kindEnd]string{
	KindUnknown:        "unknown",
	KindRun:            "runnable",
	KindSleep:          "sleeping",
	KindSuspended:      "suspended",
	KindBlockedUnknown: "blocked by an unknown thread",
	KindWaitUnknown:    "waiting for an unknown thread",
	KindTimer:          "waiting for a timeout",
	KindWakeLatency:    "woken, not running yet",
	KindStartLatency:   "started, not running yet",
	KindDeadlock:       "deadlocked",
	KindCycle:          "waiting in a cycle",
	KindTooDeep:        "not searched further",
	KindCut:            "not searched",
	KindIdle:           "waiting for a task",
	KindRunQueue:       "waiting for a carrier",
}

// Title says in words what the thread of a segment did.
func (k Kind) Title() string {
	if k < kindEnd {
		return kindTitles[k]
	}
	return "invalid"
}
