// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/refusal"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// maxPiece bounds the spans that the next consumer gets at a time. The spans of a large window are sent while later ones are made.
const maxPiece = threadpdata.MaxPiece

// maxUnsent bounds the spans that a session keeps until its engine has advanced.
const maxUnsent = 2 * maxPiece

// piece is a part of the spans of a window.
type piece struct {
	td           ptrace.Traces
	spans, bytes int
	marked       int64 // spans of earlier windows that its root calls refused
	of           *outcome
	last         bool
}

// outcome is what became of the spans of a window. Its pieces are sent one after the other.
type outcome struct {
	spans, lost int
	err         error // why the last one was lost
}

// streamed writes the spans of a window in pieces.
type streamed struct {
	*session

	found *incident.Found // nil: incidents are off
	of    *outcome
	td    ptrace.Traces // the piece that is being written
	spans ptrace.SpanSlice
	begun bool // there is one
	named bool // the root says which incidents there were, and what was refused before
}

// stream makes the spans of a window, and sends all but the last pieces.
func (s *session) stream(w *window.Window) {
	path := threadpdata.Segments(w, s.MaxSpans())
	out := streamed{session: s, of: new(outcome), found: s.findIncidents(w)}
	pieces := threadpdata.NewPieces(maxPiece, out.next)
	s.emitter.Stream(w, path, pieces)
	if out.found != nil {
		s.emitter.StreamIncidents(out.found, pieces)
	}
	out.complete(true)
}

// next begins another piece. The first one has the root.
func (o *streamed) next() ptrace.SpanSlice {
	if o.begun {
		o.complete(false)
	}
	o.td, o.spans = o.traces()
	o.begun = true
	return o.spans
}

// complete ends the current piece. If too many spans wait, the oldest ones are sent now.
func (o *streamed) complete(last bool) {
	p := piece{of: o.of, last: last}
	if !o.named { // the first one
		if o.found != nil {
			o.emitter.Announce(o.found, o.spans.At(0))
		}
		p.marked = o.refused.Swap(0)
		threadpdata.PutRefused(o.spans.At(0), p.marked)
		o.named = true
	}
	p.td, p.spans, p.bytes = o.td, o.spans.Len(), sizeOf(o.spans)
	o.td, o.spans = ptrace.Traces{}, ptrace.SpanSlice{}
	o.Pass(p.bytes)
	o.windows = append(o.windows, p)
	o.unsent += p.spans
	most := maxUnsent
	if !last {
		most -= maxPiece // which comes next
	}
	for o.unsent > most {
		first := o.windows[:1:1]
		o.windows = o.windows[1:]
		o.unsent -= first[0].spans
		o.Deliver(func(ctx context.Context) { o.sendPieces(ctx, first) })
	}
}

// sendPieces sends pieces, one after the other. A panic costs the rest.
func (s *session) sendPieces(ctx context.Context, rest []piece) {
	defer func() { s.drop(rest) }()
	for len(rest) > 0 {
		s.sendPiece(ctx, rest[0])
		rest[0] = piece{}
		rest = rest[1:]
	}
}

// drop counts pieces that are not sent.
func (s *session) drop(pieces []piece) {
	for _, p := range pieces {
		s.Pass(-p.bytes)
		s.refused.Add(p.marked + int64(p.spans))
		s.proc.telemetry.ProcessorThreadSpanSpansRefused.Add(context.Background(), int64(p.spans))
	}
}

// sendPiece sends a piece. The last one concludes its window.
func (s *session) sendPiece(ctx context.Context, p piece) {
	tel := s.proc.telemetry
	tel.ProcessorThreadSpanSpans.Add(ctx, int64(p.spans))
	err := s.proc.consume(ctx, p.td)
	s.Pass(-p.bytes)
	p.of.spans += p.spans
	if err != nil {
		p.of.lost, p.of.err = p.of.lost+p.spans, err
		s.refused.Add(p.marked + int64(p.spans))
		tel.ProcessorThreadSpanSpansRefused.Add(ctx, int64(p.spans))
	}
	if !p.last {
		return
	}
	tel.ProcessorThreadSpanWindows.Add(ctx, 1)
	if p.of.lost > 0 {
		tel.ProcessorThreadSpanWindowsRefused.Add(ctx, 1)
		s.proc.logger.Error("The next consumer rejected spans of a window, which are lost",
			zap.String("remedy", refusal.Remedy(p.of.err)), zap.Int("lost", p.of.lost), zap.Int("spans", p.of.spans), zap.Error(p.of.err))
	}
}

// A piece that is rejected for the moment, such as by a full queue, is offered again for so long. Its IDs are the same then.
const (
	repeatFor   = time.Second
	firstRepeat = 50 * time.Millisecond
	mostRepeat  = 10 * time.Second
)

// consume passes spans to the next consumer, several times if it may take them later. A consumer that has rejected all repetitions gets none
// until it has taken something: the sessions would only fall behind. While the disk of its queue is full or broken, spans wait as for a queue
// that is full: then windows wait, batches, and the agents, which count what they drop.
func (p *threadSpan) consume(ctx context.Context, td ptrace.Traces) error {
	once := p.next.Capabilities().MutatesData // td may no longer be what it was
	begin, pause := time.Now(), firstRepeat
	for {
		err := p.next.ConsumeTraces(ctx, td)
		if err == nil {
			p.rejecting.Store(false)
			if p.waiting.CompareAndSwap(true, false) {
				p.logger.Info("The next consumer stores spans again")
			}
			return nil
		}
		disk := refusal.ByDisk(err)
		if once || consumererror.IsPermanent(err) || !disk && p.rejecting.Load() {
			return err
		}
		if !disk && time.Since(begin)+pause > repeatFor {
			p.rejecting.Store(true)
			return err
		}
		if disk && p.waiting.CompareAndSwap(false, true) {
			p.logger.Error("The next consumer cannot store spans; windows wait", zap.String("remedy", refusal.Remedy(err)), zap.Error(err))
		}
		td = rest(err, td)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
		pause = min(2*pause, mostRepeat)
	}
}

// rest returns the part of spans that a consumer has not taken.
func rest(err error, td ptrace.Traces) ptrace.Traces {
	var part consumererror.Traces
	if errors.As(err, &part) {
		return part.Data()
	}
	return td
}

// sizeOf estimates the bytes of spans that Emitter has written, which share most texts: within a fifth, for windows with usual waits.
func sizeOf(spans ptrace.SpanSlice) (bytes int) {
	const perSpan, perAttribute, perLink, perEvent = 240, 64, 200, 250
	for i := range spans.Len() {
		s := spans.At(i)
		bytes += perSpan + perAttribute*s.Attributes().Len() + perLink*s.Links().Len() + perEvent*s.Events().Len()
	}
	return bytes
}
