// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/wire"
)

// empty reports whether nothing is left on the disks, but for the list of sessions that have ended.
func (w *world) empty() bool { return len(w.left()) == 0 }

func (w *world) left() (keys []string) {
	for _, p := range w.places() {
		p.disk.mu.Lock()
		for name, file := range p.disk.files {
			for key, value := range file {
				switch {
				case key == "ended", key == "qmv0", key == "sessions" && len(value) == 1:
				default:
					keys = append(keys, p.name+": "+name+": "+key)
				}
			}
		}
		p.disk.mu.Unlock()
	}
	slices.Sort(keys)
	return keys
}

// replay returns the spans of a session without faults: of its first batches, and an end.
func (w *world) replay(a *agent, batches int, ended bool) *backend {
	p := &place{world: w, name: "replay", disk: newDisk()}
	got := newBackend()
	p.build = func(l *life) {
		to, err := consumer.NewTraces(got.take)
		if err != nil {
			panic(err)
		}
		l.receive(l.analyze(false, to))
	}
	p.begin()
	conn, err := p.life.entry.dial()
	if err != nil {
		panic(err)
	}
	data := wire.AppendHello(wire.AppendPreamble(nil), &a.hello)
	data = append(data, a.program.definitions...)
	for _, b := range a.sent[:batches] {
		data = append(data, b.data...)
	}
	if ended {
		data = append(data, a.end()...)
	}
	replayed := make(chan struct{})
	go func() {
		defer close(replayed)
		answers(conn, batches, ended)
	}()
	_, _ = conn.Write(data) // a broken connection is noticed by its reader
	<-replayed
	synctest.Wait()
	if !ended {
		time.Sleep(10 * time.Second) // in the bubble; session_linger
	}
	p.bury(0)
	w.ending.Wait()
	return got
}

// answers reads until all batches are acknowledged, and, after an end, the connection is closed.
func answers(conn net.Conn, batches int, ended bool) {
	defer func() { _ = conn.Close() }()
	reader := wire.NewReader(conn, wire.MaxControl)
	for {
		frame, err := reader.Next()
		if err != nil {
			return
		}
		if sequence, err := frame.Ack(); frame.Kind == wire.FrameAck && err == nil && int(sequence) == batches && !ended {
			return
		}
	}
}

// encoded returns the bytes of a span without what depends on earlier windows, which an engine that continues a session does not know: links to
// their spans, incidents that began in them, and the order in which threads took locks.
func encoded(s *span) []byte {
	td := ptrace.NewTraces()
	own := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	s.CopyTo(own)
	own.Links().RemoveIf(func(l ptrace.SpanLink) bool { return l.TraceID() != own.TraceID() })
	own.Events().RemoveIf(func(e ptrace.SpanEvent) bool { return e.Name() == "weft.incident" || e.Name() == "weft.lock_order" })
	own.Attributes().RemoveIf(func(key string, _ pcommon.Value) bool { return strings.HasPrefix(key, "weft.incident.") })
	data, _ := new(ptrace.ProtoMarshaler).MarshalTraces(td) // never fails
	return data
}

func (s *span) ofIncident() bool {
	return s.text("weft.incident.kind")+s.text("weft.incident.role") != ""
}

// check compares what the backend has with what the agents did.
func (w *world) check() {
	for _, s := range w.backend.twice {
		if first := w.backend.byID[s.id()]; !w.plan.moves && !w.torn.Load() && !s.ofIncident() && !bytes.Equal(encoded(first), encoded(s)) {
			w.fail("a span of %s came twice and differs: %s", s.service, difference(first, s))
		}
	}
	for _, a := range w.agents {
		w.checkSession(a)
	}
}

