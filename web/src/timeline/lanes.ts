// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Paints the runs of lanes as pixels, with labels where there is room for them.
import {mark, noState, runAt, type Strip} from "../lib/lanes";
import {states} from "../lib/words";
import {type Brush, fill, fit, label} from "./draw";
import {heightOf} from "./palette";
import type {Raster} from "./raster";

const inset = 3;
const heights = states.map((state) => heightOf[state]);
const runnable = states.indexOf("runnable");

export interface LaneOnScreen {
  strip: Strip;
  y: number;
  height: number;
}

interface Mark {
  x: number;
  y: number;
  h: number;
  marks: number;
}

interface Label {
  text: string;
  x: number;
  y: number;
  width: number;
  height: number;
  state: number;
}

/** Paints lanes into a raster of device pixels, and the raster onto the canvas; y and height of a lane are in canvas pixels. */
export function paintLanes(
  brush: Brush,
  raster: Raster,
  lanes: readonly LaneOnScreen[],
  hidden: ReadonlySet<number>,
): void {
  const {view, width, ratio} = brush;
  const labels: Label[] = [];
  const marks: Mark[] = [];
  const scale = (width * ratio) / (view.to - view.from);
  const edge = 10 * ratio;
  const right = Math.round(width * ratio) + edge;
  for (const {strip, y, height} of lanes) {
    const {from, step, ends, codes} = strip;
    const full = Math.round((height - 2 * inset) * ratio);
    const bottom = Math.round((y + height - inset) * ratio);
    let i = Math.max(0, runAt(strip, Math.max(view.from, from)));
    let start = from + (i === 0 ? 0 : ends[i - 1]!) * step;
    for (; i < ends.length && start < view.to; i++) {
      const begin = start;
      const end = from + ends[i]! * step;
      start = end;
      const code = codes[i]!;
      const state = code & 15;
      const x0 = Math.max(-edge, Math.round((begin - view.from) * scale));
      const x1 = Math.min(right, Math.round((end - view.from) * scale));
      if (x1 <= 0 || state === noState) continue;
      const w = Math.max(1, x1 - x0);
      const rest = (code >> 4) & 15;
      if (rest !== noState) {
        paintMix(raster, state, rest, ((code >> 8) & 15) / 15, x0, w, bottom, full, hidden);
      } else if (!hidden.has(state)) {
        const h = Math.max(2, Math.round(full * heights[state]!));
        // One pixel of background separates neighbors.
        raster.rect(state, x0, bottom - h, w > 4 * ratio ? w - ratio : w, h);
        if (w > 54 * ratio && h > 7 * ratio) {
          const x = Math.max(2, x0 / ratio) + 5;
          const text = strip.labels.get(i) ?? label(state);
          labels.push({text, x, y: (bottom - h / 2) / ratio, width: x1 / ratio - x - 5, height: h / ratio, state});
        }
      }
      if (w > 5 && (code >> 12) & (mark.timedOut | mark.interrupted)) {
        marks.push({x: x1 / ratio, y: (bottom - full) / ratio, h: full / ratio, marks: code >> 12});
      }
    }
  }
  raster.end(brush.ctx, ratio);
  paintMarks(brush, marks);
  paintLabels(brush, labels);
}

/** Paints a step of several intervals: the two states that take most of it, by their shares. */
function paintMix(
  raster: Raster,
  state: number,
  rest: number,
  share: number,
  x: number,
  w: number,
  bottom: number,
  full: number,
  hidden: ReadonlySet<number>,
): void {
  const first = heights[state]! <= heights[rest]!;
  const low = first ? state : rest;
  const high = first ? rest : state;
  const tall = Math.round(full * heights[high]!);
  const part = Math.max(1, Math.round(tall * (first ? share : 1 - share)));
  if (tall > part && !hidden.has(high)) raster.rect(high, x, bottom - tall, w, tall - part);
  if (!hidden.has(low)) raster.rect(low, x, bottom - part, w, part);
}

/** Marks the end of a wait: a short box if it timed out (T40), a wedge if it was interrupted. */
function paintMarks(brush: Brush, marks: Mark[]): void {
  const {ctx, colors} = brush;
  for (const {x, y, h, marks: flags} of marks) {
    if (flags & mark.timedOut) {
      fill(brush, "mark-timeout", x - 4, y + h - 9, 4, 9);
    } else {
      ctx.fillStyle = colors.get("kind-interrupt");
      ctx.beginPath();
      ctx.moveTo(x - 6, y);
      ctx.lineTo(x, y);
      ctx.lineTo(x, y + 7);
      ctx.fill();
    }
  }
}

function paintLabels({ctx, colors}: Brush, labels: Label[]): void {
  ctx.textBaseline = "middle";
  for (const {text, x, y, width, height, state} of labels) {
    ctx.font = height > 12 ? "11px system-ui, sans-serif" : "10px system-ui, sans-serif";
    const cut = fit(ctx, text, width);
    if (cut === "") continue;
    if (state !== runnable) {
      // Text on stripes is hard to read: it gets a plain background.
      ctx.fillStyle = colors.color[state]!;
      ctx.fillRect(x - 3, y - height / 2, ctx.measureText(cut).width + 6, height);
    }
    ctx.fillStyle = colors.text[state]!;
    ctx.fillText(cut, x, y + 0.5);
  }
}
