// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package triples_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/triples"
	"github.com/weft-otel/weft/internal/threadtest"
)

var format = triples.Format()

func read(t *testing.T, text string) *threadtest.Collector {
	t.Helper()
	c, stats, err := threadtest.Decode(&format, recording.Options{File: "x"}, []byte(text), 0)
	threadtest.CheckDecoded(t, "triples", c, stats, err)
	return c
}

func write(events []jvmthread.Event) (string, recording.EncoderStats) {
	e := format.NewEncoder(recording.EncoderOptions{Symbols: symbols.New(symbols.DefaultLimits())})
	return string(e.Batch(nil, &recording.Batch{Events: events})), e.Stats()
}

func same(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want - got +:\n%s", diff)
	}
}

func eventTexts(c *threadtest.Collector) (lines []string) {
	for _, ev := range c.Events {
		lines = append(lines, fmt.Sprintf("%v %d %s peer=%d lock=%x flags=%d", ev.Time.Sub(0), ev.Thread, ev.Kind, ev.Peer, ev.Lock.Hash, ev.Flags))
	}
	return lines
}

// article is the sample in the article (row I25).
const article = `Thread-32452561, start, Thread-60934352
Thread-32452561, start, Thread-89877242
Thread-60934352, wait, Thread-60934352, active 8 ms
Thread-89877242, wait, Thread-89877242, active 9 ms
Thread-32452561, notify, Thread-60934352
Thread-60934352, wait, Thread-60934352, active 3068 ms
`

func TestArticleSample(t *testing.T) {
	c := read(t, article)
	same(t, []recording.Problem(nil), c.Problems)
	same(t, []string{
		"1µs 32452561 startCalled peer=60934352 lock=0 flags=0",
		"2µs 32452561 startCalled peer=89877242 lock=0 flags=0",
		"2µs 60934352 threadStart peer=0 lock=0 flags=0",
		"3µs 89877242 threadStart peer=0 lock=0 flags=0",
		"8.002ms 60934352 wait peer=0 lock=3a1c8d0 flags=0",
		"9.003ms 89877242 wait peer=0 lock=55b6afa flags=0",
		"9.004ms 32452561 notify peer=0 lock=3a1c8d0 flags=0",
		"9.005ms 60934352 waitReturned peer=0 lock=3a1c8d0 flags=0",
		"3.077005s 60934352 wait peer=0 lock=3a1c8d0 flags=0",
	}, eventTexts(c))
	again, _ := write(c.Events)
	same(t, article, again)
}

// The page has lost its line breaks and varies the spelling of the unit.
func TestFormatVariants(t *testing.T) {
	want := eventTexts(read(t, article))
	for _, text := range []string{
		strings.ReplaceAll(article, "\n", " "),
		strings.ReplaceAll(article, "ms", "Ms"),
		strings.ReplaceAll(article, ", ", " , "),
		strings.ReplaceAll(article, "\n", "\r\n\r\n"),
		strings.NewReplacer("Thread-32452561, s", "<Thread-32452561, S", "60934352\n", "60934352\n", "start, Thread-60934352", "start, Thread-60934352>", "start, Thread-89877242", "start, Thread-89877242>").Replace(article),
	} {
		c := read(t, text)
		same(t, []recording.Problem(nil), c.Problems)
		same(t, want, eventTexts(c))
	}
}

