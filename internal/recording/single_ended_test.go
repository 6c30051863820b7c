// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadtest"
)

func TestCompleteWaits(t *testing.T) {
	const waits = "10 A wait lock=Q\n"
	tests := []struct{ name, events, want string }{
		{"waited only", waits + "30 A waited lock=Q", "10 A wait, 30 A waited, 30 A waitReturned"},
		{"waited of a join", "10 A joinStart target=B lock=Q\n30 A waited lock=Q", "10 A joinStart, 30 A waited, 30 A joinEnd"},
		{"waitReturned only", waits + "30 A waitReturned lock=Q", "10 A wait, 30 A waited, 30 A waitReturned"},
		{"joinEnd only", "10 A joinStart target=B lock=Q\n30 A joinEnd lock=Q", "10 A joinStart, 30 A waited, 30 A joinEnd"},
		{
			"blocked before it returns", waits + "20 A contendedEnter lock=Q\n25 A contendedEntered lock=Q\n30 A waitReturned lock=Q",
			"10 A wait, 20 A waited, 20 A contendedEnter, 25 A contendedEntered, 30 A waitReturned",
		},
		{"no wait", "10 A contendedEnter lock=Q\n30 A waitReturned lock=Q", "10 A contendedEnter, 30 A waitReturned"},
		{"events lost", waits + "20 A gap\n30 A waitReturned lock=Q", "10 A wait, 20 A gap, 30 A waitReturned"},
		{"suspended", waits + "20 B suspend target=A\n30 A waitReturned lock=Q", "10 A wait, 20 B suspend, 30 A waitReturned"},
		{
			"suspended and resumed", waits + "20 B suspend target=A\n25 B resume target=A\n30 A waitReturned lock=Q",
			"10 A wait, 20 B suspend, 25 B resume, 30 A waited, 30 A waitReturned",
		},
		{"other threads", waits + "20 B notify lock=Q\n30 A waited lock=Q", "10 A wait, 20 B notify, 30 A waited, 30 A waitReturned"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, err := threadtest.Parse(test.events)
			if err != nil {
				t.Fatal(err)
			}
			for _, singleEnded := range []bool{true, false} {
				var c threadtest.Collector
				sink := recording.CompleteWaits(&c)
				if err := sink.Session(&recording.Session{SingleEnded: singleEnded}); err != nil {
					t.Fatal(err)
				}
				for i := range h.Events { // one batch per event, because the state belongs to the session
					if err := sink.Batch(&recording.Batch{Events: h.Events[i : i+1], Watermark: h.Events[i].Time}); err != nil {
						t.Fatal(err)
					}
				}
				if !singleEnded {
					if diff := cmp.Diff(h.Events, c.Events); diff != "" {
						t.Errorf("other recordings must not change: want - got +:\n%s", diff)
					}
					continue
				}
				got := make([]string, len(c.Events))
				for i, ev := range c.Events {
					got[i] = fmt.Sprintf("%d %c %s", ev.Time, 'A'+ev.Thread-1, ev.Kind)
				}
				if diff := cmp.Diff(test.want, strings.Join(got, ", ")); diff != "" {
					t.Errorf("want - got +:\n%s", diff)
				}
			}
		})
	}
}
