// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
	"github.com/weft-otel/weft/internal/viewapi"
)

const (
	big            = "a0000000000000000000000000000003"
	serviceSession = "a000000000000000000000000000000b"
)

// moves turns the wheel in each frame and returns the frame times, which include script, layout, paint and raster.
const moves = `(async () => {
	const canvas = document.querySelector("canvas.plane");
	const box = canvas.getBoundingClientRect();
	const wheel = (more) => canvas.dispatchEvent(new WheelEvent("wheel", {bubbles: true, cancelable: true, clientX: box.x + box.width * 0.4, clientY: box.y + 200, ...more}));
	const frame = () => new Promise((done) => requestAnimationFrame(done));
	const times = [];
	const run = async (n, step) => {
		let last = await frame();
		for (let i = 0; i < n; i++) {
			step(i);
			const now = await frame();
			times.push(now - last);
			last = now;
		}
	};
	const sorted = (list) => [...list].sort((a, b) => a - b);
	const at = (list, q) => sorted(list)[Math.floor(list.length * q)];
	await run(60, () => {});
	const floor = at(times.splice(0), 0.5);
	weftPlane.frames.length = 0;
	await run(120, () => wheel({deltaY: -30, ctrlKey: true}));
	await run(120, (i) => wheel({deltaX: i < 60 ? 12 : -12}));
	await run(120, () => wheel({deltaY: 30, ctrlKey: true}));
	await run(120, (i) => wheel({deltaY: i < 60 ? 22 : -22}));
	return {floor, frames: times.length, median: at(times, 0.5), p99: at(times, 0.99), p10: at(times, 0.1), paint: at(weftPlane.frames, 0.5), paint99: at(weftPlane.frames, 0.99)};
})()`

// shape is a session of a size that the page must cope with.
type shape struct {
	name, session string
	options       []string
	intervals     int // at least
}

// BenchmarkPage measures the page over large sessions in a real browser that draws in software, as fast as it can: of many intervals, of 5,000
// threads, and of 100,000 virtual threads.
//
//	make bench-page
func BenchmarkPage(b *testing.B) {
	intervals := 1_000_000
	if text := os.Getenv("BENCH_INTERVALS"); text != "" {
		var err error
		intervals, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	for _, one := range []shape{
		{"500-threads", big, []string{"-intervals", strconv.Itoa(intervals)}, intervals * 9 / 10},
		{"5000-threads", serviceSession, []string{"-threads", "5000", "-rounds", "84"}, 900_000},
		{"100000-virtual", shortVirtual, []string{"-virtual", "100000"}, 300_000},
	} {
		b.Run(one.name, func(b *testing.B) {
			s := serve(b, append(one.options, "-live=false", "-max-bytes", "2000000000")...)
			session := one.loaded(b, s)
			for b.Loop() {
				measure(b, s, session, one)
			}
		})
	}
}

// loaded waits until the session is complete.
func (one *shape) loaded(b *testing.B, s *server) (session viewapi.Session) {
	b.Helper()
	waiting := time.Now()
	for session.Intervals < one.intervals || session.Live {
		sessions := get[viewapi.Sessions](b, s, "sessions").Sessions
		if i := slices.IndexFunc(sessions, func(other viewapi.Session) bool { return other.ID == one.session }); i >= 0 {
			session = sessions[i]
		}
		require.Less(b, time.Since(waiting), 10*time.Minute, "the session is incomplete: %d intervals", session.Intervals)
		time.Sleep(100 * time.Millisecond)
	}
	return session
}

// request is an answer of the API.
type request struct {
	Name string
	Size int
}

const largestAnswer = `performance.getEntriesByType("resource").filter((e) => e.name.includes("/api/"))
	.map((e) => ({name: e.name.replace(/.*\//, "").slice(0, 60), size: e.decodedBodySize})).sort((a, b) => b.size - a.size)[0]`

// frames are times in milliseconds.
type frames struct {
	Frames                                  int
	Median, P99, P10, Paint, Paint99, Floor float64
}

func measure(b *testing.B, s *server, session viewapi.Session, one shape) {
	b.Helper()
	chromium := browser.Start(b, "disable-frame-rate-limit", "disable-gpu-vsync")
	var firsts, incidents []float64
	var moved frames
	var perFrame float64
	var largest request
	window := browser.Window{Width: 1920, Height: 1080}
	larger := func(p *browser.Page) {
		if answer := browser.Eval[request](p, largestAnswer); answer.Size > largest.Size {
			largest = answer
		}
	}
	for range 3 {
		p := chromium.Open(b, s.address+"#tab=incidents&s="+one.session, window)
		p.Expect("422")
		p.Until(`(document.querySelector("main")?.innerText ?? "Loading").trim().length > 20 && !document.querySelector("main").innerText.includes("Loading")`)
		incidents = append(incidents, browser.Eval[float64](p, "performance.now()"))
		larger(p)
		p.Close()

		p = chromium.Open(b, s.address+"#tab=threads&arrows=handoff&s="+one.session, window)
		p.Expect("422") // a critical path through ten million intervals is refused
		p.Until(`performance.getEntriesByName("weft.first").length > 0`)
		firsts = append(firsts, browser.Eval[float64](p, `performance.getEntriesByName("weft.first")[0].startTime`))
		browser.Eval[any](p, `void performance.setResourceTimingBufferSize(10000)`)
		before := chromium.CPU(b)
		moved = browser.Eval[frames](p, moves)
		perFrame = (chromium.CPU(b) - before).Seconds() * 1000 / float64(moved.Frames+60)
		larger(p)
		p.Close()
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	row := func(what, value, limit string) { fmt.Fprintf(out, "%s\t%s\t%s\n", what, value, limit) }
	three := func(list []float64) string { return fmt.Sprintf("%.0f, %.0f, %.0f ms", list[0], list[1], list[2]) }
	row("PAGE "+one.name, "measured", "target")
	row("intervals, threads", fmt.Sprintf("%d, %d", session.Intervals, session.Threads), "")
	row("first list of incidents", three(incidents), "≤ 1000 ms")
	row("first paint with all lanes visible", three(firsts), "≤ 1000 ms")
	row("frame while zooming, panning, scrolling", fmt.Sprintf("median %.1f ms, 99 %% %.1f ms", moved.Median, moved.P99), "median ≤ 16 ms, 99 % ≤ 33 ms")
	row("  fastest tenth", fmt.Sprintf("%.1f ms", moved.P10), "")
	row("  frame without movement", fmt.Sprintf("median %.1f ms", moved.Floor), "")
	row("  of which painting", fmt.Sprintf("median %.1f ms, 99 %% %.1f ms", moved.Paint, moved.Paint99), "")
	row("  CPU time of all Chromium processes", fmt.Sprintf("%.1f ms per frame", perFrame), "")
	row("largest response", fmt.Sprintf("%d bytes (%s)", largest.Size, largest.Name), "≤ 200 KB")
	row("store, bytes per interval", fmt.Sprintf("%.1f bytes", float64(session.Bytes)/float64(session.Intervals)), "≤ 60 bytes")
	require.NoError(b, out.Flush())
	b.ReportMetric(firsts[len(firsts)-1], "first-ms")
	b.ReportMetric(moved.Median, "frame-ms")
	b.ReportMetric(moved.P99, "frame-p99-ms")
	b.ReportMetric(float64(largest.Size), "answer-bytes")
}
