// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"sort"

	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// addMounts adds the virtual threads that kept a carrier for long, and a lane for each that still does: one that computes has no event.
func (b *Builder) addMounts(tl *timeline.Timeline, at jvmthread.Time) {
	w := &b.window
	w.Mounts = tl.TakeMounts(at, w.Mounts)
	for i := range w.Mounts {
		h := &w.Mounts[i]
		w.longestMount = max(w.longestMount, h.End-h.Start)
		if h.Marks&jvmthread.HoldOpen == 0 {
			continue
		}
		if th := tl.Thread(h.Thread); th != nil {
			b.lane(th)
		}
	}
}

// MountsDuring returns the long mounts that end after start, without those of which it is clear that they begin after end.
func (w *Window) MountsDuring(start, end jvmthread.Time) []jvmthread.Hold {
	first := sort.Search(len(w.Mounts), func(i int) bool { return w.Mounts[i].End > start })
	last := first + sort.Search(len(w.Mounts)-first, func(i int) bool { return w.Mounts[first+i].End >= end+w.longestMount })
	return w.Mounts[first:last]
}
