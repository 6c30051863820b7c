// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
)

// replay delivers what a decoder finds in a file. It belongs to the goroutine that reads the file.
type replay struct {
	ctx     context.Context //nolint:containedctx // of that goroutine; decoders do not pass one
	out     *outlet.Outlet
	log     *zap.Logger
	format  string
	seed    []byte // from which sessions without an ID get one
	symbols *symbols.Table
	pacer   pacer
	session *outlet.Session
	ordinal byte                       // of the session in the file
	resume  mark                       // what was delivered before a restart
	seen    uint64                     // events, aggregates and ends so far, including those delivered before a restart
	places  map[jvmthread.ThreadID]int // of the threads of the current batch
	next    []int                      // by place: where the thread's next event goes
}

// Session starts a session and ends the previous one.
func (r *replay) Session(found *recording.Session) error {
	if err := r.end(threadpdata.EndLost, jvmthread.NoTime, 1); err != nil {
		return err
	}
	hello := wire.Hello{Session: found.ID, PID: found.PID, Attributes: found.Attributes}
	if hello.Session == (jvmthread.SessionID{}) {
		hello.Session = formats.SessionID(r.seed, r.ordinal)
	}
	r.ordinal++
	s := outlet.NewSession(&hello, r.symbols)
	threadpdata.MarkRecording(s.Resource, r.format, found)
	r.session = s
	r.pacer.started = time.Time{}
	outlet.Count(r.out.Telemetry.ReceiverJvmThreadSessions, 1)
	about := []zap.Field{zap.Stringer("session", s.ID), zap.String("service", s.Service())}
	if len(found.Thresholds) > 0 {
		about = append(about, zap.Strings("thresholds", found.Thresholds))
	}
	r.log.Info("Recorded session started", about...)
	return nil
}

// Batch delivers a batch when its time has come.
func (r *replay) Batch(b *recording.Batch) error {
	if r.session == nil { // the format has no sessions
		if err := r.Session(&recording.Session{}); err != nil {
			return err
		}
	}
	for _, th := range b.Threads {
		r.symbols.SetThread(th)
		r.session.Definitions.Forget(th.ID)
	}
	if b.Aggregate != nil {
		return r.aggregate(b)
	}
	events, lost := r.since1970(b.Events), b.Lost
	if r.seen < r.resume.Events {
		if events = events[r.skip(len(events), b.Watermark):]; len(events) == 0 {
			return nil
		}
	}
	for {
		n, watermark := r.pacer.slice(events, b.Watermark)
		next := watermark
		if n > 0 {
			next = events[0].Time
		}
		if err := r.wait(next, watermark); err != nil {
			return err
		}
		r.group(r.session.Begin(), events[:n])
		if err := r.deliver(watermark, lost, n); err != nil {
			return err
		}
		if events, lost = events[n:], 0; len(events) == 0 {
			return nil
		}
	}
}

// since1970 drops events before 1970, which come first: one of them would invalidate the whole batch.
func (r *replay) since1970(events []jvmthread.Event) []jvmthread.Event {
	n := 0
	for n < len(events) && events[n].Time < 0 {
		n++
	}
	if n > 0 {
		outlet.Count(r.out.Telemetry.ReceiverJvmThreadEventsLost, int64(n))
		r.log.Warn("Dropped events of a recording that are before 1970 or after 2262", zap.Int("events_lost", n))
	}
	return events[n:]
}

// skip returns how many of n events were delivered before a restart.
func (r *replay) skip(n int, watermark jvmthread.Time) int {
	skipped := min(uint64(n), r.resume.Events-r.seen)
	r.seen += skipped
	r.session.Watermark = max(r.session.Watermark, watermark)
	if r.seen == r.resume.Events {
		r.session.Last, r.session.Before = r.resume.Batch, r.resume.Before
	}
	return int(skipped)
}

// aggregate delivers sums as a batch of their own.
func (r *replay) aggregate(b *recording.Batch) error {
	if r.seen < r.resume.Events {
		r.skip(1, b.Watermark)
		return nil
	}
	if err := r.wait(r.session.Watermark, b.Watermark); err != nil {
		return err
	}
	r.session.Begin().Aggregate = b.Aggregate
	return r.deliver(b.Watermark, b.Lost, 1)
}

