// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
)

const manyStacks = "a0000000000000000000000000000008"

// firstFlame shows the tab and returns how long it takes until the graph is on the screen.
const firstFlame = `(async () => {
	const frame = () => new Promise((done) => requestAnimationFrame(done));
	performance.clearMarks("weft.flame");
	const began = performance.now();
	document.querySelector("#tab-flame").click();
	while (performance.getEntriesByName("weft.flame").length === 0) await frame();
	return performance.getEntriesByName("weft.flame")[0].startTime - began;
})()`

// flameMoves points at frames, zooms into them and back, scrolls and searches, and returns the frame times, which include script, layout, paint
// and raster.
const flameMoves = `(async () => {
	const canvas = document.querySelector(".flame .plane");
	const box = canvas.getBoundingClientRect();
	const mouse = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, {bubbles: true, clientX: box.x + x, clientY: box.y + y}));
	const frame = () => new Promise((done) => requestAnimationFrame(done));
	const times = [];
	const run = async (n, step) => {
		let last = await frame();
		for (let i = 0; i < n; i++) {
			step(i);
			weftFlame.changed(); // a frame in which nothing changes waits for the screen
			const now = await frame();
			times.push(now - last);
			last = now;
		}
	};
	const at = (list, q) => [...list].sort((a, b) => a - b)[Math.floor(list.length * q)];
	const parts = {};
	const note = (name) => { parts[name] = at(times.slice(parts.length ?? 0), 0.5); parts.length = times.length; };
	weftFlame.frames.length = 0;
	await run(200, (i) => mouse("pointermove", (i * 13) % box.width, box.height / 2 + (i % 15) * 20 - 150));
	note("hover");
	await run(120, (i) => {
		if (i % 3 < 2) mouse("click", (i * 37) % box.width, box.height / 2 - 30 - (i % 5) * 20);
		else document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true, cancelable: true}));
	});
	note("zoom");
	await run(120, (i) => canvas.dispatchEvent(new WheelEvent("wheel", {bubbles: true, cancelable: true, deltaY: i % 20 < 10 ? 25 : -25})));
	note("scroll");
	return {frames: times.length, median: at(times, 0.5), p95: at(times, 0.95), hover: parts.hover, zoom: parts.zoom, scroll: parts.scroll,
		paint: at(weftFlame.frames, 0.5), paint95: at(weftFlame.frames, 0.95), shown: weftFlame.graph.frames};
})()`

// BenchmarkFlameGraph measures the flame graph of a session that waits at 10,000 stacks, in a real browser that draws in software, as fast as it
// can.
//
//	make bench-page
func BenchmarkFlameGraph(b *testing.B) {
	s := serve(b, "-stacks", "10000")
	chromium := browser.Start(b, "disable-frame-rate-limit", "disable-gpu-vsync")
	type frames struct {
		Frames, Shown                                    int
		Median, P95, Hover, Zoom, Scroll, Paint, Paint95 float64
	}
	var moved frames
	var firsts []float64
	for b.Loop() {
		for range 3 {
			p := chromium.Open(b, s.address+"#s="+manyStacks, browser.Window{Width: 1920, Height: 1080})
			p.Until(`document.querySelector(".answer:not([aria-busy=true])") && window.weftPlane?.cache.complete()`)
			firsts = append(firsts, browser.Eval[float64](p, firstFlame))
			moved = browser.Eval[frames](p, flameMoves)
			p.Close()
		}
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	row := func(what, value, limit string) { fmt.Fprintf(out, "%s\t%s\t%s\n", what, value, limit) }
	row("FLAME GRAPH OF 10,000 STACKS", "measured", "target")
	row("first picture after the click on the tab", fmt.Sprintf("%.0f, %.0f, %.0f ms", firsts[0], firsts[1], firsts[2]), "≤ 200 ms")
	row("frame while pointing, zooming, scrolling", fmt.Sprintf("median %.1f ms, 95 %% %.1f ms", moved.Median, moved.P95), "median ≤ 16 ms")
	row("  of each", fmt.Sprintf("median %.1f, %.1f, %.1f ms", moved.Hover, moved.Zoom, moved.Scroll), "")
	row("  of which painting", fmt.Sprintf("median %.1f ms, 95 %% %.1f ms", moved.Paint, moved.Paint95), "")
	row("frames of the graph", strconv.Itoa(moved.Shown), "")
	require.NoError(b, out.Flush())
	b.ReportMetric(firsts[len(firsts)-1], "first-ms")
	b.ReportMetric(moved.Median, "frame-ms")
}
