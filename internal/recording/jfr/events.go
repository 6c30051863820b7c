// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import "github.com/weft-otel/weft/internal/jvmthread"

// side is which event of a record is meant.
type side uint8

const (
	sideBegin  side = iota
	sideWaited      // the end of waiting, of a wait
	sideEnd
	sideSilent // the gap after the last record of a thread
	sideOpen   // the wait after it
	sideEarly  // not of a record, but left over from the previous call
)

// add adds the key of an event.
func (s *splitter) add(at jvmthread.Time, thread jvmthread.ThreadID, index int, which side) {
	s.keys = append(s.keys, sortKey{time: at, second: int64(thread), index: int32(index), side: which})
}

// finish adds the event at the end of a record, if its kind has one.
func (s *splitter) finish(index int, at jvmthread.Time) {
	r := &s.records[index]
	switch r.event.Kind {
	case jvmthread.KindContendedEnter, jvmthread.KindWait, jvmthread.KindJoinStart, jvmthread.KindPark, jvmthread.KindSleepStart:
		s.add(at, r.event.Thread, index, sideEnd)
	}
}

// fallSilent adds a gap after a record that is the last of its thread, or the wait that has no record.
func (s *splitter) fallSilent(index int, until jvmthread.Time) {
	id := s.records[index].event.Thread
	from, ok := s.lasts.silence(id, until)
	if ev, waits := s.open[id]; ok && waits && ev.Time <= from {
		s.add(from, id, index, sideOpen)
	} else if ok {
		s.add(from, id, index, sideSilent)
	}
}

// appendEvents appends the events with these keys.
func (s *splitter) appendEvents(out []jvmthread.Event, keys []sortKey) []jvmthread.Event {
	for i := range keys {
		k := &keys[i]
		if k.side == sideEarly {
			out = append(out, s.early[k.index])
			continue
		}
		r := &s.records[k.index]
		if k.side == sideBegin {
			out = append(out, r.event)
			continue
		}
		out = append(out, jvmthread.Event{Thread: r.event.Thread, Time: k.time})
		ev := &out[len(out)-1]
		switch k.side {
		case sideWaited:
			ev.Kind, ev.Lock, ev.Peer, ev.Flags = jvmthread.KindWaited, r.event.Lock, r.from, r.ended
		case sideOpen:
			*ev = s.open[ev.Thread]
			ev.Time = k.time
		case sideSilent:
			ev.Kind, ev.Flags = jvmthread.KindGap, r.event.Flags&jvmthread.FlagVirtual
		default:
			r.setEnd(ev)
		}
	}
	return out
}

// setEnd sets the fields of the event at the end of a record.
func (r *record) setEnd(ev *jvmthread.Event) {
	ev.Lock, ev.Flags = r.event.Lock, r.ended&^jvmthread.FlagTimedOut
	switch r.event.Kind {
	case jvmthread.KindContendedEnter:
		ev.Kind, ev.Peer = jvmthread.KindContendedEntered, r.from
	case jvmthread.KindWait:
		ev.Kind = jvmthread.KindWaitReturned
	case jvmthread.KindJoinStart:
		ev.Kind, ev.Peer = jvmthread.KindJoinEnd, r.event.Peer
	case jvmthread.KindPark:
		ev.Kind, ev.Lock = jvmthread.KindUnparked, jvmthread.NoLock
	case jvmthread.KindSleepStart:
		ev.Kind = jvmthread.KindSleepEnd
	}
}
