// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"context"
	"crypto/sha256"
	"math"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/internal/wire/definitions"
)

// replay hands on what a decoder finds in a file, as a connection does with what an agent sends. It belongs to the goroutine of the file.
type replay struct {
	receiver *threadReceiver
	ctx      context.Context //nolint:containedctx // that of the goroutine
	log      *zap.Logger
	format   string
	head     []byte // of the recording, from which it gets an id if it has none
	symbols  *symbols.Table
	pace     float64
	begun    time.Time      // when the first batch was handed on ...
	first    jvmthread.Time // ... and of when that is
	session  *session
	ordinal  byte   // of the session in the file
	resume   mark   // how far it was handed on before a restart
	seen     uint64 // events, aggregates and ends so far, those too that had been handed on before
	places   map[jvmthread.ThreadID]int
}

var _ recording.Sink = (*replay)(nil)

// Session begins a session, and ends the one before if there is one.
func (r *replay) Session(told *recording.Session) error {
	if err := r.end(threadpdata.EndLost, r.watermark(), 1); err != nil {
		return err
	}
	hello := wire.Hello{Session: told.ID, PID: told.PID}
	if hello.Session == (jvmthread.SessionID{}) {
		hello.Session = r.sessionID()
	}
	r.ordinal++
	for _, a := range told.Attributes {
		hello.Attributes = append(hello.Attributes, wire.Attribute(a))
	}
	s := newSession(&hello)
	s.definitions = definitions.New(r.symbols)
	threadpdata.MarkRecording(s.resource, r.format, told.Thresholds)
	if told.SingleEnded {
		threadpdata.MarkSingleEnded(s.resource)
	}
	r.session = s
	r.begun = time.Time{}
	count(r.receiver.telemetry.ReceiverJvmThreadSessions, 1)
	about := []zap.Field{zap.Stringer("session", s.id), zap.String("service", s.service())}
	if len(told.Thresholds) > 0 {
		about = append(about, zap.Strings("shorter_ones_are_not_recorded", told.Thresholds))
	}
	r.log.Info("A recorded session begins", about...)
	return nil
}

// sessionID is the same for the same recording.
func (r *replay) sessionID() (id jvmthread.SessionID) {
	hash := sha256.Sum256(append(slices.Clone(r.head), r.ordinal))
	copy(id[:], hash[:])
	id[0] |= 1 // not zero
	return id
}

// Batch hands on a batch, when its time has come.
func (r *replay) Batch(b *recording.Batch) error {
	if r.session == nil { // a decoder without any session to tell of
		if err := r.Session(&recording.Session{}); err != nil {
			return err
		}
	}
	for _, th := range b.Threads {
		r.symbols.SetThread(th)
		r.session.definitions.Forget(th.ID)
	}
	if b.Aggregate != nil {
		return r.aggregate(b)
	}
	events, lost := r.possible(b.Events), b.Lost
	if r.seen < r.resume.Events {
		if events = events[r.passOver(len(events), b.Watermark):]; len(events) == 0 {
			return nil
		}
	}
	for {
		n, watermark := r.slice(events, b.Watermark)
		next := watermark
		if n > 0 {
			next = events[0].Time
		}
		if err := r.wait(next, watermark); err != nil {
			return err
		}
		if err := r.hand(events[:n], watermark, lost); err != nil {
			return err
		}
		if events, lost = events[n:], 0; len(events) == 0 {
			return nil
		}
	}
}

// possible leaves out events before 1970, which come first: one of them would cost all of its batch.
func (r *replay) possible(events []jvmthread.Event) []jvmthread.Event {
	n := 0
	for n < len(events) && events[n].Time < 0 {
		n++
	}
	if n > 0 {
		count(r.receiver.telemetry.ReceiverJvmThreadEventsLost, int64(n))
		r.log.Warn("Events of a recording are before 1970 or behind 2262, and are left out", zap.Int("events_lost", n))
	}
	return events[n:]
}

// passOver leaves out what was handed on before a restart, and returns how much of n that is.
func (r *replay) passOver(n int, watermark jvmthread.Time) int {
	over := min(uint64(n), r.resume.Events-r.seen)
	r.seen += over
	r.session.watermark = max(r.session.watermark, watermark)
	if r.seen == r.resume.Events {
		r.session.last, r.session.before = r.resume.Batch, r.resume.Before
	}
	return int(over)
}

// aggregate hands on sums as the batch that they are.
func (r *replay) aggregate(b *recording.Batch) error {
	if r.seen < r.resume.Events {
		r.passOver(1, b.Watermark)
		return nil
	}
	if err := r.wait(r.session.watermark, b.Watermark); err != nil {
		return err
	}
	r.session.pending.clear()
	r.session.pending.series = len(b.Aggregate.Series)
	return r.deliver(b.Watermark, b.Lost, b.Aggregate, 1)
}

// paceStep is how much recorded time goes by at once, if it matters how much does.
const paceStep = jvmthread.Time(100 * time.Millisecond)

// slice returns how many events are to be handed on at once, and up to which time they reach.
func (r *replay) slice(events []jvmthread.Event, watermark jvmthread.Time) (int, jvmthread.Time) {
	if r.pace == 0 || len(events) == 0 || events[len(events)-1].Time-events[0].Time <= paceStep {
		return len(events), watermark
	}
	until := events[0].Time + paceStep
	n, _ := slices.BinarySearchFunc(events, until, func(ev jvmthread.Event, t jvmthread.Time) int { return int(min(1, max(-1, ev.Time-t))) })
	return n, events[n].Time
}

