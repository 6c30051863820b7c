// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package deadlock_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

const (
	early = deadlock.Grace / 2
	late  = 3 * deadlock.Grace
)

// play applies a history and confirms what is due at each event, as the engine does.
func play(t *testing.T, text string) (*threadtest.History, *deadlock.Detector, []deadlock.Found) {
	t.Helper()
	h, err := threadtest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	tl := timeline.New(timeline.DefaultMaxThreads, nil)
	binder := interaction.New(tl, interaction.DefaultMaxLocks)
	d := deadlock.New(tl, binder, nil)
	var found []deadlock.Found
	confirm := func(now jvmthread.Time) {
		for _, f := range d.Confirm(now, 0) {
			for _, m := range f.Members {
				tl.Deadlock(m.Thread, f.Cycle, f.Since)
			}
			found = append(found, f)
		}
	}
	for i := range h.Events {
		ev := &h.Events[i]
		if d.Due(ev.Time) {
			confirm(ev.Time)
		}
		list, th, _ := tl.Apply(ev)
		closed := new(jvmthread.Interval)
		if len(list) > 0 {
			closed = &list[0]
		}
		binder.Apply(ev, th, closed)
		d.Apply(ev)
	}
	confirm(late)
	return h, d, found
}

func TestCycles(t *testing.T) {
	const two = "10 A contendedEnter lock=M owner=B\n20 B contendedEnter lock=N owner=A\n"
	tests := []struct {
		name, events string
		want         []string // the members and the time at which the cycle closed
	}{
		{"two monitors", two, []string{"AB 20"}},
		{"the smallest thread is first", "1 A yield\n1 B yield\n10 B contendedEnter lock=N owner=A\n20 A contendedEnter lock=M owner=B", []string{"AB 20"}},
		{
			"three monitors",
			"10 A contendedEnter lock=M owner=B\n20 B contendedEnter lock=N owner=C\n30 C contendedEnter lock=O owner=A",
			[]string{"ABC 30"},
		},
		{"two owned synchronizers", "10 A park lock=M owner=B\n20 B park lock=N owner=A", []string{"AB 20"}},
		{"a monitor and a synchronizer", "10 A contendedEnter lock=M owner=B\n20 B park lock=N owner=A", []string{"AB 20"}},
		{"a park with a timeout ends by itself", "10 A contendedEnter lock=M owner=B\n20 B park lock=N owner=A arg=5", nil},
		{"a park without an owner", "10 A contendedEnter lock=M owner=B\n20 B park lock=N", nil},
		{"a wait needs no owner", "10 A contendedEnter lock=M owner=B\n20 B wait lock=N", nil},
		{"a chain without a cycle", "10 A contendedEnter lock=M owner=B\n20 B contendedEnter lock=N owner=C", nil},
		{"a thread that waits for a deadlock is not in it", two + "30 C contendedEnter lock=M owner=B", []string{"AB 20"}},
		{
			"two cycles", two + "30 C contendedEnter lock=O owner=D\n40 D contendedEnter lock=P owner=C",
			[]string{"AB 20", "CD 40"},
		},
		{"a thread moved within the grace period", two + fmt.Sprintf("%d A contendedEntered lock=M", early), nil},
		{"a thread ended within the grace period", two + fmt.Sprintf("%d A threadEnd", early), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, d, found := play(t, test.events)
			var got []string
			for i, f := range found {
				members := make([]byte, len(f.Members))
				for i, m := range f.Members {
					members[i] = byte('A' + m.Thread - 1)
				}
				got = append(got, fmt.Sprintf("%s %d", members, f.Since))
				if int(f.Cycle) != i+1 || len(f.Waits) != len(f.Members) {
					t.Errorf("cycle %d with %d waits of %d members", f.Cycle, len(f.Waits), len(f.Members))
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("want - got +:\n%s", diff)
			}
			if standing, fresh := d.Standing(), d.Take(nil); len(standing) != len(found) || len(fresh) != len(found) || len(d.Take(nil)) > 0 {
				t.Errorf("%d are standing and %d new, want %d", len(standing), len(fresh), len(found))
			}
		})
	}
}

func TestDeadlockEnds(t *testing.T) {
	_, d, found := play(t, "10 A contendedEnter lock=M owner=B\n20 B contendedEnter lock=N owner=A\n"+
		fmt.Sprintf("%d C yield\n%d A contendedEntered lock=M", 2*deadlock.Grace, 2*deadlock.Grace+1))
	if len(found) != 1 || len(d.Standing()) != 0 || len(d.Take(nil)) != 1 {
		t.Errorf("%d found, %d standing: want one that has ended", len(found), len(d.Standing()))
	}
}

func TestLongChain(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%d T%d contendedEnter lock=L%d owner=T%d\n", 600-i, 300-i, 300-i, 301-i)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	for i := range lines { // the times rise, so that each thread waits for a chain that is already there
		lines[i] = fmt.Sprintf("%d %s", i, strings.SplitN(lines[i], " ", 2)[1])
	}
	_, d, found := play(t, strings.Join(lines, "\n"))
	if c := d.Counters(); len(found) != 0 || c.SearchesCut == 0 {
		t.Errorf("%d deadlocks, %+v: want searches that were cut", len(found), c)
	}
}

func TestLockOrder(t *testing.T) {
	// In turn, a thread holds one lock while it is blocked on the other: other threads wait for the first one, which proves the hold.
	mThenN := "10 X contendedEnter lock=M owner=A\n20 A contendedEnter lock=N owner=Y\n30 A contendedEntered lock=N\n40 X contendedEntered lock=M\n"
	nThenM := "50 Y contendedEnter lock=N owner=B\n60 B contendedEnter lock=M owner=X\n70 B contendedEntered lock=M\n80 Y contendedEntered lock=N\n"
	tests := []struct{ name, events, want string }{
		{"both orders", mThenN + nThenM, "A held M and requested N at 20, B in the opposite order at 60"},
		{"one order", mThenN, ""},
		{"one order twice", mThenN + strings.NewReplacer("10 ", "110 ", "20 ", "120 ", "30 ", "130 ", "40 ", "140 ", "A", "B").Replace(mThenN), ""},
		{"both orders by the same thread", mThenN + strings.ReplaceAll(nThenM, "B", "A"), ""},
		{
			"a hint is given once", mThenN + nThenM + strings.NewReplacer("50 ", "150 ", "60 ", "160 ", "70 ", "170 ", "80 ", "180 ").Replace(nThenM),
			"A held M and requested N at 20, B in the opposite order at 60",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, d, _ := play(t, test.events)
			var got []string
			for _, hint := range d.TakeHints(true) {
				got = append(got, h.Hint(hint))
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("want - got +:\n%s", diff)
			}
			if again := d.TakeHints(true); len(again) > 0 {
				t.Errorf("%v are reported twice", again)
			}
		})
	}
}
