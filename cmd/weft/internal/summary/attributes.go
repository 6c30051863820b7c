// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	windows "github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// totalsOf reads the sums by state of a root or thread span.
func totalsOf(attrs pcommon.Map) (totals windows.Totals) {
	for _, state := range states {
		totals[state] = windows.Sum{
			Count: uint64(number(attrs, "weft.count."+state.String())), Time: duration(attrs, "weft.time."+state.String()),
		}
	}
	return totals
}

func blockedTime(totals *windows.Totals) time.Duration {
	return totals[jvmthread.StateBlocked].Time + totals[jvmthread.StateDeadlocked].Time
}

func text(attrs pcommon.Map, name string) string {
	value, ok := attrs.Get(name)
	if !ok {
		return ""
	}
	return value.Str()
}

func number(attrs pcommon.Map, name string) int64 {
	value, ok := attrs.Get(name)
	if !ok {
		return 0
	}
	return value.Int()
}

func flag(attrs pcommon.Map, name string) bool {
	value, ok := attrs.Get(name)
	return ok && value.Bool()
}

func duration(attrs pcommon.Map, name string) time.Duration {
	return time.Duration(number(attrs, name))
}
