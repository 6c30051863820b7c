// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"cmp"
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
	if n := w.topic.lag(); n > 0 {
		keys = append(keys, fmt.Sprint(n, " records of Kafka"))
	}
	for _, p := range w.places() {
		p.disk.mu.Lock()
		for name, file := range p.disk.files {
			for key, value := range file {
				switch {
				case key == "ended", key == "lost", key == "qmv0", key == "sessions" && len(value) == 1:
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
		l.receive(l.analyze(false, false, to))
	}
	p.begin(0)
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

// checkSession compares what the backend has of a session with what its agent did.
func (w *world) checkSession(a *agent) {
	spans := w.backend.of(a.name)
	got := sum(w.backend.windows(a.name))
	for _, s := range spans {
		if s.isWindow() && *only >= 0 {
			w.note("%s: window from %d to %d by %s with %d events", a.name, s.number("weft.window.start"), s.EndTimestamp(), s.text("weft.window.cut"), s.number("weft.events.count"))
		}
	}
	w.note("%s: %d events in windows, %d lost, cuts %v; %d batches with %d events, %d acknowledged with %d, %d dropped", a.name,
		got.events, got.lost, got.cuts, len(a.sent), a.all(), a.acked, a.events, a.lost)
	if len(spans) == 0 && a.acked == 0 || len(w.backend.rejected) > 0 || w.excused.Load() {
		return
	}
	if got.missed != 0 && !w.plan.moves {
		w.fail("%s: %d events are missed", a.name, got.missed)
	}
	w.checkSum(a, got)
	w.checkEnds(a, got)
	switch {
	case w.plan.exact:
		w.compareAny(a, spans, got.events)
	case !w.plan.moves && !w.torn.Load() && a.longest < shortest:
		w.failed = append(w.failed, tiles(a, spans)...)
	}
}

// shortest is how long an agent must be away at least for its session to be lost.
const shortest = 4900 * time.Millisecond

// checkSum checks that each event is in one window. Of a JVM that was killed, some of the events may have arrived that were not acknowledged;
// and some events may be in windows of two gateways, if their batch was on its way when the session moved.
func (w *world) checkSum(a *agent, got sums) {
	least, most := a.all(), a.all()
	if !a.done || a.fooled {
		least = a.events
	}
	if w.plan.moves {
		for id, events := range w.doubled {
			if id.trace == pcommon.TraceID(a.hello.Session) {
				most += events
				least = 0 // both may have a window that starts at the same time, of which the backend keeps one
			}
		}
	}
	if got.events < least || got.events > most {
		w.fail("%s: %d events are in windows, want %d to %d", a.name, got.events, least, most)
	}
	if a.done && (got.lost < a.lost || got.lost > a.lost && !w.plan.moves) {
		w.fail("%s: %d events are lost, want %d", a.name, got.lost, a.lost)
	}
}

// checkEnds checks that each session ends, once.
func (w *world) checkEnds(a *agent, got sums) {
	end, lost := got.cuts["end"], got.cuts["lost"]
	switch {
	case a.done && !a.fooled && end != 1 && (!w.plan.moves || end == 0), a.killed && end > 0:
		w.fail("%s: the session ends %d times", a.name, end)
	case end+lost == 0 && a.acked > 0:
		w.fail("%s: the session does not end", a.name)
	case lost > 0 && a.done && !a.fooled && a.longest < shortest && !w.plan.moves:
		w.fail("%s: the session is lost %d times, although its agent was away for %v at most", a.name, lost, a.longest)
	}
}

// sums are what the windows of a session say.
type sums struct {
	events, lost, missed int
	cuts                 map[string]int
}

// sum adds up windows. Of those with one ID, the longest has the events of the others.
func sum(windows map[spanID]map[string]*span) sums {
	got := sums{cuts: make(map[string]int)}
	for _, ends := range windows {
		var longest *span
		for cut, s := range ends {
			got.cuts[cut]++
			if longest == nil || s.EndTimestamp() > longest.EndTimestamp() {
				longest = s
			}
		}
		got.events += int(longest.number("weft.events.count"))
		got.lost += int(longest.number("weft.events.lost"))
		got.missed += int(longest.number("weft.events.missed"))
	}
	return got
}

// tiles checks that no window begins before the one before has ended. After a collector was stopped, the next one may begin later, with the next
// event.
func tiles(a *agent, spans []*span) (wrong []string) {
	windows := slices.DeleteFunc(slices.Clone(spans), func(s *span) bool { return !s.isWindow() })
	slices.SortFunc(windows, func(a, b *span) int {
		return int(cmp.Or(a.number("weft.window.start")-b.number("weft.window.start"), int64(a.EndTimestamp())-int64(b.EndTimestamp())))
	})
	for i := 1; i < len(windows); i++ {
		if end := int64(windows[i-1].EndTimestamp()); windows[i].number("weft.window.start") < end {
			wrong = append(wrong, fmt.Sprintf("%s: a window ends at %d by %s, and the next one begins at %d", a.name, end,
				windows[i-1].text("weft.window.cut"), windows[i].number("weft.window.start")))
		}
	}
	return wrong
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
