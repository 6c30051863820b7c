// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// carriersOf returns each carrier and its virtual thread, in the order of names.
func carriersOf(h *threadtest.History, tl *timeline.Timeline, names ...string) string {
	var list []string
	for carrier, carried := range tl.Carriers {
		for _, name := range names {
			if h.Thread(name) != carrier {
				continue
			}
			text := name + ": -"
			for _, v := range []string{"V", "W"} {
				if h.Thread(v) == carried {
					text = name + ": " + v
				}
			}
			if th := tl.Thread(carried); th != nil && th.Pinned() {
				text += " pinned"
			}
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func TestCarriers(t *testing.T) {
	const mounted = "0 V mount target=C virtual\n0 W mount target=D virtual\n"
	for _, test := range []struct{ name, events, want string }{
		{"a platform thread without mounts is none", "0 C threadStart", ""},
		{"virtual threads run", mounted, "C: V, D: W"},
		{"one waits and stays", mounted + "5 V park virtual", "C: V pinned, D: W"},
		{"it went on", mounted + "5 V park virtual\n6 V unparked virtual", "C: V, D: W"},
		{"it leaves", mounted + "5 V park virtual\n6 V unmount target=C virtual", "C: -, D: W"},
		{"another one comes", mounted + "5 V park virtual\n6 V unmount target=C virtual\n7 W unmount target=D virtual\n8 W mount target=C virtual", "C: W, D: -"},
		{"another one comes in the same nanosecond", "0 V mount target=C virtual\n5 W mount target=C virtual\n5 V unmount target=C virtual", "C: W"},
		{"one that ends leaves", mounted + "5 V threadEnd virtual", "C: -, D: W"},
		{"an unmount after the end changes nothing", mounted + "5 V threadEnd virtual\n6 W unmount target=D virtual\n7 W mount target=C virtual\n8 V unmount target=C virtual", "C: W, D: -"},
		{"it was mounted before the first event", "5 V running target=C virtual", "C: V"},
		{"only its unmount is known", "5 V unmount target=C virtual", "C: -"},
		{"the carrier ends", mounted + "5 V unmount target=C virtual\n6 C threadEnd", "D: W"},
		{"events of a virtual thread are lost", mounted + "5 V gap", "D: W"},
		{"events of a carrier are lost", mounted + "5 C gap", "D: W"},
		{"events of all are lost", mounted + "5 - gap", ""},
		{"afterwards one leaves", mounted + "5 - gap\n6 V unmount target=C virtual", "C: -"},
	} {
		h, tl, _ := play(t, test.events)
		if got := carriersOf(h, tl, "C", "D"); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		restored, state := timeline.New(timeline.DefaultMaxThreads, nil), tl.State()
		restored.Restore(&state)
		if got := carriersOf(h, restored, "C", "D"); got != test.want {
			t.Errorf("%s, restored: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestLimitOfCarriers(t *testing.T) {
	tl := timeline.New(2, nil)
	for id := range jvmthread.ThreadID(3) { // one virtual thread on three carriers
		tl.Apply(&jvmthread.Event{Time: 1, Thread: 9, Peer: id + 1, Kind: jvmthread.KindMount})
	}
	n := 0
	for range tl.Carriers {
		n++
	}
	if c := tl.Counters(); n != 2 || c.Refused != 1 {
		t.Errorf("%d carriers, %+v", n, c)
	}
}
