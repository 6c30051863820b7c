// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// AttrDumps is the attribute that has the times of thread dumps.
const AttrDumps = attrRecordingDumps

// maxDumps bounds the dumps whose times are stated. Of more, the first and the last ones are.
const maxDumps = 1000

func dumpTimes(times []jvmthread.Time) string {
	var b strings.Builder
	for i, at := range times {
		if i >= maxDumps-1 && i+1 < len(times) {
			continue
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.FormatInt(int64(at), 10))
	}
	return b.String()
}

// DumpsHaveTimes reports whether dumps state their times: otherwise these count from 1970.
func DumpsHaveTimes(times []jvmthread.Time) bool { return len(times) > 0 && times[0] > 365*24*3600e9 }

// DumpTimes parses the attribute. It returns nil if the session has other sources than dumps.
func DumpTimes(text string) (times []jvmthread.Time) {
	for field := range strings.FieldsSeq(text) {
		if at, err := strconv.ParseInt(field, 10, 64); err == nil && len(times) < maxDumps {
			times = append(times, jvmthread.Time(at))
		}
	}
	return times
}
