// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadlogexporter

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// session is one JVM: its events in order, and its file.
type session struct {
	owner *threadLog
	info  recording.Session
	name  string // of the service

	mu      sync.Mutex
	queue   *ordering.Queue
	symbols *symbols.Table
	carrier threadpdata.Carrier
	threads []jvmthread.Thread         // defined since the last batch, each once
	places  map[jvmthread.ThreadID]int // of them
	ended   []jvmthread.ThreadID       // to be forgotten after the next batch
	sums    []sums                     // that wait for their place in the row of batches; as many as batches may wait

	encoder recording.Encoder
	out     *output
	parts   int // files begun
	text    []byte
	told    recording.EncoderStats
	missed  uint64

	heard   time.Time // when something came
	stalled time.Time // since when the awaited batch is missing; zero: none is
	awaited uint64    // its number
	closed  bool
	over    bool // in order: it does not come back
}

// sums are those of a batch that has no events.
type sums struct {
	batch     uint64
	aggregate *jvmthread.Aggregate
}

func newSession(t *threadLog, id jvmthread.SessionID, res pcommon.Resource) *session {
	s := &session{
		owner: t, info: threadpdata.RecordingSession(id, res), name: threadpdata.ServiceName(res), heard: time.Now(),
		queue: ordering.New(ordering.DefaultLimits()), symbols: symbols.New(symbols.DefaultLimits()), places: make(map[jvmthread.ThreadID]int),
	}
	return s
}

// errClosed says that a session takes nothing any more.
var errClosed = errors.New("the session is closed")

// take adds a carrier's events.
func (s *session) take(span ptrace.Span) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	c := &s.carrier
	if err := threadpdata.Parse(span, s.symbols, c); err != nil {
		return err
	}
	s.heard = time.Now()
	if !s.queue.Add(ordering.Part{
		Batch: c.Batch, Part: c.Part, Parts: c.Parts, Watermark: c.Watermark, Before: c.Before, End: c.End, Events: c.Events,
	}) {
		return nil
	}
	s.define(c.Thread)
	if c.Aggregate != nil {
		s.sums = append(s.sums, sums{c.Batch, c.Aggregate})
	}
	return nil
}

// define notes what a thread is, for the next batch that is written.
func (s *session) define(th jvmthread.Thread) {
	if th.ID == jvmthread.NoThread || s.symbols.Thread(th.ID) == th || !s.symbols.SetThread(th) {
		return
	}
	place, again := s.places[th.ID]
	if !again {
		place = len(s.threads)
		s.places[th.ID] = place
		s.threads = append(s.threads, th)
	}
	s.threads[place] = s.symbols.Thread(th.ID)
}

// advance writes as far as what was taken allows, and reports whether the session is over.
func (s *session) advance(ctx context.Context) (over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.write(ctx, s.queue.Ready())
	switch awaits := s.queue.Awaits(); {
	case !s.queue.Stalled():
		s.stalled = time.Time{}
	case s.stalled.IsZero() || s.awaited != awaits:
		s.stalled, s.awaited = time.Now(), awaits
	}
	if s.queue.End() == "" {
		return false
	}
	s.finish(ctx, s.queue.End())
	return true
}

// check gives up a batch that is missing for too long, tries again what could not be written, and ends a session that is silent for too
// long. It reports whether the session is over.
func (s *session) check(ctx context.Context, now time.Time) (over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if !s.stalled.IsZero() && now.Sub(s.stalled) >= s.owner.cfg.ReorderTimeout {
		s.queue.Skip()
		s.stalled = time.Time{}
		if s.queue.Stalled() {
			s.stalled, s.awaited = now, s.queue.Awaits()
		}
		s.write(ctx, s.queue.Ready())
	}
	if s.out != nil {
		s.out.retry(ctx)
	}
	switch {
	case s.queue.End() != "":
		s.finish(ctx, s.queue.End())
	case now.Sub(s.heard) >= s.owner.cfg.SessionTimeout:
		s.finish(ctx, threadpdata.EndLost)
	}
	return s.closed
}

// close writes what is left. Without a reason the session may go on in another file.
func (s *session) close(ctx context.Context, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.finish(ctx, reason)
	}
}

func (s *session) finish(ctx context.Context, reason string) {
	s.write(ctx, s.queue.Rest())
	s.closed, s.over = true, reason != "" && reason != threadpdata.EndLost
	if s.out == nil {
		return
	}
	var end *recording.End
	if reason != "" {
		end = &recording.End{Time: s.queue.Watermark(), Reason: reason}
	}
	s.out.write(ctx, s.encoder.End(s.text[:0], end), 0)
	s.out.close(ctx)
	s.owner.logger.Info("recording ended", zap.Stringer("session", s.info.ID), zap.String("service", s.name), zap.String("file", s.out.path()),
		zap.String("reason", reason), zap.Uint64("events", s.told.Written), zap.Uint64("left_out", s.told.TotalLeft()), zap.Uint64("missed", s.missed))
}

