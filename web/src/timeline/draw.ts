// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Paints ruler, arrows, the path and what else is over lanes: functions of plain data.
import {instant, shortClass} from "../lib/format";
import {type Span, ticks} from "../lib/scale";
import type {Arrow, Gap, Segment} from "../lib/types";
import {type Kind, states} from "../lib/words";
import {dashOf, type Palette} from "./palette";

export const rulerHeight = 26;
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
  // All of a kind are one path: a canvas strokes that many times faster than each by itself.
  const crowd = onScreen.length > 150;
  for (const kind of new Set(onScreen.map(({one}) => one.kind))) {
    const lines = new Path2D();
    const heads = new Path2D();
    for (const {x0, x1, one, strong} of onScreen) {
      if (one.kind === kind && !strong) trace(lines, heads, x0, one.y0, x1, one.y1, crowd ? 3 : 3.5);
    }
    ctx.globalAlpha = alpha;
    ctx.strokeStyle = ctx.fillStyle = colors.kind(kind);
    ctx.lineWidth = crowd ? 1 : 1.2;
    ctx.setLineDash(crowd ? [] : dashOf[kind]);
    ctx.stroke(lines);
    ctx.fill(heads);
  }
  ctx.globalAlpha = 1;
  for (const {x0, x1, one, strong} of onScreen) {
    if (!strong) continue;
    const lines = new Path2D();
    const heads = new Path2D();
    trace(lines, heads, x0, one.y0, x1, one.y1, 5);
    ctx.strokeStyle = ctx.fillStyle = colors.kind(one.kind);
    ctx.lineWidth = 2.5;
    ctx.setLineDash(dashOf[one.kind]);
    ctx.stroke(lines);
    ctx.fill(heads);
  }
  ctx.setLineDash([]);
}

function trace(lines: Path2D, heads: Path2D, x0: number, y0: number, x1: number, y1: number, size: number): void {
  const down = y1 >= y0 ? 1 : -1;
  y0 += 5 * down;
  y1 -= 6 * down;
  lines.moveTo(x0, y0);
  if (Math.abs(x1 - x0) < 2) lines.lineTo(x1, y1 - 4 * down);
  else {
    // Leaves and arrives upright: so arrows of the same moment stay apart from the lanes' bars.
    const bend = Math.min(24, Math.abs(y1 - y0) / 2) * down;
    lines.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1 - 4 * down);
  }
  heads.moveTo(x1, y1);
  heads.lineTo(x1 - size, y1 - 2 * size * down);
  heads.lineTo(x1 + size, y1 - 2 * size * down);
  heads.closePath();
  heads.rect(x0 - size / 2, y0 - size / 2, size, size);
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
