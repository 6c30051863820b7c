// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"fmt"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/corpus/spantest"
)

// checkRecordedNotifies checks notifiers: before JDK 24 a recording does not distinguish notify from notifyAll.
func checkRecordedNotifies(t spantest.T, o *spantest.Output, service string, truth spantest.Notifies) {
	t.Helper()
	links := append(o.Links(service, "notify"), o.Links(service, "notify_all")...)
	by := map[string]int{}
	for i, l := range links {
		if assert.NotNil(t, l.To, "link %d points at a span that exists", i) {
			by[fmt.Sprint(l.From.Text("weft.lock.class"), " ", l.To.Number("thread.id"))]++
		}
	}
	assert.Equal(t, truth.Notifies, by[fmt.Sprint(truth.Bell, " ", truth.Ringer)])
	assert.Equal(t, truth.Woken, by[fmt.Sprint(truth.Gong, " ", truth.Striker)])
}