// chunk bounds the events that are encoded at once.
const chunk = 8192

func (s *session) write(ctx context.Context, events []jvmthread.Event) {
	missed := s.queue.Counters().Missed - s.missed
	s.missed += missed
	s.owner.lost(ctx, whereMissed, missed)
	for len(events) > 0 {
		n := min(len(events), chunk)
		watermark := events[n-1].Time
		if n == len(events) {
			watermark = max(watermark, s.queue.Watermark())
		}
		s.encode(ctx, &recording.Batch{Events: events[:n], Watermark: watermark, Lost: missed})
		missed = 0
		events = events[n:]
	}
	s.writeSums(ctx)
}

// writeSums writes the sums of the batches that the queue has taken, in their order.
func (s *session) writeSums(ctx context.Context) {
	if len(s.sums) == 0 {
		return
	}
	slices.SortFunc(s.sums, func(a, b sums) int { return cmp.Compare(a.batch, b.batch) })
	n := 0
	for ; n < len(s.sums) && s.sums[n].batch < s.queue.Awaits(); n++ {
		a := s.sums[n].aggregate
		if !s.owner.format.Carries.Aggregates {
			s.owner.telemetry.ExporterThreadLogEventsLeft.Add(ctx, int64(len(a.Series)), metric.WithAttributes(attribute.String("kind", "aggregate")))
			continue
		}
		s.encode(ctx, &recording.Batch{Aggregate: a, Watermark: s.queue.Watermark()})
	}
	s.sums = slices.Delete(s.sums, 0, n)
}

// encode writes a batch to the file, or to the next if that is full.
func (s *session) encode(ctx context.Context, batch *recording.Batch) {
	if s.out == nil {
		first := s.queue.Watermark()
		if len(batch.Events) > 0 {
			first = batch.Events[0].Time
		}
		s.begin(ctx, first)
	} else if s.out.full() {
		s.out.write(ctx, s.encoder.End(s.text[:0], nil), 0)
		s.out.rotate(ctx)
		s.out.write(ctx, s.encoder.Begin(s.text[:0], s.nextPart()), 0)
	}
	batch.Threads = s.threads
	s.text = s.encoder.Batch(s.text[:0], batch)
	s.threads = s.threads[:0]
	clear(s.places)
	if extension, text := s.encoder.Beside(); len(text) > 0 {
		s.out.beside(ctx, extension, text)
	}
	s.out.write(ctx, s.text, s.tell(ctx))
	for _, id := range s.ended {
		s.symbols.DropThread(id)
	}
	s.ended = s.ended[:0]
	for i := range batch.Events {
		switch ev := &batch.Events[i]; ev.Kind {
		case jvmthread.KindThreadEnd:
			s.ended = append(s.ended, ev.Thread)
		case jvmthread.KindGap:
			if ev.Thread != jvmthread.NoThread && ev.Arg > 0 {
				s.owner.lost(ctx, whereAgent, uint64(ev.Arg))
			}
		}
	}
}

func (s *session) begin(ctx context.Context, first jvmthread.Time) {
	cfg := s.owner.cfg
	times := recording.Times{Unit: cfg.TimeUnit}
	if cfg.RelativeTimes {
		times.Origin = first
	}
	s.encoder = s.owner.format.NewEncoder(recording.EncoderOptions{Symbols: s.symbols, Stacks: cfg.Stacks, Times: times})
	s.out = newOutput(s.owner, s.name, s.info.ID)
	s.out.write(ctx, s.encoder.Begin(s.text[:0], s.nextPart()), 0)
	s.owner.logger.Info("recording began", zap.Stringer("session", s.info.ID), zap.String("service", s.name), zap.String("file", s.out.path()))
}

// nextPart says whose the next file is. Files are read one by one, in any order or at the same time: so each after the session's first is
// a session of its own, whose id is made of the session's.
func (s *session) nextPart() *recording.Session {
	s.parts++
	part := s.info
	if s.parts > 1 || s.out.number > 1 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", s.info.ID, s.out.number, s.parts))
		copy(part.ID[:], sum[:])
		part.ID[0] |= 1 // not zero
	}
	return &part
}

// tell counts what the encoder did since it was last asked, and returns how many events it wrote.
func (s *session) tell(ctx context.Context) (written uint64) {
	now := s.encoder.Stats()
	written = now.Written - s.told.Written
	for kind, left := range now.Left {
		if n := left - s.told.Left[kind]; n > 0 {
			s.owner.telemetry.ExporterThreadLogEventsLeft.Add(ctx, int64(n),
				metric.WithAttributes(attribute.String("kind", jvmthread.Kind(kind).String())))
		}
	}
	s.told = now
	return written
}