// life is how often a sign of life is handed on while nothing happens, as an agent does: else those behind us would take the session for lost.
const life = 10 * time.Second

// wait returns when it is time for what happened until then. Nothing happened before next. When there are signs of life depends on recorded times
// alone, so that the batches of a recording have the same numbers each time.
func (r *replay) wait(next, until jvmthread.Time) error {
	if r.pace == 0 || until < 0 { // nothing has happened yet
		return r.ctx.Err()
	}
	if r.begun.IsZero() {
		r.begun, r.first = time.Now(), until
	}
	s := r.session
	step := jvmthread.Time(min(float64(life)*r.pace, math.MaxInt64/4))
	for at := max(s.watermark, r.first); at < until && until-at > step; {
		at += step
		if err := r.sleep(at); err != nil {
			return err
		}
		s.pending.clear()
		if err := r.deliver(max(s.watermark, min(at, next)), 0, nil, 0); err != nil {
			return err
		}
	}
	return r.sleep(until)
}

// sleep returns when a recorded time has come.
func (r *replay) sleep(until jvmthread.Time) error {
	const most = math.MaxInt64 / 4
	due := r.begun.Add(time.Duration(min(float64(until-r.first)/r.pace, most)))
	if left := time.Until(due); left > 0 && !pause(r.ctx, left) {
		return r.ctx.Err()
	}
	return nil
}

// hand makes the events the batch at hand, thread by thread, and delivers it.
func (r *replay) hand(events []jvmthread.Event, watermark jvmthread.Time, lost uint64) error {
	s := r.session
	p := &s.pending
	p.clear()
	r.group(p, events)
	s.findNews()
	return r.deliver(watermark, lost, nil, len(events))
}

// deliver passes the batch at hand on, which counts as n.
func (r *replay) deliver(watermark jvmthread.Time, lost uint64, aggregate *jvmthread.Aggregate, n int) error {
	s := r.session
	const most = jvmthread.MaxEvents / 2 // so that there is room for those that are not lost
	lost = min(lost, most-min(s.before, most))
	s.head(wire.BatchHeader{Sequence: s.last + 1, Watermark: watermark, Before: s.before + lost})
	s.pending.carrier.Aggregate = aggregate
	if err := r.receiver.out.deliver(r.ctx, s); err != nil {
		return err
	}
	s.done()
	r.seen += uint64(n)
	return nil
}

// group puts the events of each thread beside each other.
func (r *replay) group(p *pending, events []jvmthread.Event) {
	if r.places == nil {
		r.places = make(map[jvmthread.ThreadID]int)
	}
	clear(r.places)
	for i := range events {
		place, ok := r.places[events[i].Thread]
		if !ok {
			place = len(p.parts)
			r.places[events[i].Thread] = place
			p.parts = append(p.parts, part{thread: events[i].Thread})
		}
		p.parts[place].end++
	}
	at := 0
	for i := range p.parts {
		n := p.parts[i].end
		p.parts[i].start, p.parts[i].end = at, at
		at += n
	}
	p.events = slices.Grow(p.events[:0], len(events))[:len(events)]
	for i := range events {
		part := &p.parts[r.places[events[i].Thread]]
		p.events[part.end] = events[i]
		part.end++
		if events[i].Kind == jvmthread.KindGap && events[i].Arg > 0 {
			p.lost += uint64(min(events[i].Arg, jvmthread.MaxLost))
		}
	}
}

// Problem tells people what is wrong in the recording. The decoder counts what it cost.
func (r *replay) Problem(p recording.Problem) error {
	if err := r.ctx.Err(); err != nil {
		return err // it is not read to its end, and that is all
	}
	count(r.receiver.telemetry.ReceiverJvmThreadFileProblems, 1)
	r.log.Warn("Something is wrong in a recording", zap.String("problem", p.Error()), zap.Uint64("events_lost", p.Lost))
	return nil
}

// End ends the session.
func (r *replay) End(end recording.End) error { return r.end(end.Reason, end.Time, 1) }

// lose ends a session whose recording breaks off. That does not count: the file may go on another time.
func (r *replay) lose() error { return r.end(threadpdata.EndLost, r.watermark(), 0) }

func (r *replay) watermark() jvmthread.Time {
	if r.session == nil {
		return jvmthread.NoTime
	}
	return r.session.watermark
}

// end ends the session if there is one, which counts as n.
func (r *replay) end(reason string, at jvmthread.Time, n uint64) error {
	s := r.session
	if s == nil {
		return nil
	}
	if r.seen >= r.resume.Events { // else its end was handed on before a restart
		s.close(reason, at)
		if err := r.receiver.out.deliver(r.ctx, s); err != nil {
			return err
		}
	}
	r.seen += n
	r.session = nil
	count(r.receiver.telemetry.ReceiverJvmThreadSessions, -1)
	r.log.Info("A recorded session ends", zap.Stringer("session", s.id), zap.String("service", s.service()), zap.String("reason", reason))
	return nil
}

// abandon forgets the session without an end: the receiver shuts down, and goes on another time.
func (r *replay) abandon() {
	if r.session != nil {
		r.session = nil
		count(r.receiver.telemetry.ReceiverJvmThreadSessions, -1)
	}
}
