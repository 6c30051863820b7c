// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Paints the ruler, arrows, the path and whatever else lies over the lanes: functions of plain data.
import {instant} from "../lib/format";
import {type Span, ticks, toPixel} from "../lib/scale";
import type {Arrow, Gap, Segment} from "../lib/types";
import {type Kind, states, stateTitle} from "../lib/words";
import {dashOf, type Palette} from "./palette";

export const rulerHeight = 26;
const dead = states.indexOf("dead");

/** A canvas, the part of time and the size it shows, and the colors of the theme. */
export interface Brush {
  readonly ctx: CanvasRenderingContext2D;
  view: Span;
  width: number;
  height: number;
  ratio: number;
  colors: Palette;
}

/** Fills a rectangle with a color of the theme. */
export function fill({ctx, colors}: Brush, color: string, x: number, y: number, width: number, height: number): void {
  ctx.fillStyle = colors.get(color);
  ctx.fillRect(x, y, width, height);
}

function xOf({view, width}: Brush, time: number): number {
  return toPixel(view, width, time);
}

export function paintRuler(brush: Brush): void {
  const {ctx, view, width, height, colors} = brush;
  const {step, times} = ticks(view, width);
  fill(brush, "surface-2", 0, 0, width, rulerHeight);
  ctx.font = "11px system-ui, sans-serif";
  ctx.textBaseline = "middle";
  for (const time of times) {
    const x = Math.round(xOf(brush, time));
    fill(brush, "grid", x, rulerHeight, 1, height - rulerHeight);
    fill(brush, "line-strong", x, rulerHeight - 6, 1, 6);
    ctx.fillStyle = colors.get("text-2");
    ctx.fillText(instant(time, step), x + 4.5, rulerHeight / 2);
  }
  fill(brush, "line", 0, rulerHeight - 1, width, 1);
}

const widths = new Map<string, number>();

/** Returns as much of a text as fits, with an ellipsis, or nothing if fewer than three letters fit. */
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

/** Paints the end of a thread: a cross, and a faint line after it (T38, T45). */
export function paintEnd(brush: Brush, end: number, y: number, height: number): void {
  const {ctx, width, colors} = brush;
  const x = xOf(brush, end);
  if (x > width) return;
  const middle = Math.round(y + height / 2) + 0.5;
  ctx.strokeStyle = colors.color[dead]!;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.moveTo(Math.max(0, x + 8), middle);
  ctx.lineTo(width, middle);
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

export interface ArrowInRows {
  arrow: Arrow;
  kind: Kind;
  y0: number;
  y1: number;
}

/** Marks a notify that woke no thread: a stub of an arrow that leads nowhere. */
export function paintCall(brush: Brush, kind: Kind, time: number, y: number): void {
  const {ctx, colors, width} = brush;
  const x = xOf(brush, time);
  if (x < -4 || x > width + 4) return;
  ctx.strokeStyle = colors.kind(kind);
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x, y - 8);
  ctx.moveTo(x - 3, y - 8);
  ctx.lineTo(x + 3, y - 8);
  ctx.stroke();
}

interface ArrowOnScreen extends ArrowInRows {
  x0: number;
  x1: number;
}

export function paintArrows(brush: Brush, arrows: readonly ArrowInRows[], isChosen: (arrow: Arrow) => boolean): void {
  const {ctx, width} = brush;
  const weak = new Map<Kind, ArrowOnScreen[]>();
  const strong: ArrowOnScreen[] = [];
  const taken = new Set<string>();
  for (const one of arrows) {
    const x0 = xOf(brush, one.arrow.from_time);
    const x1 = xOf(brush, one.arrow.to_time);
    if (Math.max(x0, x1) < -20 || Math.min(x0, x1) > width + 20) continue;
    const chosen = isChosen(one.arrow);
    // Arrows that would cover each other are drawn once.
    const key = `${one.kind} ${one.y0} ${one.y1} ${Math.round(x1 / 4)} ${Math.round(x0 / 4)}`;
    if (!chosen && taken.has(key)) continue;
    taken.add(key);
    if (chosen) strong.push({...one, x0, x1});
    else if (!weak.get(one.kind)?.push({...one, x0, x1})) weak.set(one.kind, [{...one, x0, x1}]);
  }
  const all = [...weak.values()].reduce((sum, some) => sum + some.length, strong.length);
  // The more arrows, the fainter each is, so that the lanes stay readable.
  ctx.globalAlpha = Math.max(0.28, Math.min(0.9, 40 / Math.max(1, all)));
  // All of a kind form one path, which a canvas strokes many times faster than each alone.
  for (const [kind, some] of weak) {
    if (all > 150) strokeArrows(brush, some, kind, 3, 1, []);
    else strokeArrows(brush, some, kind, 3.5, 1.2, dashOf[kind]);
  }
  ctx.globalAlpha = 1;
  for (const one of strong) strokeArrows(brush, [one], one.kind, 5, 2.5, dashOf[one.kind]);
  ctx.setLineDash([]);
}

