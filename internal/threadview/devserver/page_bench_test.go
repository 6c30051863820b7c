// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

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

const big = "a0000000000000000000000000000003"

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
	return {floor, frames: times.length, median: at(times, 0.5), p95: at(times, 0.95), p10: at(times, 0.1), paint: at(weftPlane.frames, 0.5), paint95: at(weftPlane.frames, 0.95)};
})()`

// BenchmarkPage measures the page over a session of many intervals in a real browser that draws in software, as fast as it can.
//
//	make bench-page
func BenchmarkPage(b *testing.B) {
	intervals := 1_000_000
	if text := os.Getenv("BENCH_INTERVALS"); text != "" {
		var err error
		intervals, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	s := serve(b, "-intervals", strconv.Itoa(intervals), "-max-bytes", "2000000000")
	var session viewapi.Session
	waiting := time.Now()
	for session.Intervals < intervals*9/10 || session.Live {
		sessions := get[viewapi.Sessions](b, s, "sessions").Sessions
		if i := slices.IndexFunc(sessions, func(one viewapi.Session) bool { return one.ID == big }); i >= 0 {
			session = sessions[i]
		}
		require.Less(b, time.Since(waiting), 10*time.Minute, "the session is incomplete")
		time.Sleep(100 * time.Millisecond)
	}
	for b.Loop() {
		measure(b, s, session)
	}
}

func measure(b *testing.B, s *server, session viewapi.Session) {
	b.Helper()
	type frames struct {
		Frames                                  int
		Median, P95, P10, Paint, Paint95, Floor float64
	}
	type request struct {
		Name string
		Size int
	}
	chromium := browser.Start(b, "disable-frame-rate-limit", "disable-gpu-vsync")
	var firsts []float64
	var moved frames
	var perFrame float64
	var largest request
	for range 3 {
		p := chromium.Open(b, s.address+"#s="+big+"&arrows=handoff", browser.Window{Width: 1920, Height: 1080})
		p.Expect("422") // a critical path through ten million intervals is refused
		p.Until(`performance.getEntriesByName("weft.first").length > 0`)
		firsts = append(firsts, browser.Eval[float64](p, `performance.getEntriesByName("weft.first")[0].startTime`))
		browser.Eval[any](p, `void performance.setResourceTimingBufferSize(10000)`)
		before := chromium.CPU(b)
		moved = browser.Eval[frames](p, moves)
		perFrame = (chromium.CPU(b) - before).Seconds() * 1000 / float64(moved.Frames+60)
		one := browser.Eval[request](p, `performance.getEntriesByType("resource").filter((e) => e.name.includes("/api/"))
			.map((e) => ({name: e.name.replace(/.*\//, "").slice(0, 60), size: e.decodedBodySize})).sort((a, b) => b.size - a.size)[0]`)
		if one.Size > largest.Size {
			largest = one
		}
		p.Close()
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	row := func(what, value, limit string) { fmt.Fprintf(out, "%s\t%s\t%s\n", what, value, limit) }
	row("PAGE", "measured", "target")
	row("intervals, threads", fmt.Sprintf("%d, %d", session.Intervals, session.Threads), "1 000 000, 500")
	row("first paint with all lanes visible", fmt.Sprintf("%.0f, %.0f, %.0f ms", firsts[0], firsts[1], firsts[2]), "≤ 1000 ms")
	row("frame while zooming, panning, scrolling", fmt.Sprintf("median %.1f ms, 95 %% %.1f ms", moved.Median, moved.P95), "median ≤ 16 ms")
	row("  fastest tenth", fmt.Sprintf("%.1f ms", moved.P10), "")
	row("  frame without movement", fmt.Sprintf("median %.1f ms", moved.Floor), "")
	row("  of which painting", fmt.Sprintf("median %.1f ms, 95 %% %.1f ms", moved.Paint, moved.Paint95), "")
	row("  CPU time of all Chromium processes", fmt.Sprintf("%.1f ms per frame", perFrame), "")
	row("largest response", fmt.Sprintf("%d bytes (%s)", largest.Size, largest.Name), "≤ 200 KB")
	row("store, bytes per interval", fmt.Sprintf("%.1f bytes", float64(session.Bytes)/float64(session.Intervals)), "≤ 60 bytes")
	require.NoError(b, out.Flush())
	b.ReportMetric(firsts[len(firsts)-1], "first-ms")
	b.ReportMetric(moved.Median, "frame-ms")
	b.ReportMetric(float64(largest.Size), "answer-bytes")
}
