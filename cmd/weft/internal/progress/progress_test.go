// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestLineIsReplacedAtMostTenTimesASecond(t *testing.T) {
	var out strings.Builder
	now := time.Unix(1, 0)
	line := On(&out)
	line.now = func() time.Time { return now }
	for i := range int64(100) {
		line.Of("reading", i, 100)
		now = now.Add(10 * time.Millisecond)
	}
	shown := strings.Split(out.String(), "\r\x1b[K")[1:]
	assert.Len(t, shown, 10)
	assert.Equal(t, "reading [........................]   0 %", shown[0])
	assert.Equal(t, "reading [############............]  50 %", shown[5])
	line.Clear()
	line.Clear()
	assert.True(t, strings.HasSuffix(out.String(), " 90 %\r\x1b[K"))
	line.Of("done", 200, 100)
	assert.True(t, strings.HasSuffix(out.String(), "done [########################] 100 %"))
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		done := int64(0)
		stop := On(&out).Watch(func() (string, int64, int64) { done += 25; return "reading", done, 100 })
		time.Sleep(time.Second - time.Millisecond)
		stop()
		stop()
		shown := strings.Split(out.String(), "\r\x1b[K")[1:]
		assert.Len(t, shown, 5)
		assert.Equal(t, "reading [########################] 100 %", shown[3])
		assert.Empty(t, shown[4])
	})
}

func TestNilShowsNothing(*testing.T) {
	var line *Line
	line.Of("reading", 1, 2)
	line.Show("waiting")
	line.Clear()
	line.Watch(nil)()
}

func TestUnknownTotal(t *testing.T) {
	var out strings.Builder
	On(&out).Of("reading - 100 %", 5, 0)
	assert.Equal(t, "\r\x1b[Kreading - 100 %", out.String())
}