func TestEveryOperation(t *testing.T) {
	const text = `Thread-1, start, Thread-2
Thread-2, yield, Thread-2
Thread-2, sleep, Thread-2
Thread-1, interrupt, Thread-2
Thread-2, wait, Thread-2, active 5 ms
Thread-1, notifyAll, Thread-2
Thread-1, suspend, Thread-2
Thread-1, resume, Thread-2
Thread-1, join, Thread-2
Thread-1, stop, Thread-2
`
	c := read(t, text)
	same(t, []string{
		"1µs 1 startCalled peer=2 lock=0 flags=0", "2µs 2 threadStart peer=0 lock=0 flags=0", "3µs 2 yield peer=0 lock=0 flags=0",
		"4µs 2 sleepStart peer=0 lock=0 flags=0", "5µs 1 interruptCalled peer=2 lock=0 flags=0", "6µs 2 sleepEnd peer=0 lock=0 flags=2",
		"5.002ms 2 wait peer=0 lock=2 flags=0", "5.003ms 1 notifyAll peer=0 lock=2 flags=0", "5.003001ms 2 waitReturned peer=0 lock=2 flags=0",
		"5.004ms 1 suspend peer=2 lock=0 flags=0", "5.005ms 1 resume peer=2 lock=0 flags=0", "5.006ms 1 joinStart peer=2 lock=2 flags=0",
		"5.007ms 1 joinEnd peer=2 lock=2 flags=0", "5.008ms 1 stop peer=2 lock=0 flags=0",
	}, eventTexts(c))
	again, _ := write(c.Events)
	same(t, text, again)
}

// Reading and writing again yields the same triples in the same order. Active times never shrink, but may grow if other lines require it.
// The threads woken by notifies are those that were really woken in the simulated program.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(60) {
		threads := 2 + int(seed%9)
		sim := threadtest.Simulate(seed, threads, 1+int(seed%5), 3000)
		for i := range sim.Events {
			sim.Events[i].Time *= 100_000 // long enough for milliseconds
		}
		text, stats := write(sim.Events)
		if n := uint64(len(sim.Events)); stats.Written+stats.TotalOmitted() != n {
			t.Fatalf("got %+v, want %d in total", stats, n)
		}
		c := read(t, text)
		if len(c.Problems) > 0 {
			t.Fatal(c.Problems[0])
		}
		again, _ := write(c.Events)
		want, wantActive := active(t, text)
		got, gotActive := active(t, again)
		same(t, want, got)
		for i := range wantActive {
			if gotActive[i] >= 0 && gotActive[i] < wantActive[i] {
				t.Errorf("line %d: active %d ms, want %d", i+1, gotActive[i], wantActive[i])
			}
		}
		same(t, woken(sim), notified(text))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// active splits the lines of a text into triples and milliseconds (-1 if a line has none).
func active(t *testing.T, text string) (lines []string, ms []int) {
	t.Helper()
	for line := range strings.Lines(text) {
		triple, rest, ok := strings.Cut(strings.TrimSpace(line), ", active ")
		n := -1
		if _, err := fmt.Sscanf(rest, "%d ms", &n); ok && err != nil {
			t.Error(err)
		}
		lines, ms = append(lines, triple), append(ms, n)
	}
	return lines, ms
}

// woken counts the pairs of notifying and notified threads according to the simulation.
func woken(sim *threadtest.Simulation) map[string]int {
	pairs := make(map[string]int)
	for _, ia := range sim.Truth {
		if ia.Kind == jvmthread.InteractionNotify || ia.Kind == jvmthread.InteractionNotifyAll {
			name := "notify"
			if ia.Kind == jvmthread.InteractionNotifyAll {
				name = "notifyAll"
			}
			pairs[fmt.Sprintf("Thread-%d, %s, Thread-%d", ia.From, name, ia.To)]++
		}
	}
	return pairs
}

// notified counts the pairs of notifying and notified threads in the text.
func notified(text string) map[string]int {
	pairs := make(map[string]int)
	for line := range strings.Lines(text) {
		if strings.Contains(line, ", notify") {
			pairs[strings.TrimSpace(line)]++
		}
	}
	return pairs
}

