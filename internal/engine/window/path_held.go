// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"unsafe"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Held estimates the bytes of the memory.
func (s *Scratch) Held() int {
	v := &s.verdict
	n := v.graph.Held() + v.retiming.Held() + s.path.Held() + int(unsafe.Sizeof(jvmthread.NoThread))*cap(s.stuck)
	n += int(unsafe.Sizeof(criticalpath.Share{}))*(cap(v.Shares)+cap(v.sites)) + int(unsafe.Sizeof(criticalpath.Saving{}))*cap(v.Savings)
	for _, times := range v.onPath {
		n += int(unsafe.Sizeof(times)) + int(unsafe.Sizeof(jvmthread.Time(0)))*cap(times)
	}
	return n
}
