// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath_test

import (
	"encoding/binary"
	"testing"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// reader derives small numbers from bytes.
type reader []byte

func (r *reader) next(below int) int {
	if len(*r) == 0 {
		return 0
	}
	n := int((*r)[0]) % below
	*r = (*r)[1:]
	return n
}

// FuzzPaths builds arbitrary graphs: intervals may overlap, end before they begin, or repeat their numbers. The paths must still tile their
// windows, and every walk must terminate.
func FuzzPaths(f *testing.F) {
	f.Add(binary.BigEndian.AppendUint64(nil, 0x0102030405060708))
	f.Add([]byte("a thread that waits for a thread that waits for a thread"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := reader(data)
		g := criticalpath.New(criticalpath.Limits{MaxDepth: 8})
		for range r.next(5) {
			var list []jvmthread.Interval
			at := jvmthread.Time(0)
			for range r.next(8) {
				iv := jvmthread.Interval{
					Start: at, End: at + jvmthread.Time(r.next(9)-1), Thread: jvmthread.ThreadID(r.next(6)), Seq: jvmthread.Seq(len(list) + r.next(2)),
					State: jvmthread.State(r.next(jvmthread.NumStates + 1)), Lock: lockNo(r.next(3)), Peer: jvmthread.ThreadID(r.next(6)), Marks: jvmthread.Marks(r.next(4)),
				}
				at = iv.End + jvmthread.Time(r.next(3)-1)
				list = append(list, iv)
			}
			intervals := jvmthread.IntervalsOf(list...)
			g.AddLane(jvmthread.ThreadID(r.next(6)), &intervals)
		}
		var interactions []jvmthread.Interaction
		for range r.next(9) {
			interactions = append(interactions, jvmthread.Interaction{
				Kind: jvmthread.InteractionKind(r.next(jvmthread.NumInteractionKinds + 1)), CauseTime: jvmthread.Time(r.next(40)), EffectTime: jvmthread.Time(r.next(40)),
				From: jvmthread.IntervalRef{Thread: jvmthread.ThreadID(r.next(6)), Seq: jvmthread.Seq(r.next(9))},
				To:   jvmthread.IntervalRef{Thread: jvmthread.ThreadID(r.next(6)), Seq: jvmthread.Seq(r.next(9))},
			})
		}
		g.AddInteractions(interactions)
		var holds []jvmthread.Hold
		for range r.next(9) {
			holds = append(holds, jvmthread.Hold{
				Lock: lockNo(r.next(3)), Thread: jvmthread.ThreadID(r.next(6)), Start: jvmthread.Time(r.next(40)), End: jvmthread.Time(r.next(40)), Marks: jvmthread.HoldMarks(r.next(8)),
			})
		}
		g.AddHolds(holds)
		lo, hi := jvmthread.Time(r.next(20)), jvmthread.Time(r.next(60))
		p, retiming := new(criticalpath.Path), new(criticalpath.Retiming)
		g.Retime(lo, hi, retiming)
		for id := range jvmthread.ThreadID(7) {
			g.Bounded(id, lo, hi, p)
			tiles(t, p)
			g.Unbounded(id, lo, hi, p)
			tiles(t, p)
			p.AppendShares(nil, criticalpath.BySite)
			retiming.Slacks(id)
			for _, s := range retiming.AppendSavings(nil, id, criticalpath.ByLock) {
				if s.Drag > s.Bound || s.Drag < 0 {
					t.Fatalf("drag %d, bound %d", s.Drag, s.Bound)
				}
			}
			for seq := range jvmthread.Seq(9) {
				ref := jvmthread.IntervalRef{Thread: id, Seq: seq}
				g.Idle(ref)
				retiming.Slack(ref)
			}
		}
		g.Last(hi, nil)
	})
}

func tiles(t *testing.T, p *criticalpath.Path) {
	t.Helper()
	at := p.Start
	for _, s := range p.Segments {
		if s.Start != at || s.End <= s.Start {
			t.Fatalf("segment %+v: want start %d", s, at)
		}
		at = s.End
	}
	if at != p.End {
		t.Fatalf("path ends at %d, want %d", at, p.End)
	}
}
