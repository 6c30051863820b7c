// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package otlp_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/otlp"
	"github.com/weft-otel/weft/internal/spanlines"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/internal/wording"
)

// began is when simulated recordings begin.
const began = jvmthread.Time(1_700_000_000_000_000_000)

var format = otlp.Format()

// recorded returns the events of a simulated program whose times are stretched, so that it lasts for several windows.
func recorded(seed uint64, actions int, stretch jvmthread.Time) ([]jvmthread.Event, *symbols.Table) {
	events, sym := threadtest.Recorded(seed, 3+int(seed%7), 1+int(seed%4), actions)
	for i := range events {
		events[i].Time = began + events[i].Time*stretch
	}
	for id := range jvmthread.ThreadID(20) { // the simulated ones behave like platform threads
		if th := sym.Thread(id); th.Virtual {
			th.Virtual = false
			sym.SetThread(th)
		}
	}
	return events, sym
}

// spansOf writes the spans of events, as weft convert does.
func spansOf(t testing.TB, id jvmthread.SessionID, events []jvmthread.Event, sym *symbols.Table) []byte {
	t.Helper()
	session := &recording.Session{
		ID: id, PID: 77, Attributes: []wire.Attribute{{Key: "service.name", Value: "orders"}, {Key: "host.name", Value: "h"}},
		Thresholds: []string{"jdk.ThreadPark: 20 ms"},
	}
	var out bytes.Buffer
	w := spanlines.New(&out, id, spanlines.Resource(session, "native"), sym, spanlines.DefaultOptions())
	require.NoError(t, w.Batch(events, 0, events[len(events)-1].Time))
	require.NoError(t, w.Close(jvmthread.NoTime, window.CutEnd))
	return out.Bytes()
}

// analyzed are the waits that the engine finds in the events of a session.
type analyzed struct {
	t       testing.TB
	sym     *symbols.Table
	engine  *drive.Session
	waits   map[waitKey]wait
	blocked map[string]jvmthread.Time // by class
	causes  map[string]int
}

type waitKey struct {
	thread jvmthread.ThreadID
	began  jvmthread.Time
	state  jvmthread.State
}

type wait struct {
	end             jvmthread.Time
	lock, frame     string
	owner           jvmthread.ThreadID
	timeout         int64
	timedOut, known bool
	kind            jvmthread.Wait
}

func newAnalyzed(t testing.TB, id jvmthread.SessionID, sym *symbols.Table) *analyzed {
	t.Helper()
	cfg := engine.DefaultConfig()
	cfg.Phase = window.Phase(id, cfg.Window)
	return &analyzed{
		t: t, sym: sym, engine: drive.New(cfg, sym), waits: make(map[waitKey]wait), blocked: make(map[string]jvmthread.Time), causes: make(map[string]int),
	}
}

func (a *analyzed) add(events []jvmthread.Event, lost uint64, watermark jvmthread.Time) {
	a.engine.Batch(events, lost, watermark, a.window)
}

// analyze adds the events of a whole session.
func (a *analyzed) analyze(events []jvmthread.Event) {
	a.add(events, 0, events[len(events)-1].Time)
	a.close()
}

func (a *analyzed) close() { a.engine.Close(jvmthread.NoTime, window.CutEnd, a.window) }

func (a *analyzed) window(w *window.Window) {
	for _, l := range w.Lanes {
		for i, iv := range l.Intervals.All() {
			if !iv.State.Stopped() {
				continue
			}
			class := wording.ClassName(a.sym.Class(iv.Lock.Class))
			if iv.Wait.Contended() {
				a.blocked[class] += jvmthread.Time(w.Length(iv))
			}
			a.waits[waitKey{iv.Thread, iv.Start, iv.State}] = wait{
				end: iv.End, lock: fmt.Sprintf("%s/%x", class, iv.Lock.Hash), frame: a.engine.Waits().Site(iv.Stack).Function, owner: iv.Peer,
				timeout: max(0, iv.Timeout), timedOut: iv.Marks.Has(jvmthread.MarkTimedOut), kind: iv.Wait, known: !iv.Marks.Has(jvmthread.MarkOpen),
			}
			for _, ia := range l.AppendCauses(nil, i) {
				a.causes[fmt.Sprintf("%v %d %d from %d", ia.Kind, iv.Thread, ia.EffectTime, ia.From.Thread)]++
			}
		}
	}
}

// analyzing is a sink that analyzes each session.
type analyzing struct {
	t        testing.TB
	sym      *symbols.Table
	sessions []recording.Session
	found    map[jvmthread.SessionID]*analyzed
	now      *analyzed
	problems []recording.Problem
	ends     []recording.End
}

func (s *analyzing) Session(session *recording.Session) error {
	s.sessions = append(s.sessions, *session)
	require.NotContains(s.t, s.found, session.ID)
	s.now = newAnalyzed(s.t, session.ID, s.sym)
	s.found[session.ID] = s.now
	return nil
}

func (s *analyzing) Batch(b *recording.Batch) error {
	for _, th := range b.Threads {
		s.sym.SetThread(th)
	}
	s.now.add(b.Events, b.Lost, b.Watermark)
	return nil
}

func (s *analyzing) Problem(p recording.Problem) error {
	s.problems = append(s.problems, p)
	return nil
}

func (s *analyzing) End(e recording.End) error {
	s.ends = append(s.ends, e)
	return nil
}

// read decodes spans and analyzes what they say.
func read(t testing.TB, options recording.Options, text []byte) *analyzing {
	t.Helper()
	sym := symbols.New(symbols.DefaultLimits())
	sink := &analyzing{t: t, sym: sym, found: make(map[jvmthread.SessionID]*analyzed)}
	options.Symbols, options.File = sym, "spans.json"
	d := format.New(options, recording.CompleteWaits(sink))
	_, err := d.Write(text)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	for _, a := range sink.found {
		a.close()
	}
	return sink
}

// lines lists the waits of threads.
func (a *analyzed) lines() (list []string) {
	keys := make([]waitKey, 0, len(a.waits))
	for key := range a.waits {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(x, y waitKey) int {
		return cmp.Or(cmp.Compare(x.thread, y.thread), cmp.Compare(x.began, y.began), cmp.Compare(x.state, y.state))
	})
	for _, key := range keys {
		w := a.waits[key]
		list = append(list, fmt.Sprintf("thread %d %v %d to %d lock=%s frame=%s timeout=%d timed out=%t kind=%v known=%t",
			key.thread, key.state, key.began, w.end, w.lock, w.frame, w.timeout, w.timedOut, w.kind, w.known))
	}
	return list
}

// closed lists the waits whose end is known.
func (a *analyzed) closed() []string {
	return slices.DeleteFunc(a.lines(), func(line string) bool { return strings.HasSuffix(line, "known=false") })
}

func sameLines(t *testing.T, want, got []string, what string) {
	t.Helper()
	missing, extra := minus(want, got), minus(got, want)
	if len(missing)+len(extra) > 0 {
		t.Errorf("%s: %d of %d are missing, such as\n%s\n%d are not in the original, such as\n%s", what, len(missing), len(want),
			strings.Join(missing[:min(4, len(missing))], "\n"), len(extra), strings.Join(extra[:min(4, len(extra))], "\n"))
	}
}

func minus(a, b []string) (list []string) {
	known := make(map[string]bool, len(b))
	for _, line := range b {
		known[line] = true
	}
	for _, line := range a {
		if !known[line] {
			list = append(list, line)
		}
	}
	return list
}
