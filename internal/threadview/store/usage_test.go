// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/store"
)

type usedIn struct{ From, To, CPU, RunQueue jvmthread.Time } // CPU less than 0: not known

// Readings are found whatever the windows, and divide any range without a rest.
func TestUsages(t *testing.T) {
	h, err := threadtest.Parse(`
0 A threadStart
0 B threadStart
100 A runQueue arg=0
100 A cpu arg=0
110 B cpu arg=0
190 B cpu arg=80
200 A runQueue arg=90
200 A cpu arg=10
300 A cpu arg=110
400 A threadEnd
500 B sleepStart`)
	require.NoError(t, err)
	for _, length := range []int{30, 100, 1000} {
		sn := stored(store.New(math.MaxInt64, nil), h.Events, time.Duration(length))
		used := func(from, to jvmthread.Time) (out []usedIn) {
			sn.Usages(sn.Thread(h.Thread("A")), from, to, func(from, to jvmthread.Time, u *jvmthread.Usage) {
				in := usedIn{from, to, -1, 0}
				if u != nil {
					in.CPU, in.RunQueue = u.Of(to - from)
				}
				out = append(out, in)
			})
			return out
		}
		assert.Equal(t, []usedIn{{0, 100, 0, 0}, {100, 200, 10, 90}, {200, 300, 100, 0}, {300, 400, -1, 0}}, used(0, 400), length)
		assert.Equal(t, []usedIn{{150, 200, 5, 45}, {200, 250, 50, 0}}, used(150, 250), length)
		assert.Equal(t, []usedIn{{120, 130, 1, 9}}, used(120, 130), length)
		assert.Equal(t, []usedIn{{320, 330, -1, 0}}, used(320, 330), length)
	}
}
