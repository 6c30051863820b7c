// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"runtime"
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// maxVolume is how much memory a recording of any size may take while it is read.
const maxVolume = 200 << 20

// Volume writes a recording of the given size to a decoder, the same events at later times again and again, and returns the most memory
// that was in use above what there was before. It fails if that is 200 MB or more.
func Volume(t testing.TB, d recording.Decoder, e recording.Encoder, events []jvmthread.Event, size int64) (peak uint64) {
	t.Helper()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapInuse
	span := events[len(events)-1].Time - events[0].Time + 1
	var text []byte
	for written, n := int64(0), 0; written < size; n++ {
		text = e.Batch(text[:0], &recording.Batch{Events: events})
		if _, err := d.Write(text); err != nil {
			t.Fatal(err)
		}
		written += int64(len(text))
		for i := range events {
			events[i].Time += span
		}
		if n%16 == 0 {
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse-min(before, m.HeapInuse))
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if peak >= maxVolume {
		t.Errorf("%d bytes took %d of memory", size, peak)
	}
	return peak
}
