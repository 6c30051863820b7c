// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package requests_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/golden"
)

// Each file in testdata contains a history of events and what is reported of its requests, in windows of any length.
func TestGoldens(t *testing.T) { golden.Each(t, "testdata/*.txt", checkGolden) }

func checkGolden(t *testing.T, file string) {
	t.Helper()
	_, bodies := golden.Read(t, file)
	h, err := threadtest.Parse(bodies["events"])
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	cfg := requests.Config{MinDuration: 10, MinCaused: 20, MaxPerSpan: 50, MaxPerSecond: 1e9}
	bodies["report"] = run(h, cfg, time.Hour)
	golden.Compare(t, file, golden.Join([]string{"", "events", "report"}, bodies))
}

// run returns what is reported of a history.
func run(h *threadtest.History, cfg requests.Config, length time.Duration) string {
	var b strings.Builder
	follow(h, cfg, length, func(r *requests.Report) { b.WriteString(h.Report(r)) })
	return b.String()
}

// follow passes on the report after each event.
func follow(h *threadtest.History, cfg requests.Config, length time.Duration, see func(*requests.Report)) {
	followNamed(h, h.Symbols(), cfg, length, see)
}

func followNamed(h *threadtest.History, sym *symbols.Table, cfg requests.Config, length time.Duration, see func(*requests.Report)) {
	d := engine.DefaultConfig()
	d.Window, d.Requests = length, &cfg
	e := engine.New(d, sym)
	none := func(*window.Window) {}
	report := func() {
		see(e.Requests().Take())
		e.Requests().Reset()
	}
	for i := range h.Events {
		e.Push(h.Events[i:i+1], h.Events[i].Time, none)
		report()
	}
	e.Finish(nil, e.Now(), window.CutEnd, none)
	report()
}

func TestRateIsLimited(t *testing.T) {
	h := new(threadtest.History)
	a, b := h.Thread("A"), h.Thread("B")
	lock, span := h.Lock("Book"), h.Span("a")
	h.Events = append(h.Events, jvmthread.Event{Thread: a, Kind: jvmthread.KindContext, Span: span})
	const waits, each = 1000, int64(time.Millisecond)
	for i := range int64(waits) {
		h.Events = append(h.Events,
			jvmthread.Event{Time: jvmthread.Time(2 * i * each), Thread: a, Peer: b, Lock: lock, Kind: jvmthread.KindContendedEnter},
			jvmthread.Event{Time: jvmthread.Time((2*i + 1) * each), Thread: a, Lock: lock, Kind: jvmthread.KindContendedEntered})
	}
	var reported int
	var dropped uint64
	follow(h, requests.Config{MinDuration: 1, MinCaused: time.Hour, MaxPerSpan: waits, MaxPerSecond: 100}, time.Hour, func(r *requests.Report) {
		reported += len(r.Waits)
		dropped += r.Dropped
	})
	if reported != 224 || reported+int(dropped) != waits { // three quarters of 100 a second in 1.998 s, and of 100 at once
		t.Errorf("%d reported, %d dropped", reported, dropped)
	}
}

func TestWaitsOfASpanAreLimited(t *testing.T) {
	h, err := threadtest.Parse("0 A context span=a")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		at := jvmthread.Time(100 * (i + 1))
		h.Events = append(h.Events,
			jvmthread.Event{Time: at, Thread: h.Thread("A"), Kind: jvmthread.KindSleepStart},
			jvmthread.Event{Time: at + 50, Thread: h.Thread("A"), Kind: jvmthread.KindSleepEnd})
	}
	var counts []int
	var sum time.Duration
	follow(h, requests.Config{MinDuration: 10, MaxPerSpan: 7, MaxPerSecond: 1e9}, time.Hour, func(r *requests.Report) {
		for i := range r.Waits {
			counts = append(counts, r.Waits[i].Count)
			sum += r.Waits[i].Time
		}
	})
	if diff := cmp.Diff([]int{1, 1, 1, 1, 1, 1, 1, 93}, counts); diff != "" || sum != 5000 {
		t.Errorf("sum %d, counts (-want +got):\n%s", sum, diff)
	}
}

// In a burst of short waits, the long ones still have room.
func TestLongWaitsHaveRoomInABurst(t *testing.T) {
	const short, long, rate = 2 * time.Millisecond, 200 * time.Millisecond, 100
	var text strings.Builder
	text.WriteString("0 w threadStart\n0 w context span=a\n0 v threadStart\n0 v context span=b\n")
	fmt.Fprintf(&text, "0 v contendedEnter lock=y\n")
	at := time.Duration(0)
	for at < long-2*short {
		fmt.Fprintf(&text, "%d w contendedEnter lock=x\n%d w contendedEntered lock=x\n", at, at+short)
		at += short
	}
	fmt.Fprintf(&text, "%d v contendedEntered lock=y\n", long)
	h, err := threadtest.Parse(text.String())
	if err != nil {
		t.Fatal(err)
	}
	var reported []time.Duration
	dropped := uint64(0)
	follow(h, requests.Config{MinDuration: time.Millisecond, MinCaused: time.Hour, MaxPerSpan: 1e9, MaxPerSecond: rate}, time.Hour, func(r *requests.Report) {
		for i := range r.Waits {
			reported = append(reported, r.Waits[i].Time)
		}
		dropped += r.Dropped
	})
	if dropped == 0 || len(reported) < rate/4 || !slices.Contains(reported, long) {
		t.Errorf("%d dropped, reported %v", dropped, reported)
	}
}

// A wait for a task has no span, but is part of where the time of the request went.
func TestIdleWaitsAreSummedUp(t *testing.T) {
	h, err := threadtest.Parse(`
5    A context span=a
10   A park stack=1
80   A unparked
100  A requestEnd span=a arg=95
`)
	if err != nil {
		t.Fatal(err)
	}
	sym := h.Symbols()
	if id := sym.InternStack("at java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1)"); id != 1 {
		t.Fatalf("the stack is %d", id)
	}
	var b strings.Builder
	followNamed(h, sym, requests.Config{MinDuration: 1, MaxPerSpan: 1, MaxPerSecond: 1e9}, time.Hour, func(r *requests.Report) { b.WriteString(h.Report(r)) })
	if want := "a on A 5..100: running 25, 1 idle 70\n    70 in 1 waits such as A/2 parked 10..80\n"; b.String() != want {
		t.Errorf("have %s, want %s", b.String(), want)
	}
}

// The least rate that can be configured leaves room for a short wait and a hold now and then.
func TestSmallRateLeavesRoom(t *testing.T) {
	var text strings.Builder
	text.WriteString("0 A context span=a\n0 B context span=b\n")
	const rounds = 20
	for i := range int64(rounds) {
		at := (i + 1) * int64(10*time.Second)
		fmt.Fprintf(&text, "%d A contendedEnter lock=Book owner=B\n%d A contendedEntered lock=Book\n", at, at+int64(5*time.Millisecond))
	}
	h, err := threadtest.Parse(text.String())
	if err != nil {
		t.Fatal(err)
	}
	waits, holds := 0, 0
	cfg := requests.Config{MinDuration: time.Millisecond, MinCaused: time.Millisecond, MaxPerSpan: 1e9, MaxPerSecond: 4}
	follow(h, cfg, time.Hour, func(r *requests.Report) {
		waits += len(r.Waits)
		holds += len(r.Holds)
	})
	if waits != rounds || holds != rounds {
		t.Errorf("%d waits, %d holds", waits, holds)
	}
}
