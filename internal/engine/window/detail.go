// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// detail is what is known besides of the lane's interval with the number.
type detail struct {
	seq jvmthread.Seq
	jvmthread.Detail
}

// Detail returns what is known besides of an interval of the window.
func (w *Window) Detail(iv jvmthread.Interval) jvmthread.Detail {
	l := w.lane(iv.Thread)
	if l == nil || len(l.details) == 0 {
		return jvmthread.Detail{}
	}
	i, ok := slices.BinarySearchFunc(l.details, iv.Seq, func(d detail, seq jvmthread.Seq) int { return cmp.Compare(d.seq, seq) })
	if !ok {
		return jvmthread.Detail{}
	}
	return l.details[i].Detail
}
