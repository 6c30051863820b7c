// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"runtime"
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// maxVolume is the memory in bytes that decoding a recording of any size may use.
const maxVolume = 200 << 20

// Volume writes a recording of the given size to a decoder, repeating the events at later times. It returns the peak growth of the heap in
// bytes and fails the test if that reaches maxVolume.
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
		t.Errorf("decoding %d bytes used %d bytes of memory, want less than %d", size, peak, maxVolume)
	}
	return peak
}
