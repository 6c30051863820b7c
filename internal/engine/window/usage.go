// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// AddUsage adds what a thread used before a reading of its clocks, also to the details of its open interval.
func (b *Builder) AddUsage(th *timeline.Thread) {
	l, u := b.lane(th), th.Used()
	before := cap(l.Usages)
	l.Usages = append(l.Usages, *u)
	b.bytes += perUsage * (cap(l.Usages) - before)
	b.intervals++
	open := th.Open()
	if part := u.To - max(u.From, open.Start, b.window.Start); part > 0 && open.State == jvmthread.StateRunnable {
		th.Use(u.Of(part))
	}
}
