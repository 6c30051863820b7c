// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// FuzzEngine runs arbitrary histories, possible or not: the engine must not fail, and its windows must be consistent.
func FuzzEngine(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(encode(simulate(seed).Events))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		events := decode(data)
		for _, length := range []time.Duration{time.Hour, 300} {
			seen := uint64(0)
			run(t, events, length, func(w *window.Window) {
				seen += w.Events
				w.Select(20, 0)
				for _, err := range threadtest.Validate(w) {
					t.Error(err)
				}
			})
			want := uint64(0)
			for _, ev := range events {
				if ev.Kind != jvmthread.KindGap {
					want++
				}
			}
			if seen != want {
				t.Errorf("%d events added, %d in windows", want, seen)
			}
		}
	})
}

const eventBytes = 7

// decode turns arbitrary bytes into a history.
func decode(data []byte) (events []jvmthread.Event) {
	at := jvmthread.Time(1000)
	for ; len(data) >= eventBytes; data = data[eventBytes:] {
		at += jvmthread.Time(data[1])
		ev := jvmthread.Event{
			Kind: jvmthread.Kind(data[0]) % jvmthread.Kind(jvmthread.NumKinds+2), Time: at,
			Thread: jvmthread.ThreadID(data[2] % 16), Peer: jvmthread.ThreadID(data[3] % 16),
			Flags: jvmthread.Flags(data[5]), Arg: int64(int8(data[6])),
		}
		if l := data[4] % 6; l > 0 {
			ev.Lock = jvmthread.LockID{Class: jvmthread.ClassID(l%2) + 1, Hash: uint32(l)}
		}
		events = append(events, ev)
	}
	return events
}

func encode(events []jvmthread.Event) (data []byte) {
	last := jvmthread.Time(1000)
	for _, ev := range events {
		data = append(data, byte(ev.Kind), byte(min(255, ev.Time-last)), byte(ev.Thread), byte(ev.Peer), byte(ev.Lock.Hash), byte(ev.Flags), byte(ev.Arg))
		last = ev.Time
	}
	return data
}
