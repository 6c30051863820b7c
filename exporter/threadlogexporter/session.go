// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadlogexporter

import (
	"cmp"
	"fmt"
	"slices"

	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// sessionWriter writes the events of one session to files, in order. It is a sessions.Handler.
type sessionWriter struct {
	*sessions.Session
	*ordering.Queue

	owner *threadLog
	info  recording.Session
	name  string // of the service

	threads []jvmthread.Thread         // defined since the last batch, each once
	places  map[jvmthread.ThreadID]int // in threads
	ended   []jvmthread.ThreadID       // whose definitions are dropped after the next batch
	sums    []sums                     // waiting for earlier batches; the queue bounds their number

	encoder recording.Encoder
	out     *output
	parts   int // files started
	text    []byte
	counted recording.EncoderStats // what the metrics already contain
	missed  uint64

	received, written uint64 // events, gaps not included
}

// sums are the aggregates of a batch without events.
type sums struct {
	batch     uint64
	aggregate *jvmthread.Aggregate
}

func (t *threadLog) open(s *sessions.Session) sessions.Handler {
	return &sessionWriter{
		Session: s, Queue: ordering.New(ordering.DefaultLimits()), owner: t, info: threadpdata.RecordingSession(s.ID, s.Resource),
		name: threadpdata.ServiceName(s.Resource), places: make(map[jvmthread.ThreadID]int),
	}
}

// Receive queues a carrier.
func (w *sessionWriter) Receive(c *threadpdata.Carrier) {
	if !w.Add(sessions.BatchOf(c)) {
		return
	}
	w.received += sessions.CountEvents(c.Events)
	for _, th := range c.Threads {
		w.define(th)
	}
	if c.Aggregate != nil {
		w.sums = append(w.sums, sums{c.Batch, c.Aggregate})
	}
}

// define adds a thread to the definitions that the next batch writes.
func (w *sessionWriter) define(th jvmthread.Thread) {
	if w.Symbols.Thread(th.ID) == th || !w.Symbols.SetThread(th) {
		return
	}
	place, again := w.places[th.ID]
	if !again {
		place = len(w.threads)
		w.places[th.ID] = place
		w.threads = append(w.threads, th)
	}
	w.threads[place] = w.Symbols.Thread(th.ID)
}

// Advance writes all events whose order is certain.
func (w *sessionWriter) Advance() { w.write(w.Ready()) }

// Skip gives up the missing batch.
func (w *sessionWriter) Skip() {
	w.Queue.Skip()
	w.Advance()
}

// Tick retries what could not be written.
func (w *sessionWriter) Tick() {
	if w.out != nil {
		w.out.retry()
	}
}

// Take returns nothing: a session writer delivers to files only.
func (*sessionWriter) Take() []sessions.Delivery { return nil }

// Close writes the remaining events and the end of the recording. After a shutdown of the collector the session may continue in another
// file, so this one has no end then. A recording of a session that has failed ends with the last batch that was written.
func (w *sessionWriter) Close(why window.Cut) {
	if why == window.CutFailed {
		w.owner.lost(whereFailed, w.received-min(w.written, w.received))
		if w.out != nil {
			w.out.close()
		}
		return
	}
	reason := cmp.Or(w.End(), threadpdata.EndLost)
	w.write(w.Rest())
	if w.out == nil {
		return
	}
	var end *recording.End
	if why == window.CutShutdown {
		reason = ""
	} else {
		end = &recording.End{Time: w.Watermark(), Reason: reason}
	}
	w.out.write(w.encoder.End(w.text[:0], end), 0)
	w.out.writeSides(w.encoder.Sidecars(true))
	w.out.close()
	w.owner.logger.Info("Recording ended", zap.Stringer("session", w.ID), zap.String("service", w.name), zap.String("file", w.out.path()),
		zap.String("reason", reason), zap.Uint64("events", w.counted.Written), zap.Uint64("left_out", w.counted.TotalOmitted()),
		zap.Uint64("missed", w.missed))
}

// maxEncoded bounds the events that are encoded at once.
const maxEncoded = 8192

func (w *sessionWriter) write(events []jvmthread.Event) {
	missed := w.Counters().Missed - w.missed
	w.missed += missed
	w.owner.lost(whereMissed, missed)
	// Batch.Lost has what is missing of all threads; as an event it would make the batch invalid.
	events = slices.DeleteFunc(events, func(ev jvmthread.Event) bool { return ev.Thread == jvmthread.NoThread })
	for len(events) > 0 || missed > 0 {
		n := min(len(events), maxEncoded)
		watermark := w.Watermark()
		if n > 0 && (n < len(events) || events[n-1].Time > watermark) {
			watermark = events[n-1].Time
		}
		w.encode(&recording.Batch{Events: events[:n], Watermark: watermark, Lost: missed})
		missed = 0
		events = events[n:]
	}
	w.writeSums()
}

// writeSums writes the sums of the batches that have left the queue, in batch order.
func (w *sessionWriter) writeSums() {
	if len(w.sums) == 0 {
		return
	}
	slices.SortFunc(w.sums, func(a, b sums) int { return cmp.Compare(a.batch, b.batch) })
	n := 0
	for ; n < len(w.sums) && w.sums[n].batch < w.Awaits(); n++ {
		a := w.sums[n].aggregate
		if !w.owner.format.Carries.Aggregates {
			w.owner.leftOut("aggregate", len(a.Series))
			continue
		}
		w.encode(&recording.Batch{Aggregate: a, Watermark: w.Watermark()})
	}
	w.sums = slices.Delete(w.sums, 0, n)
}

// encode writes a batch to the current file, or to a new one if that is full.
func (w *sessionWriter) encode(batch *recording.Batch) {
	if w.out == nil {
		first := w.Watermark()
		if len(batch.Events) > 0 {
			first = batch.Events[0].Time
		}
		w.begin(first)
	} else if w.out.full() {
		w.out.write(w.encoder.End(w.text[:0], nil), 0)
		w.out.rotate()
		w.out.write(w.encoder.Begin(w.text[:0], w.nextPart()), 0)
	}
	batch.Threads = w.threads
	w.text = w.encoder.Batch(w.text[:0], batch)
	w.threads = w.threads[:0]
	clear(w.places)
	w.out.writeSides(w.encoder.Sidecars(false))
	w.out.write(w.text, w.countEncoded())
	w.written += sessions.CountEvents(batch.Events)
	for _, id := range w.ended {
		w.Symbols.DropThread(id)
	}
	w.ended = w.ended[:0]
	for i := range batch.Events {
		switch ev := &batch.Events[i]; ev.Kind {
		case jvmthread.KindThreadEnd:
			w.ended = append(w.ended, ev.Thread)
		case jvmthread.KindGap:
			if ev.Thread != jvmthread.NoThread && ev.Arg > 0 {
				w.owner.lost(whereAgent, uint64(ev.Arg))
			}
		}
	}
}

func (w *sessionWriter) begin(first jvmthread.Time) {
	cfg := w.owner.cfg
	times := recording.Times{Unit: cfg.TimeUnit}
	if cfg.RelativeTimes {
		times.Origin = first
	}
	w.encoder = w.owner.format.NewEncoder(recording.EncoderOptions{Symbols: w.Symbols, Stacks: cfg.Stacks, Times: times})
	w.out = newOutput(w.owner, w.name, w.ID)
	w.out.write(w.encoder.Begin(w.text[:0], w.nextPart()), 0)
	w.owner.logger.Info("Recording started", zap.Stringer("session", w.ID), zap.String("service", w.name), zap.String("file", w.out.path()))
}

// nextPart returns the session that the next file names. Files may be read one by one, in any order or concurrently, so every file after
// the first gets a session ID of its own, derived from the session's.
func (w *sessionWriter) nextPart() *recording.Session {
	w.parts++
	part := w.info
	if w.parts > 1 || w.out.number > 1 {
		part.ID = jvmthread.DeriveSessionID(fmt.Appendf(nil, "%s %d %d", w.ID, w.out.number, w.parts))
	}
	return &part
}

// countEncoded counts what the encoder has left out since the last call, and returns how many events it has written since then.
func (w *sessionWriter) countEncoded() (written uint64) {
	now := w.encoder.Stats()
	written = now.Written - w.counted.Written
	for kind, left := range now.Omitted {
		w.owner.leftOut(jvmthread.Kind(kind).String(), int(left-w.counted.Omitted[kind]))
	}
	w.counted = now
	return written
}
