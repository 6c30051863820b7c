// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/golden"
	"github.com/weft-otel/weft/internal/wording"
)

// Each file in testdata has a history of events, the length of windows, and the incidents of each window. The drawing above is documentation.
func TestGoldens(t *testing.T) { golden.Each(t, "testdata/*.txt", checkGolden) }

func checkGolden(t *testing.T, file string) {
	t.Helper()
	_, bodies := golden.Read(t, file)
	h, err := threadtest.Parse(bodies["events"])
	require.NoError(t, err)
	length, err := strconv.Atoi(strings.TrimSpace(bodies["window"]))
	require.NoError(t, err)
	sym := h.Symbols()
	for line := range strings.Lines(bodies["events"]) {
		for _, word := range strings.Fields(line)[1:2] {
			sym.SetThread(jvmthread.Thread{ID: h.Thread(word), Name: word})
		}
	}
	var b strings.Builder
	ids := make(map[incident.ID]bool)
	f := incident.NewFinder(incident.Options{MinTime: 12, MaxPerWindow: 20})
	run(sym, h.Events, time.Duration(length), func(w *window.Window) {
		found := f.Find(w)
		fmt.Fprintf(&b, "window %d..%d:", w.Start, w.End)
		for _, sum := range []struct {
			name string
			incident.Sum
		}{{"reported", found.Reported}, {"rest", found.Rest}, {"open", found.Open}} {
			if sum.Count > 0 {
				fmt.Fprintf(&b, " %s %d with %d", sum.name, sum.Count, sum.Time)
			}
		}
		if found.Starved > 0 {
			fmt.Fprintf(&b, " starved %d", found.Starved)
		}
		b.WriteByte('\n')
		for _, inc := range found.Incidents {
			for _, err := range threadtest.ValidateIncident(inc) {
				t.Error(err)
			}
			if ids[inc.ID] {
				t.Errorf("two incidents have the ID %+v", inc.ID)
			}
			ids[inc.ID] = true
			p := printer{&b, h, func(id jvmthread.ThreadID) string { return sym.Thread(id).Name }}
			p.incident(inc, inc.Culprit(sym))
		}
	})
	bodies["incidents"] = b.String()
	golden.Compare(t, file, golden.Join([]string{"", "window", "events", "incidents"}, bodies))
}

// printer prints incidents in lines.
type printer struct {
	*strings.Builder

	h    *threadtest.History
	name func(jvmthread.ThreadID) string
}

func (p *printer) incident(inc *incident.Incident, culprit *incident.Holder) {
	fmt.Fprintf(p, "  %v %d..%d blocked %d in %d waits of %d threads, longest %d", inc.Kind, inc.Start, inc.End, inc.Blocked, inc.Count, inc.Threads,
		inc.Longest)
	for _, l := range inc.Locks {
		fmt.Fprintf(p, ", %d for %s", l.Time, p.awaited(&l.ID))
	}
	if len(inc.Locks) > 1 {
		fmt.Fprintf(p, ", root %s", p.awaited(&inc.Root().ID))
	}
	if culprit != nil {
		fmt.Fprintf(p, ", culprit %s %s", p.name(culprit.Thread), wording.Percent(inc.Share(culprit)))
	}
	if inc.Deadlock != nil {
		fmt.Fprintf(p, ", cycle of %d since %d", len(inc.Deadlock.Members), inc.Deadlock.Since)
	}
	if inc.Open {
		p.WriteString(", open")
	}
	if inc.Rest {
		fmt.Fprintf(p, ", after %d/%s", inc.Before.Start, p.name(inc.Before.First))
	}
	p.WriteByte('\n')
	for i := range inc.Holds {
		h := &inc.Holds[i]
		fmt.Fprintf(p, "    %s held %s %d..%d, %v, blocked %d\n", p.name(h.Thread), p.awaited(&h.Of), h.Start, h.End, h.Doing.State, h.Blocked)
	}
	for i := range inc.Waits {
		wt := &inc.Waits[i]
		fmt.Fprintf(p, "    %s waited for %s %d..%d", p.name(wt.Interval.Thread), p.waitedFor(&wt.Interval), wt.Start, wt.End)
		if wt.Holder.Thread != jvmthread.NoThread {
			fmt.Fprintf(p, ", held by %s, %v", p.name(wt.Holder.Thread), wt.Holder.Doing.State)
		}
		if wt.Share > 0 {
			p.WriteString(" " + wording.Percent(wt.Share))
		}
		if wt.Giver.Kind != jvmthread.InteractionNone {
			fmt.Fprintf(p, ", got it from %s at %d", p.name(wt.Giver.From.Thread), wt.Giver.CauseTime)
		}
		p.WriteByte('\n')
	}
}

func (p *printer) waitedFor(iv *jvmthread.Interval) string {
	if iv.Wait == jvmthread.WaitCarrier {
		return p.awaited(&incident.Awaited{Kind: incident.AwaitedCarriers})
	}
	return p.awaited(&incident.Awaited{Lock: iv.Lock})
}

// awaited returns the name of what threads wait for: in these histories, that of a lock is its class.
func (p *printer) awaited(a *incident.Awaited) string {
	if a.Kind == incident.AwaitedCarriers {
		return "carriers"
	}
	return strings.Fields(p.h.Hold(jvmthread.Hold{Lock: a.Lock}))[0]
}
