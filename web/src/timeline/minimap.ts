// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Paints the minimap.
import {stackOrder as order} from "../lib/areas";
import {type Span, toPixel} from "../lib/scale";
import type {Minimap} from "../lib/types";
import {type State, stateNumber} from "../lib/words";
import {palette} from "./palette";

/** Paints the session: how many threads were in which state. */
export function paintGround(
  canvas: HTMLCanvasElement,
  data: Minimap | null,
  hidden: readonly State[],
  gaps: readonly Span[],
): HTMLCanvasElement {
  const ratio = Math.min(3, devicePixelRatio || 1);
  const {clientWidth: width, clientHeight: height} = canvas;
  const ground = document.createElement("canvas");
  ground.width = Math.round(width * ratio);
  ground.height = Math.round(height * ratio);
  const ctx = ground.getContext("2d", {alpha: false})!;
  const colors = palette(ratio);
  ctx.scale(ratio, ratio);
  ctx.fillStyle = colors.get("surface-2");
  ctx.fillRect(0, 0, width, height);
  if (!data || data.steps === 0) return ground;
  const whole: Span = {from: data.from, to: data.to};
  let most = 1;
  for (let i = 0; i < data.steps; i++) {
    most = Math.max(
      most,
      order.reduce((sum, state) => sum + (data.time[stateNumber(state)]?.[i] ?? 0), 0),
    );
  }
  const scale = (height - 4) / most;
  const step = (width * data.step) / (data.to - data.from);
  const base = new Float64Array(data.steps);
  for (const state of order) {
    const times = data.time[stateNumber(state)];
    if (!times || times.length === 0 || hidden.includes(state)) continue;
    ctx.fillStyle = colors.color[stateNumber(state)]!;
    for (let i = 0; i < data.steps; i++) {
      const h = times[i]! * scale;
      if (h <= 0) continue;
      ctx.fillRect(i * step, height - base[i]! - h, step + 0.5, h);
      base[i]! += h;
    }
  }
  ctx.fillStyle = colors.get("gap");
  for (const gap of gaps) {
    const x = toPixel(whole, width, gap.from);
    ctx.fillRect(x, 0, Math.max(2, toPixel(whole, width, gap.to) - x), 4);
  }
  return ground;
}

/** Paints the window and the range over the session. */
export function paintWindow(
  canvas: HTMLCanvasElement,
  ground: HTMLCanvasElement,
  data: Minimap | null,
  view: Span,
  range: Span | null,
): void {
  const ratio = Math.min(3, devicePixelRatio || 1);
  const {clientWidth: width, clientHeight: height} = canvas;
  if (ground.width === 0 || ground.height === 0) return; // no longer on the page
  if (canvas.width !== ground.width) canvas.width = ground.width;
  if (canvas.height !== ground.height) canvas.height = ground.height;
  const ctx = canvas.getContext("2d", {alpha: false})!;
  const colors = palette(ratio);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.drawImage(ground, 0, 0, width, height);
  if (!data) return;
  const whole: Span = {from: data.from, to: data.to};
  const window = (span: Span, edge: string, dims: boolean) => {
    const x0 = toPixel(whole, width, span.from);
    const x1 = Math.max(x0 + 2, toPixel(whole, width, span.to));
    ctx.fillStyle = colors.get("dim");
    if (dims) {
      ctx.fillRect(0, 0, x0, height);
      ctx.fillRect(x1, 0, width - x1, height);
    }
    ctx.fillStyle = edge;
    ctx.fillRect(x0 - 1, 0, 2, height);
    ctx.fillRect(x1 - 1, 0, 2, height);
  };
  window(view, colors.get("text-2"), true);
  if (range) window(range, colors.get("accent"), false);
}
