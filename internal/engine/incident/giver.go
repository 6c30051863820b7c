// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Giver is a thread that ended waits for a pool: it gave back what others waited for.
type Giver struct {
	Thread jvmthread.ThreadID
	Waited time.Duration      // the sum of the waits that it ended, of those that the incident lists
	Doing  jvmthread.Interval // what it did for longest while it held what it gave back; Seq is NoSeq if that is not known
}

// Giver returns who ended the waits for a pool that are at least half of those that the incident lists, by time; nil: no thread is known to
// have done so, or the incident has another cause.
func (inc *Incident) Giver() *Giver {
	if inc.Kind != PoolExhausted {
		return nil
	}
	givers := make(map[jvmthread.ThreadID]*Giver)
	longest := make(map[jvmthread.ThreadID]jvmthread.Time)
	var best *Giver
	var all time.Duration
	for i := range inc.Waits {
		wt := &inc.Waits[i]
		if wt.key != inc.key {
			continue
		}
		all += wt.End.Sub(wt.Start)
		id := wt.Giver.From.Thread
		if wt.Giver.Kind != jvmthread.InteractionHandoff || id == jvmthread.NoThread {
			continue
		}
		g := givers[id]
		if g == nil {
			g = &Giver{Thread: id, Doing: jvmthread.Interval{Seq: jvmthread.NoSeq}}
			givers[id] = g
		}
		g.Waited += wt.End.Sub(wt.Start)
		if did := &wt.Holder.Doing; wt.Holder.Thread == id && did.Seq != jvmthread.NoSeq {
			if d := min(did.End, wt.End) - max(did.Start, wt.Start); d > longest[id] {
				longest[id], g.Doing = d, *did
			}
		}
		if best == nil || g.Waited > best.Waited || g.Waited == best.Waited && g.Thread < best.Thread {
			best = g
		}
	}
	if best == nil || 2*best.Waited < all {
		return nil
	}
	return best
}
