// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// TestEndIsFinal checks that a thread that has ended has no gap, although JDK 24 and newer write its notification of joining threads after
// its end.
func TestEndIsFinal(t *testing.T) {
	t.Parallel()
	l := newLasts()
	l.see(&record{event: jvmthread.Event{Kind: jvmthread.KindThreadEnd, Thread: 1, Time: 10}, end: 10})
	l.see(&record{event: jvmthread.Event{Kind: jvmthread.KindNotifyAll, Thread: 1, Time: 11}, end: 11})
	l.see(&record{event: jvmthread.Event{Kind: jvmthread.KindNotifyAll, Thread: 2, Time: 12}, end: 12})
	_, silent := l.silence(1, 11)
	assert.False(t, silent, "it has ended")
	from, silent := l.silence(2, 12)
	assert.True(t, silent, "it may have begun to wait")
	assert.EqualValues(t, 12, from)
}
