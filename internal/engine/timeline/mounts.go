// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// LongMount is the time from which on a virtual thread that keeps its carrier is noted. Shorter mounts make no other thread wait for longer, and
// there are too many of them.
const LongMount = jvmthread.Time(10 * time.Millisecond)

// maxMounts bounds the long mounts that are noted until they are taken; further ones are forgotten. In ten seconds, 65 carriers can have as many.
const maxMounts = 1 << 16

// dismount notes that a thread has left its carrier.
func (t *Timeline) dismount(th *Thread, at jvmthread.Time) {
	if th.longMounted(at) && len(t.mounts) < maxMounts {
		t.mounts = append(t.mounts, th.mounted(at, jvmthread.HoldShared))
	}
	th.on = carriage{}
}

// longMounted reports whether the thread has kept its carrier for long.
func (t *Thread) longMounted(at jvmthread.Time) bool {
	return t.on.carrier != jvmthread.NoThread && at-t.on.since >= LongMount
}

func (t *Thread) mounted(at jvmthread.Time, marks jvmthread.HoldMarks) jvmthread.Hold {
	return jvmthread.Hold{Start: t.on.since, End: at, Thread: t.open.Thread, Marks: marks}
}

// TakeMounts appends the long mounts that ended since its last call, in the order of their ends, and then those that last at the given time,
// which is not before any event: they are reported again when they end.
func (t *Timeline) TakeMounts(at jvmthread.Time, out []jvmthread.Hold) []jvmthread.Hold {
	out = append(out, t.mounts...)
	t.mounts = t.mounts[:0]
	ended := len(out)
	for _, th := range t.threads {
		if !th.dead && th.longMounted(at) {
			out = append(out, th.mounted(at, jvmthread.HoldShared|jvmthread.HoldOpen|jvmthread.HoldSoFar))
		}
	}
	slices.SortFunc(out[ended:], func(a, b jvmthread.Hold) int { return cmp.Compare(a.Thread, b.Thread) })
	return out
}