function strokeArrows(
  {ctx, colors}: Brush,
  arrows: ArrowOnScreen[],
  kind: Kind,
  size: number,
  lineWidth: number,
  dash: number[],
): void {
  const lines = new Path2D();
  const heads = new Path2D();
  for (const {x0, y0, x1, y1} of arrows) trace(lines, heads, x0, y0, x1, y1, size);
  ctx.strokeStyle = ctx.fillStyle = colors.kind(kind);
  ctx.lineWidth = lineWidth;
  ctx.setLineDash(dash);
  ctx.stroke(lines);
  ctx.fill(heads);
}

function trace(lines: Path2D, heads: Path2D, x0: number, y0: number, x1: number, y1: number, size: number): void {
  const down = y1 >= y0 ? 1 : -1;
  y0 += 5 * down;
  y1 -= 6 * down;
  lines.moveTo(x0, y0);
  if (Math.abs(x1 - x0) < 2) lines.lineTo(x1, y1 - 4 * down);
  else {
    // Starts and ends upright, so that arrows at about the same time stay apart from the bars of the lanes.
    const bend = Math.min(24, Math.abs(y1 - y0) / 2) * down;
    lines.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1 - 4 * down);
  }
  heads.moveTo(x1, y1);
  heads.lineTo(x1 - size, y1 - 2 * size * down);
  heads.lineTo(x1 + size, y1 - 2 * size * down);
  heads.closePath();
  heads.rect(x0 - size / 2, y0 - size / 2, size, size);
}

/** Paints the critical path: a thick line along its lanes, and a thin one wherever it changes from one to another. */
export function paintPath(brush: Brush, segments: readonly Segment[], y: (thread: number) => number | null): void {
  const {ctx, view, width, colors} = brush;
  const along = new Path2D();
  const across = new Path2D();
  let hops = 0;
  let last: number | null = null;
  let drawn = -1;
  for (const segment of segments) {
    if (segment.to < view.from || segment.from > view.to) continue;
    const at = y(segment.thread);
    const x0 = Math.max(-5, xOf(brush, segment.from));
    const x1 = Math.min(width + 5, xOf(brush, segment.to));
    // Of the hops within a pixel only one is drawn.
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

export function paintGaps(brush: Brush, gaps: readonly Gap[]): void {
  const {ctx, width, height} = brush;
  for (const gap of gaps) {
    const x0 = xOf(brush, gap.from);
    const x1 = xOf(brush, gap.to);
    if (x1 < 0 || x0 > width) continue;
    fill(brush, "gap", x0, rulerHeight, Math.max(2, x1 - x0), 3);
    ctx.globalAlpha = 0.12;
    fill(brush, "gap", x0, rulerHeight, Math.max(2, x1 - x0), height - rulerHeight);
    ctx.globalAlpha = 1;
  }
}

/** Dims what is outside the selected range. */
export function paintRange(brush: Brush, range: Span): void {
  const {width, height} = brush;
  const x0 = Math.max(0, Math.min(width, xOf(brush, range.from)));
  const x1 = Math.max(0, Math.min(width, xOf(brush, range.to)));
  fill(brush, "dim", 0, rulerHeight, x0, height - rulerHeight);
  fill(brush, "dim", x1, rulerHeight, width - x1, height - rulerHeight);
  fill(brush, "accent", x0 - 1, 0, 2, height);
  fill(brush, "accent", x1 - 1, 0, 2, height);
  fill(brush, "accent", x0, rulerHeight - 4, x1 - x0, 3);
}

export function label(state: number): string {
  const name = states[state];
  return name ? stateTitle(name) : "";
}
