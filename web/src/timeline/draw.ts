// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import {instant, shortClass} from "../lib/format";
// Paints lanes, arrows and the path: functions of plain data.
import {decode, mark, noState, runAt, type Strip} from "../lib/lanes";
import {type Span, ticks} from "../lib/scale";
import type {Arrow, Gap, Segment} from "../lib/types";
import {type Kind, states} from "../lib/words";
import {dashOf, heightOf, type Palette} from "./palette";

export const rulerHeight = 26;
const laneInset = 3;

const heights = states.map((state) => heightOf[state]);
const dead = states.indexOf("dead");

export interface Scale {
  view: Span;
  width: number;
}

export function paintRuler(ctx: CanvasRenderingContext2D, {view, width}: Scale, colors: Palette, height: number): void {
  const {step, times} = ticks(view, width);
  ctx.fillStyle = colors.get("surface-2");
  ctx.fillRect(0, 0, width, rulerHeight);
  ctx.font = "11px system-ui, sans-serif";
  ctx.textBaseline = "middle";
  const scale = width / (view.to - view.from);
  for (const time of times) {
    const x = Math.round((time - view.from) * scale) + 0.5;
    ctx.fillStyle = colors.get("grid");
    ctx.fillRect(x - 0.5, rulerHeight, 1, height - rulerHeight);
    ctx.fillStyle = colors.get("line-strong");
    ctx.fillRect(x - 0.5, rulerHeight - 6, 1, 6);
    ctx.fillStyle = colors.get("text-2");
    ctx.fillText(instant(time, step), x + 4, rulerHeight / 2);
  }
  ctx.fillStyle = colors.get("line");
  ctx.fillRect(0, rulerHeight - 1, width, 1);
}

/** Rectangles by state, so that a canvas changes its colour a few times in a frame and not thousands of times. */
class Batches {
  private readonly narrow: number[][] = states.map(() => []);
  private readonly wide: number[][] = states.map(() => []);

  add(state: number, x: number, y: number, w: number, h: number): void {
    (w >= 5 ? this.wide : this.narrow)[state]!.push(x, y, w, h);
  }

  paint(ctx: CanvasRenderingContext2D, colors: Palette): void {
    for (const [lists, fills] of [
      [this.narrow, colors.color],
      [this.wide, colors.fill],
    ] as const) {
      lists.forEach((list, state) => {
        if (list.length === 0) return;
        ctx.fillStyle = fills[state]!;
        for (let i = 0; i < list.length; i += 4) ctx.fillRect(list[i]!, list[i + 1]!, list[i + 2]!, list[i + 3]!);
      });
    }
  }
}

export interface LaneOnScreen {
  strip: Strip;
  y: number;
  height: number;
}

export interface Label {
  text: string;
  x: number;
  y: number;
  width: number;
  height: number;
  state: number;
}

export function paintLanes(
  ctx: CanvasRenderingContext2D,
  {view, width}: Scale,
  lanes: readonly LaneOnScreen[],
  hidden: ReadonlySet<number>,
  colors: Palette,
  name: (lane: number, state: number, from: number, to: number) => string,
): void {
  const batches = new Batches();
  const labels: Label[] = [];
  const marks: {x: number; y: number; h: number; marks: number}[] = [];
  const scale = width / (view.to - view.from);
  lanes.forEach(({strip, y, height}, laneIndex) => {
    const {from, step, ends, codes} = strip;
    const top = y + laneInset;
    const full = height - 2 * laneInset;
    let i = Math.max(0, runAt(strip, Math.max(view.from, from)));
    let start = from + (i === 0 ? 0 : ends[i - 1]!) * step;
    for (; i < ends.length && start < view.to; i++) {
      const end = from + ends[i]! * step;
      const code = codes[i]!;
      const state = code & 15;
      const x0 = Math.max(-10, Math.round((start - view.from) * scale));
      const x1 = Math.min(width + 10, Math.round((end - view.from) * scale));
      const begin = start;
      start = end;
      if (x1 <= 0 || state === noState) continue;
      const w = Math.max(1, x1 - x0);
      const rest = (code >> 4) & 15;
      if (rest !== noState) paintMix(batches, code, x0, w, top, full, hidden);
      else if (!hidden.has(state)) {
        const h = Math.max(2, Math.round(full * heights[state]!));
        // A pixel of the lane's ground tells neighbours apart.
        batches.add(state, x0, top + full - h, w > 4 ? w - 1 : w, h);
        if (w > 54 && h > 9)
          labels.push({
            text: name(laneIndex, state, begin, end),
            x: Math.max(2, x0) + 5,
            y: top + full - h / 2,
            width: x1 - Math.max(2, x0) - 10,
            state,
            height: h,
          });
      }
      const flags = code >> 12;
      if (flags & (mark.timedOut | mark.interrupted) && w > 5) marks.push({x: x1, y: top, h: full, marks: flags});
    }
  });
  batches.paint(ctx, colors);
  paintMarks(ctx, marks, colors);
  paintLabels(ctx, labels, colors);
}

