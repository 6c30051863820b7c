// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// Batch is one batch as the agent would send it.
type Batch struct {
	Frame    []byte
	Sequence uint64
	Events   int           // without gaps
	At       time.Duration // when the agent sends it, from the start of the session
}

// Source makes the batches of a run without end.
type Source struct {
	shape    Shape
	slices   int // of simulated time so far, each of the length of a batch
	sequence uint64
	before   uint64              // events in earlier batches
	rounds   []int               // by thread
	pending  [][]jvmthread.Event // by thread: simulated, but later than the last batch
	lost     []jvmthread.Event   // by thread: the gap to report; none if it has lost nothing
	sections []wire.Section
}

// Source returns the beginning of a run.
func (s Shape) Source() *Source {
	return &Source{shape: s, rounds: make([]int, s.Threads), pending: make([][]jvmthread.Event, s.Threads), lost: make([]jvmthread.Event, s.Threads)}
}

// advance simulates the time of one batch and passes the events of each thread that has any.
func (s *Source) advance(each func(th int, events []jvmthread.Event)) (until jvmthread.Time) {
	s.slices++
	until = Beginning + jvmthread.Time(s.slices)*jvmthread.Time(s.shape.Batch)
	for th := range s.pending {
		for Beginning+jvmthread.Time(s.rounds[th])*s.shape.period() < until {
			s.pending[th] = s.shape.round(s.pending[th], th, s.rounds[th])
			s.rounds[th]++
		}
		ready, _ := slices.BinarySearchFunc(s.pending[th], until, func(ev jvmthread.Event, t jvmthread.Time) int { return int(ev.Time - t) })
		each(th, s.pending[th][:ready])
		s.pending[th] = s.pending[th][ready:]
	}
	return until
}

// Next returns the next batch, whose frame is appended to dst.
func (s *Source) Next(dst []byte) Batch {
	s.sections = s.sections[:0]
	count := 0
	until := s.advance(func(th int, events []jvmthread.Event) {
		count += len(events)
		if gap := &s.lost[th]; gap.Arg > 0 {
			events = append([]jvmthread.Event{*gap}, events...)
			*gap = jvmthread.Event{}
		}
		if len(events) > 0 {
			s.sections = append(s.sections, wire.Section{Thread: jvmthread.ThreadID(th + 1), Events: events})
		}
	})
	s.sequence++
	header := wire.BatchHeader{Sequence: s.sequence, Watermark: until, Before: s.before}
	s.before += uint64(count)
	return Batch{wire.AppendBatch(dst, header, s.sections...), s.sequence, count, s.at()}
}

// Drop simulates the time of the next batch in an agent without room for it: the next batch reports its events as lost. It returns their
// number, and when the agent would have sent them.
func (s *Source) Drop() (events int, at time.Duration) {
	s.advance(func(th int, lost []jvmthread.Event) {
		if len(lost) == 0 {
			return
		}
		if gap := &s.lost[th]; gap.Arg == 0 {
			*gap = jvmthread.Event{Kind: jvmthread.KindGap, Thread: lost[0].Thread, Time: lost[0].Time}
		}
		s.lost[th].Arg += int64(len(lost))
		events += len(lost)
	})
	return events, s.at()
}

// at is when the last batch is complete, from the start of the session.
func (s *Source) at() time.Duration { return time.Duration(s.slices) * s.shape.Batch }

// Batches simulates at least the number of events.
func (s Shape) Batches(events int) (all []Batch) {
	source := s.Source()
	for source.before < uint64(events) {
		all = append(all, source.Next(nil))
	}
	return all
}

// Total returns the number of events.
func Total(batches []Batch) int {
	n := 0
	for i := range batches {
		n += batches[i].Events
	}
	return n
}