func (w *world) checkSession(a *agent) {
	var counted, lost int
	cuts := make(map[string]int)
	spans := w.backend.of(a.name)
	for _, s := range spans {
		if !s.isWindow() {
			continue
		}
		cuts[s.text("weft.window.cut")]++
		counted += int(s.number("weft.events.count"))
		lost += int(s.number("weft.events.lost"))
		if missed := s.number("weft.events.missed"); missed != 0 && !w.plan.moves {
			w.fail("%s: %d events are missed in the window at %d", a.name, missed, s.number("weft.window.start"))
		}
	}
	w.note("%s: %d events counted, %d lost, cuts %v; %d batches, %d acknowledged; %d events dropped", a.name, counted, lost, cuts, len(a.sent), a.acked, a.lost)
	if len(a.sent) == 0 {
		return
	}
	if len(w.backend.rejected) > 0 {
		return
	}
	if w.plan.exact {
		w.compareAny(a, spans, counted)
	}
}

// compareAny compares the spans of a session with those of a run without faults. Of a JVM that was killed, some of the batches may have arrived
// that were not acknowledged.
func (w *world) compareAny(a *agent, spans []*span, counted int) {
	var why []string
	if a.done {
		if why = compare(a, spans, w.replay(a, len(a.sent), true)); len(why) == 0 {
			return
		}
	}
	if !a.done || a.fooled {
		why = w.compareLost(a, spans, counted)
	}
	w.failed = append(w.failed, why...)
}

// compareLost compares the spans of a session that was lost.
func (w *world) compareLost(a *agent, spans []*span, counted int) (why []string) {
	why = []string{fmt.Sprintf("%s: %d batches are acknowledged with %d events, of which %d are in windows", a.name, a.acked, a.events, counted)}
	for n := max(1, int(a.acked)); n <= len(a.sent) && a.sent[n-1].events <= counted; n++ {
		if a.sent[n-1].events == counted {
			if why = compare(a, spans, w.replay(a, n, false)); len(why) == 0 {
				return nil
			}
		}
	}
	return why
}

// compare compares the spans of a session with those of a run without faults.
func compare(a *agent, spans []*span, want *backend) (differences []string) {
	fail := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	have := make(map[spanID]bool)
	for _, s := range spans {
		if s.ofIncident() {
			continue
		}
		have[s.id()] = true
		switch first := want.byID[s.id()]; {
		case first == nil:
			fail("%s: there is no such span without faults: %s", a.name, describe(s))
		case !bytes.Equal(encoded(first), encoded(s)):
			fail("%s: a span differs: %s", a.name, difference(first, s))
		}
	}
	for _, s := range want.order {
		if !s.ofIncident() && !have[s.id()] {
			fail("%s: a span is missing: %s", a.name, describe(s))
		}
	}
	return differences
}

func describe(s *span) string {
	return fmt.Sprintf("%s of trace %s from %d to %d %v", s.Name(), s.TraceID(), s.StartTimestamp(), s.EndTimestamp(), s.Attributes().AsRaw())
}

// difference describes two spans of the same ID by what is not the same.
func difference(a, b *span) string {
	was, is := lines(a), lines(b)
	only := func(all, other []string) string {
		return strings.Join(slices.DeleteFunc(all, func(line string) bool { return slices.Contains(other, line) }), "\n        ")
	}
	return fmt.Sprintf("%s of trace %s:\n      - %s\n      + %s", a.Name(), a.TraceID(), only(slices.Clone(was), is), only(slices.Clone(is), was))
}

func lines(s *span) []string {
	all := []string{s.Name(), s.Kind().String(), s.Status().Message(), s.TraceState().AsRaw(), fmt.Sprint(s.DroppedLinksCount(), s.DroppedEventsCount(), s.DroppedAttributesCount(), s.Flags()), fmt.Sprint("from ", s.StartTimestamp()), fmt.Sprint("to ", s.EndTimestamp()), "in " + s.ParentSpanID().String()}
	for key, value := range s.Attributes().All() {
		all = append(all, key+"="+value.AsString())
	}
	for _, e := range s.Events().All() {
		all = append(all, fmt.Sprint("event ", e.Name(), e.Timestamp(), e.Attributes().AsRaw()))
	}
	for _, l := range s.Links().All() {
		all = append(all, fmt.Sprint("link ", l.TraceID(), l.SpanID(), l.Attributes().AsRaw()))
	}
	return all
}