// wait returns when it is time for the events up to a recorded time. There are none before next. Meanwhile it delivers empty batches,
// whose number depends on recorded times alone, so that the batches of a recording have the same numbers each time.
func (r *replay) wait(next, until jvmthread.Time) error {
	if r.pacer.pace == 0 || until < 0 { // nothing has happened yet
		return r.ctx.Err()
	}
	r.pacer.start(until)
	s, step := r.session, r.pacer.step()
	for at := max(s.Watermark, r.pacer.first); at < until && until-at > step; {
		at += step
		if err := r.pacer.sleep(r.ctx, at); err != nil {
			return err
		}
		s.Begin()
		if err := r.deliver(max(s.Watermark, min(at, next)), 0, 0); err != nil {
			return err
		}
	}
	return r.pacer.sleep(r.ctx, until)
}

// deliver sends the current batch, which advances the position in the file by n.
func (r *replay) deliver(watermark jvmthread.Time, lost uint64, n int) error {
	s := r.session
	const most = jvmthread.MaxEvents / 2 // leaves room for the events that are not lost
	lost = min(lost, most-min(s.Before, most))
	s.Seal(wire.BatchHeader{Sequence: s.Last + 1, Watermark: watermark, Before: s.Before + lost})
	if err := r.out.Deliver(r.ctx, s); err != nil {
		return err
	}
	r.seen += uint64(n)
	return nil
}

// group sorts events by thread, the threads by their first event.
func (r *replay) group(b *outlet.Batch, events []jvmthread.Event) {
	clear(r.places)
	r.next = r.next[:0]
	for i := range events {
		place, ok := r.places[events[i].Thread]
		if !ok {
			place = len(r.next)
			r.places[events[i].Thread] = place
			r.next = append(r.next, 0)
		}
		r.next[place]++
	}
	at := 0
	for place, n := range r.next {
		r.next[place] = at
		at += n
	}
	b.Events = slices.Grow(b.Events[:0], len(events))[:len(events)]
	for i := range events {
		next := &r.next[r.places[events[i].Thread]]
		b.Events[*next] = events[i]
		*next++
	}
}

// Problem logs what is wrong in the recording. The decoder counts the events it cost.
func (r *replay) Problem(p recording.Problem) error {
	if err := r.ctx.Err(); err != nil {
		return err // caused by the shutdown
	}
	outlet.Count(r.out.Telemetry.ReceiverJvmThreadFileProblems, 1)
	r.log.Warn("Problem in a recording", zap.String("problem", p.Error()), zap.Uint64("events_lost", p.Lost))
	return nil
}

// End ends the session.
func (r *replay) End(end recording.End) error { return r.end(end.Reason, end.Time, 1) }

// lose ends a session whose recording is truncated. It does not advance the position, since the file may continue another time.
func (r *replay) lose() error { return r.end(threadpdata.EndLost, jvmthread.NoTime, 0) }

// end ends the session, if there is one, not before its last batch, and advances the position by n.
func (r *replay) end(reason string, at jvmthread.Time, n uint64) error {
	s := r.session
	if s == nil {
		return nil
	}
	if r.seen >= r.resume.Events { // otherwise its end was delivered before a restart
		s.End(reason, at)
		if err := r.out.Deliver(r.ctx, s); err != nil {
			return err
		}
	}
	r.seen += n
	r.abandon()
	r.log.Info("Recorded session ended", zap.Stringer("session", s.ID), zap.String("service", s.Service()), zap.String("reason", reason))
	return nil
}

// abandon removes the session without an end: the receiver shuts down and may continue another time.
func (r *replay) abandon() {
	if r.session != nil {
		r.session = nil
		outlet.Count(r.out.Telemetry.ReceiverJvmThreadSessions, -1)
	}
}

// advance updates the mark of the file to what was delivered.
func (r *replay) advance(m *mark) {
	if r.seen >= m.Events {
		m.Events = r.seen
		if r.session != nil {
			m.Batch, m.Before = r.session.Last, r.session.Before
		}
	}
}