/** Several intervals in one step: both states that take most of it, by their shares. */
function paintMix(
  batches: Batches,
  code: number,
  x: number,
  w: number,
  top: number,
  full: number,
  hidden: ReadonlySet<number>,
): void {
  const {state, rest, share} = decode(code);
  const [low, high] = heights[state]! <= heights[rest]! ? [state, rest] : [rest, state];
  const tall = Math.round(full * heights[high]!);
  const part = Math.max(1, Math.round(tall * (low === state ? share : 1 - share)));
  if (!hidden.has(high) && tall > part) batches.add(high, x, top + full - tall, w, tall - part);
  if (!hidden.has(low)) batches.add(low, x, top + full - part, w, part);
}

/** A wait whose time was over ends in a short box (T40), an interrupted one in a wedge. */
function paintMarks(
  ctx: CanvasRenderingContext2D,
  marks: {x: number; y: number; h: number; marks: number}[],
  colors: Palette,
): void {
  for (const {x, y, h, marks: flags} of marks) {
    if (flags & mark.timedOut) {
      ctx.fillStyle = colors.get("mark-timeout");
      ctx.fillRect(x - 4, y + h - 9, 4, 9);
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

function paintLabels(ctx: CanvasRenderingContext2D, labels: Label[], colors: Palette): void {
  ctx.textBaseline = "middle";
  for (const {text, x, y, width, height, state} of labels) {
    ctx.font = height > 12 ? "11px system-ui, sans-serif" : "10px system-ui, sans-serif";
    const cut = fit(ctx, text, width);
    if (cut === "") continue;
    if (state !== 1 && state !== dead) {
      // Letters on stripes are hard to read: they get a plain ground.
      ctx.fillStyle = colors.color[state]!;
      ctx.fillRect(x - 3, y - height / 2, ctx.measureText(cut).width + 6, height);
    }
    ctx.fillStyle = colors.text[state]!;
    ctx.fillText(cut, x, y + 0.5);
  }
}

const widths = new Map<string, number>();

/** As much of a text as fits, with an ellipsis; nothing if that is hardly anything. */
export function fit(ctx: CanvasRenderingContext2D, text: string, width: number): string {
  const key = ctx.font + text;
  let whole = widths.get(key);
  if (whole === undefined) {
    if (widths.size > 5000) widths.clear();
    whole = ctx.measureText(text).width;
    widths.set(key, whole);
  }
  if (whole <= width) return text;
  const letters = Math.floor((text.length * (width - 8)) / whole);
  return letters < 3 ? "" : `${text.slice(0, letters)}…`;
}

/** A thread that has ended: a cross, and a faint line where it would be (T38, T45). */
export function paintEnd(
  ctx: CanvasRenderingContext2D,
  scale: Scale,
  end: number,
  y: number,
  height: number,
  colors: Palette,
): void {
  const x = ((end - scale.view.from) / (scale.view.to - scale.view.from)) * scale.width;
  if (x > scale.width) return;
  const middle = Math.round(y + height / 2) + 0.5;
  ctx.strokeStyle = colors.color[dead]!;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.moveTo(Math.max(0, x + 8), middle);
  ctx.lineTo(scale.width, middle);
  ctx.stroke();
  if (x < 0) return;
  ctx.strokeStyle = colors.get("text-3");
  ctx.beginPath();
  ctx.moveTo(x + 1, middle - 3);
  ctx.lineTo(x + 7, middle + 3);
  ctx.moveTo(x + 7, middle - 3);
  ctx.lineTo(x + 1, middle + 3);
  ctx.stroke();
}

export interface ArrowOnScreen {
  arrow: Arrow;
  kind: Kind;
  y0: number;
  y1: number;
}

export function paintArrows(
  ctx: CanvasRenderingContext2D,
  {view, width}: Scale,
  arrows: readonly ArrowOnScreen[],
  chosen: (arrow: Arrow) => boolean,
  colors: Palette,
): void {
  const scale = width / (view.to - view.from);
  const onScreen: {x0: number; x1: number; one: ArrowOnScreen; strong: boolean}[] = [];
  const taken = new Set<string>();
  for (const one of arrows) {
    const x0 = (one.arrow.from_time - view.from) * scale;
    const x1 = (one.arrow.to_time - view.from) * scale;
    if (Math.max(x0, x1) < -20 || Math.min(x0, x1) > width + 20) continue;
    const strong = chosen(one.arrow);
    // Arrows that would cover each other are drawn once.
    const key = `${one.kind} ${one.y0} ${one.y1} ${Math.round(x1 / 4)} ${Math.round(x0 / 4)}`;
    if (!strong && taken.has(key)) continue;
    taken.add(key);
    onScreen.push({x0, x1, one, strong});
  }
  // The more there are the fainter each is: lanes stay readable.
  const alpha = Math.max(0.28, Math.min(0.9, 40 / Math.max(1, onScreen.length)));
  ctx.lineCap = "round";
  for (const pass of [false, true]) {
    for (const {x0, x1, one, strong} of onScreen) {
      if (strong !== pass) continue;
      ctx.globalAlpha = strong ? 1 : alpha;
      paintArrow(ctx, x0, one.y0, x1, one.y1, colors.kind(one.kind), dashOf[one.kind], strong);
    }
  }
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

function paintArrow(
  ctx: CanvasRenderingContext2D,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  color: string,
  dash: number[],
  strong: boolean,
): void {
  const down = y1 >= y0 ? 1 : -1;
  y0 += 5 * down;
  y1 -= 6 * down;
  ctx.strokeStyle = ctx.fillStyle = color;
  ctx.lineWidth = strong ? 2.5 : 1.2;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  // Leaves and arrives upright: so arrows of the same moment stay apart from the lanes' bars.
  const bend = Math.min(24, Math.abs(y1 - y0) / 2) * down;
  ctx.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1 - 4 * down);
  ctx.stroke();
  const size = strong ? 5 : 3.5;
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x1 - size, y1 - 2 * size * down);
  ctx.lineTo(x1 + size, y1 - 2 * size * down);
  ctx.fill();
  ctx.beginPath();
  ctx.arc(x0, y0, strong ? 3 : 2, 0, 7);
  ctx.fill();
}

/** The path: a strong line along the lanes that it takes, a thin one across where it goes from one to the other. */
export function paintPath(
  ctx: CanvasRenderingContext2D,
  {view, width}: Scale,
  segments: readonly Segment[],
  y: (thread: number) => number | null,
  colors: Palette,
): void {
  const scale = width / (view.to - view.from);
  const along = new Path2D();
  const across = new Path2D();
  let hops = 0;
  let last: number | null = null;
  let drawn = -1;
  for (const segment of segments) {
    if (segment.to < view.from || segment.from > view.to) continue;
    const at = y(segment.thread);
    const x0 = Math.max(-5, (segment.from - view.from) * scale);
    const x1 = Math.min(width + 5, (segment.to - view.from) * scale);
    // Hops within a pixel lie over each other: they are drawn once.
    if (last !== null && at !== null && at !== last && x0 - drawn >= 1) {
      across.moveTo(x0, last);
      across.lineTo(x0, at);
      drawn = x0;
      hops++;
    }
    if (at !== null) {
      along.moveTo(x0, at);
      along.lineTo(Math.max(x1, x0 + 0.5), at);
    }
    last = at;
  }
  ctx.lineCap = "butt";
  ctx.strokeStyle = colors.get("surface");
  ctx.lineWidth = 6;
  ctx.stroke(along);
  ctx.strokeStyle = colors.get("path");
  ctx.globalAlpha = Math.max(0.35, Math.min(1, 60 / Math.max(1, hops)));
  ctx.lineWidth = 1.5;
  ctx.stroke(across);
  ctx.globalAlpha = 1;
  ctx.lineWidth = 3;
  ctx.stroke(along);
}

export function paintGaps(
  ctx: CanvasRenderingContext2D,
  {view, width}: Scale,
  gaps: readonly Gap[],
  height: number,
  colors: Palette,
): void {
  const scale = width / (view.to - view.from);
  for (const gap of gaps) {
    const x0 = (gap.from - view.from) * scale;
    const x1 = (gap.to - view.from) * scale;
    if (x1 < 0 || x0 > width) continue;
    ctx.fillStyle = colors.get("gap");
    ctx.fillRect(x0, rulerHeight, Math.max(2, x1 - x0), 3);
    ctx.globalAlpha = 0.12;
    ctx.fillRect(x0, rulerHeight, Math.max(2, x1 - x0), height - rulerHeight);
    ctx.globalAlpha = 1;
  }
}

/** What is outside the chosen range is dimmed. */
export function paintRange(
  ctx: CanvasRenderingContext2D,
  {view, width}: Scale,
  range: Span,
  height: number,
  colors: Palette,
): void {
  const scale = width / (view.to - view.from);
  const x0 = Math.max(0, Math.min(width, (range.from - view.from) * scale));
  const x1 = Math.max(0, Math.min(width, (range.to - view.from) * scale));
  ctx.fillStyle = colors.get("dim");
  ctx.fillRect(0, rulerHeight, x0, height - rulerHeight);
  ctx.fillRect(x1, rulerHeight, width - x1, height - rulerHeight);
  ctx.fillStyle = colors.get("accent");
  ctx.fillRect(x0 - 1, 0, 2, height);
  ctx.fillRect(x1 - 1, 0, 2, height);
  ctx.fillRect(x0, rulerHeight - 4, x1 - x0, 3);
}

export function label(state: number, lock: string): string {
  const name = states[state] ?? "";
  return lock === "" ? name : `${name} ${shortClass(lock)}`;
}
