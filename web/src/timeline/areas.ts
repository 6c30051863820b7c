// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Paints groups of virtual threads as stacked areas: how many threads were in which state.
import {type Area, countsAt, stackNumbers} from "../lib/areas";
import {count} from "../lib/format";
import {states} from "../lib/words";
import type {Brush} from "./draw";
import type {Raster} from "./raster";

const inset = 3;
const counts = new Float64Array(states.length);

export interface AreaOnScreen {
  area: Area;
  y: number;
  height: number;
}

/** Paints areas into a raster of device pixels; the highest count of an area fills its height. */
export function paintAreas(
  brush: Brush,
  raster: Raster,
  areas: readonly AreaOnScreen[],
  hidden: ReadonlySet<number>,
): void {
  const {view, width, ratio} = brush;
  const right = Math.round(width * ratio);
  const pixel = (view.to - view.from) / right;
  for (const {area, y, height} of areas) {
    const full = Math.round((height - 2 * inset) * ratio);
    const bottom = Math.round((y + height - inset) * ratio);
    const scale = full / Math.max(1, area.peak);
    let x = Math.max(0, Math.floor((area.from - view.from) / pixel));
    const end = Math.min(right, Math.ceil((area.to - view.from) / pixel));
    while (x < end) {
      const from = view.from + x * pixel;
      // Pixels within one step have the same counts.
      const step = area.from + (Math.floor((from + pixel / 2 - area.from) / area.step) + 1) * area.step;
      const next = Math.max(x + 1, Math.min(end, Math.round((step - view.from) / pixel)));
      if (
        next > x + 1
          ? countsAt(area, from + pixel / 2, from + pixel, counts)
          : countsAt(area, from, from + pixel, counts)
      )
        paintColumn(raster, hidden, x, next - x, bottom, scale);
      x = next;
    }
  }
}

function paintColumn(
  raster: Raster,
  hidden: ReadonlySet<number>,
  x: number,
  w: number,
  bottom: number,
  scale: number,
): void {
  let sum = 0;
  let below = 0;
  for (const state of stackNumbers) {
    const threads = counts[state]!;
    if (threads <= 0 || hidden.has(state)) continue;
    sum += threads;
    const top = Math.round(sum * scale);
    if (top > below) raster.column(state, x, bottom - top, w, top - below);
    below = top;
  }
  if (sum > 0 && below === 0) raster.column(lastState(hidden), x, bottom - 1, w, 1);
}

/** The state with the most threads of the current column: so few threads that they would not be seen are a line. */
function lastState(hidden: ReadonlySet<number>): number {
  let best = stackNumbers[0]!;
  for (const state of stackNumbers) if (!hidden.has(state) && counts[state]! > counts[best]!) best = state;
  return best;
}

/** Says how many threads the top of each area is. */
export function paintPeaks({ctx, colors, width}: Brush, areas: readonly AreaOnScreen[]): void {
  ctx.font = "10px system-ui, sans-serif";
  ctx.textBaseline = "middle";
  for (const {area, y} of areas) {
    const text = peakText(area.peak);
    const length = ctx.measureText(text).width;
    ctx.fillStyle = colors.get("surface");
    ctx.fillRect(width - length - 10, y + inset, length + 8, 13);
    ctx.fillStyle = colors.get("text-2");
    ctx.fillText(text, width - length - 6, y + inset + 7);
  }
}

export function peakText(peak: number): string {
  return `at most ${threadsText(peak)}`;
}

/** An average number of threads: 1,240, 3.4, 0.02. */
export function threadsText(threads: number): string {
  if (threads >= 10 || Number.isInteger(threads)) return count(Math.round(threads));
  return String(Number(threads.toPrecision(2)));
}
