// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"cmp"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// end completes an incident that is over, or cut.
func (f *Finder) end(inc *Incident) {
	switch {
	case inc.Blocked == 0: // nothing followed after it was cut
	case inc.Blocked < f.opt.MinTime && inc.Cycle == 0:
		f.found.Rest.add(inc.Blocked - inc.reported)
	default:
		f.ended = append(f.ended, inc)
	}
}

// report chooses the costliest incidents that ended.
func (f *Finder) report(w *window.Window) {
	type candidate struct {
		id    ID
		dead  bool
		time  time.Duration
		inc   *Incident
		group int
	}
	all := make([]candidate, 0, len(f.ended)+len(f.fresh))
	for _, inc := range f.ended {
		all = append(all, candidate{inc.ID, inc.Cycle != 0, inc.Blocked - inc.reported, inc, -1})
	}
	for _, fr := range f.fresh {
		g := &f.groups[fr.group]
		all = append(all, candidate{fr.id, g.cycle != 0, time.Duration(g.time), nil, fr.group})
	}
	slices.SortFunc(all, func(a, b candidate) int {
		if a.dead != b.dead {
			if a.dead {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.time, a.time), a.id.compare(b.id))
	})
	for i, c := range all {
		if i >= f.opt.MaxPerWindow {
			f.found.Rest.add(c.time)
			continue
		}
		if c.inc == nil {
			c.inc = newIncident(c.id)
			f.collect(w, &f.groups[c.group], c.inc)
		}
		c.inc.finish()
		f.found.Incidents = append(f.found.Incidents, c.inc)
		f.found.Reported.add(c.time)
	}
	standing := make(map[jvmthread.Cycle]bool)
	for _, inc := range f.open {
		standing[inc.Cycle] = true
		f.found.Open.add(inc.Blocked - inc.reported)
	}
	for cycle := range f.deadlocks {
		if !standing[cycle] {
			delete(f.deadlocks, cycle)
		}
	}
}
