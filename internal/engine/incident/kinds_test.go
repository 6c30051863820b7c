// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// A damaged recording has locks without a class. Whatever their hashes are, they are neither pools, call sites nor carriers.
func TestLocksWithoutClassAreLocks(t *testing.T) {
	const site = 7 // all other waits are there
	for _, hash := range []uint32{1, site, 1 << 31, 0x9e3779b8, math.MaxUint32} {
		for _, length := range []time.Duration{1000, 130} {
			t.Run(fmt.Sprintf("%x %v", hash, length), func(t *testing.T) {
				h, err := threadtest.Parse(starts + `
100 A park lock=L stack=1
150 B contendedEnter lock=L owner=D stack=1
160 C park stack=1
500 A unparked lock=L
600 B contendedEntered lock=L
700 C unparked
`)
				require.NoError(t, err)
				lock := jvmthread.LockID{Hash: hash}
				for i := range h.Events {
					ev := &h.Events[i]
					if !ev.Lock.IsZero() {
						ev.Lock = lock
					}
					if ev.Stack != jvmthread.NoStack {
						ev.Stack = site
					}
				}
				sym := h.Symbols()
				for i := range site - 1 {
					sym.InternStack(fmt.Sprintf("\tat com.acme.Shop.load(Shop.java:%d)\n", i))
				}
				sym.InternStack(hikariStack)
				f := incident.NewFinder(incident.Options{MinTime: 1, MaxPerWindow: 20})
				f.Waits = waits.NewRules(waits.Config{}).Of(sym)
				got := make(map[incident.Awaited]string)
				run(sym, h.Events, length, func(w *window.Window) {
					for _, inc := range f.Find(w).Incidents {
						assert.Empty(t, threadtest.ValidateIncident(inc))
						for _, l := range inc.Locks {
							got[l.ID] += fmt.Sprintf("%d threads waited %v", l.Threads, l.Time)
						}
					}
				})
				assert.Equal(t, map[incident.Awaited]string{
					{Lock: lock}: "2 threads waited 850ns",
					{Kind: incident.AwaitedSite, Number: site}: "1 threads waited 540ns",
				}, got)
			})
		}
	}
}
