// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/dump"
)

// maxDump limits a thread dump in a recording, in bytes.
const maxDump = 16 << 20

// dumped is a thread dump in a recording: the recorder makes one at the beginning and one at the end of each chunk.
type dumped struct {
	at   jvmthread.Time
	text string
}

// shown is what a thread dump shows. It is the sink of its decoder.
type shown struct {
	at      jvmthread.Time
	threads []jvmthread.Thread
	waits   map[jvmthread.ThreadID]jvmthread.Event // what threads wait for
	cpu     map[jvmthread.ThreadID]int64           // CPU time since threads began, in nanoseconds
}

func (*shown) Session(*recording.Session) error { return nil }
func (*shown) Problem(recording.Problem) error  { return nil }
func (*shown) End(recording.End) error          { return nil }

func (s *shown) Batch(b *recording.Batch) error {
	s.threads = append(s.threads, b.Threads...)
	for i := range b.Events {
		switch ev := &b.Events[i]; ev.Kind {
		case jvmthread.KindContendedEnter, jvmthread.KindWait, jvmthread.KindJoinStart, jvmthread.KindPark, jvmthread.KindSleepStart:
			s.waits[ev.Thread] = *ev
		case jvmthread.KindCPU:
			s.cpu[ev.Thread] = ev.Arg
		}
	}
	return nil
}

// show reads a dump. What cannot be read in it is left out.
func (d *Decoder) show(of *dumped) (*shown, error) {
	s := &shown{at: of.at, waits: make(map[jvmthread.ThreadID]jvmthread.Event), cpu: make(map[jvmthread.ThreadID]int64)}
	decoder := dump.New(recording.Options{Symbols: d.Options.Symbols}, s)
	if _, err := decoder.Write([]byte(of.text)); err != nil {
		return nil, err
	}
	return s, decoder.Close()
}

// hang finds the waits that had not ended when the recording did, of which it has no events, in its last thread dump. A wait began at the latest
// when the dump was made, and at the earliest when the thread is last known to have done something else: when its last event ended, when it was
// sampled, and at the dump before if that shows something else. All longer waits before would have events, so it is taken to begin at that time.
// Instead, the thread may have had many shorter ones; then it is not said that the last one did not end.
func (d *Decoder) hang(r *run) error {
	s := &d.splitter
	s.open = make(map[jvmthread.ThreadID]jvmthread.Event)
	if len(r.dumps) == 0 {
		return nil
	}
	last, err := d.show(&r.dumps[len(r.dumps)-1])
	if err != nil {
		return err
	}
	before := &shown{at: last.at}
	if len(r.dumps) > 1 {
		if before, err = d.show(&r.dumps[len(r.dumps)-2]); err != nil {
			return err
		}
	}
	last.find(r.ends.locks)
	begin := jvmthread.Time(r.parts[0].clock.at(r.parts[0].startTicks))
	for _, id := range slices.Sorted(maps.Keys(last.waits)) {
		ev := last.waits[id]
		least, recorded := r.least[ev.Kind]
		since, same := begin, last.same(before, id)
		if !same {
			since = before.at
		}
		if !recorded || !same && !r.sampled {
			since = last.at
		}
		did := jvmthread.Time(math.MinInt64)
		if th := r.ends.threads[id]; th != nil && th.own > math.MinInt64 {
			did = max(th.own, th.heard)
		} else if th != nil {
			since = max(since, th.heard)
		}
		if ev.Time = max(since, did); ev.Time > last.at {
			continue
		}
		if th := r.ends.threads[ev.Peer]; th != nil && th.got.lock == ev.Lock && th.got.at > ev.Time {
			ev.Peer = jvmthread.NoThread // it is the owner only since then
		}
		s.open[id] = ev
		if did < since { // else it follows the thread's last event
			s.late = append(s.late, ev)
		}
		if !recorded || last.mayCycle(before, id, last.at-ev.Time, least) {
			s.late = append(s.late, jvmthread.Event{Kind: jvmthread.KindGap, Thread: id, Time: last.at + 1})
		}
	}
	slices.SortStableFunc(s.late, func(a, b jvmthread.Event) int { return cmp.Compare(a.Time, b.Time) })
	for _, th := range last.threads { // those with events are defined again, with more
		if _, waits := s.open[th.ID]; waits {
			d.news = append(d.news, th)
		}
	}
	return nil
}

// find finds the locks of a dump among those of events, where both have only one of a class: their identities differ.
func (s *shown) find(locks map[jvmthread.ClassID]uint32) {
	only := make(map[jvmthread.ClassID]uint32) // of the dump; 0: there are several
	for _, ev := range s.waits {
		hash := ev.Lock.Hash
		if known, ok := only[ev.Lock.Class]; ok && known != hash {
			hash = 0
		}
		only[ev.Lock.Class] = hash
	}
	for id, ev := range s.waits {
		if hash := locks[ev.Lock.Class]; hash != 0 && only[ev.Lock.Class] != 0 {
			ev.Lock.Hash = hash
			s.waits[id] = ev
		}
	}
}

// same reports whether a thread waits in two dumps for the same.
func (s *shown) same(other *shown, id jvmthread.ThreadID) bool {
	now, was := s.waits[id], other.waits[id]
	return was.Kind == now.Kind && was.Stack == now.Stack && was.Lock.Class == now.Lock.Class
}

// mayCycle reports whether a thread may have waited many times in a time instead of once, each time for less than what has an event: if it used as
// much CPU time since the dump before.
func (s *shown) mayCycle(before *shown, id jvmthread.ThreadID, length, least jvmthread.Time) bool {
	const once, each = 10e6, 5e3 // nanoseconds of CPU time, to begin and for each wait
	cpu, known := s.cpu[id]
	waits := math.Inf(1)
	if least > 0 {
		waits = float64(length) / float64(least)
	}
	return !known && least > 0 || float64(cpu-before.cpu[id]) > once+each*waits
}

// leastOf returns the least duration of a wait that has an event, by kind. Those without events are missing.
func (c *chunk) leastOf() map[jvmthread.Kind]jvmthread.Time {
	settings, least := c.settings(), make(map[jvmthread.Kind]jvmthread.Time)
	for kind, of := range map[jvmthread.Kind]eventKind{
		jvmthread.KindContendedEnter: kindEnter, jvmthread.KindWait: kindWait, jvmthread.KindJoinStart: kindWait, jvmthread.KindPark: kindPark,
		jvmthread.KindSleepStart: kindSleep,
	} {
		t := settings[wantedEvents[of].name]
		n, unit, _ := strings.Cut(t.threshold, " ")
		duration, err := time.ParseDuration(n + unit)
		if strings.EqualFold(t.enabled, "true") && (err == nil || t.threshold == "") {
			least[kind] = jvmthread.Time(duration)
		}
	}
	return least
}