func TestBadLinesAreSkipped(t *testing.T) {
	c := read(t, "Thread-1, start, Thread-2\nThread-1\nThread-1, start\n, start, Thread-2\nThread-1, frobnicate, Thread-2\nThread-1, frobnicate, Thread-2\n"+
		"Thread-1, wait, Thread-1, idle 3 ms\nThread-1, wait, Thread-1, active 99999999999999999999 ms\n\x00\xff\nmain, start, pool 1\nThread-1, wait, Thread-1\n")
	var problems []string
	for _, p := range c.Problems {
		problems = append(problems, p.Error())
	}
	const form = "; want Thread-<number>, <operation>, Thread-<number>, optionally followed by: , active <n> ms"
	same(t, []string{
		"x:2 (byte 26): the line is not <thread>, <operation>, <thread>" + form, "x:3 (byte 35): the line is not <thread>, <operation>, <thread>" + form,
		"x:4 (byte 51): the line names no thread" + form, `x:5 (byte 69): unknown operation "frobnicate"; skipping it, here and below`,
		"x:7 (byte 131): unexpected text after the triple" + form,
		"x:8 (byte 167): unexpected text after the triple" + form,
		"x:9 (byte 224): the line is not <thread>, <operation>, <thread>" + form,
	}, problems)
	names := []string{}
	for _, th := range c.Threads {
		names = append(names, th.Name)
	}
	slices.Sort(names)
	same(t, []string{"main", "pool 1"}, names)
}

// Events inferred at the end always have the same order, because the position after a restart is a number of events.
func TestEndIsDeterministic(t *testing.T) {
	var text strings.Builder
	for id := range 40 {
		fmt.Fprintf(&text, "Thread-1, start, Thread-%d\n", id+2)
	}
	text.WriteString(strings.Repeat("Thread-1, notify, Thread-1\n", 40))
	c, stats, err := threadtest.Decode(&format, recording.Options{File: "x", Reorder: 1}, []byte(text.String()), 0)
	threadtest.CheckDecoded(t, "triples", c, stats, err)
	var begun []jvmthread.ThreadID
	for _, ev := range c.Events {
		if ev.Kind == jvmthread.KindThreadStart {
			begun = append(begun, ev.Thread)
		}
	}
	assert.Len(t, begun, 40)
	assert.IsIncreasing(t, begun)
}

func TestCorruptTriples(t *testing.T) {
	reported := threadtest.Corrupt(t, &format, func() recording.Options { return recording.Options{} }, []byte(article), 5)
	if reported < len(article)/2 {
		t.Errorf("only %d of %d flipped bits were reported", reported, 8*len(article))
	}
}

func TestMatch(t *testing.T) {
	for text, want := range map[string]bool{
		article: true, "<Thread-1, start, Thread-2>": true, "\n\nThread-1, yield, Thread-1, active": false, "": false, "a,b,c": false,
		"1.5,ThreadSleep,0000000A,0": false, "<TRACE>": false,
	} {
		if got := format.Match([]byte(text)); got != want {
			t.Errorf("Match(%.30q) = %t, want %t", text, got, want)
		}
	}
}

// FuzzDecode checks that a decoder fulfills its contract for any input, however the input is split.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(article), uint16(7))
	f.Add([]byte("<a, Wait, a>, ACTIVE 7 MS <Thread-1, join, a\nThread-1, sleep, Thread-1\nThread-9223372036854775807, interrupt, Thread-1"), uint16(1))
	f.Fuzz(func(t *testing.T, text []byte, piece uint16) {
		opts := recording.Options{File: "x", Reorder: 4, MaxRecord: 200}
		whole, stats, err := threadtest.Decode(&format, opts, text, 0)
		threadtest.CheckDecoded(t, "whole", whole, stats, err)
		cut, stats, err := threadtest.Decode(&format, opts, text, int(piece))
		threadtest.CheckDecoded(t, "in pieces", cut, stats, err)
		if len(whole.Events) != len(cut.Events) || len(whole.Problems) != len(cut.Problems) {
			t.Errorf("whole: %d events and %v; in pieces of %d bytes: %d and %v", len(whole.Events), whole.Problems, piece, len(cut.Events), cut.Problems)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	text, _ := write(threadtest.Simulate(1, 16, 8, 200_000).Events)
	b.SetBytes(int64(len(text)))
	sink := &threadtest.Discard{}
	rate := threadtest.StartRate()
	for b.Loop() {
		d := format.New(recording.Options{}, sink)
		if _, err := d.Write([]byte(text)); err != nil {
			b.Fatal(err)
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
	rate.Report(b, sink.Events)
}
