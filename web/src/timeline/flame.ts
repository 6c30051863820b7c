// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Paints a flame graph: the locks in a row, the stacks that waited above it, and what the holders did below it.
import {type Frame, frameIn, type Graph, type Side, signed, viewOf} from "../lib/flame";
import type {Span} from "../lib/scale";
import {stateNumber} from "../lib/words";
import {fit} from "./draw";
import {Surface} from "./surface";

export const frameHeight = 20;
const lockHeight = 26;
const margin = 22; // for the titles of both sides

export interface FlameEvents {
  hover(frame: Frame | null, x: number, y: number): void;
  choose(frame: Frame | null): void;
  open(frame: Frame): void;
}

export class FlamePlane extends Surface {
  private graph: Graph | null = null;
  private view: Record<Side, Span> = viewOf(
    {waits: [], holds: [], locks: [], total: 0, frames: 0, compared: false},
    null,
  );
  private found: ((frame: Frame) => boolean) | null = null;
  zoomed: Frame | null = null;
  current: Frame | null = null;
  private under: Frame | null = null;
  scrollTop = 0;
  private first = false;

  constructor(canvas: HTMLCanvasElement, events: FlameEvents) {
    super(canvas);
    const {signal} = this;
    const at = (e: MouseEvent) => this.frameAt(e.offsetX, e.offsetY);
    canvas.addEventListener(
      "pointermove",
      (e) => {
        const frame = at(e);
        if (frame !== this.under) {
          this.under = frame;
          this.changed();
        }
        events.hover(frame, e.offsetX, e.offsetY);
      },
      {signal},
    );
    const leave = () => {
      this.under = null;
      this.changed();
      events.hover(null, 0, 0);
    };
    canvas.addEventListener("pointerleave", leave, {signal});
    canvas.addEventListener("click", (e) => events.choose(at(e)), {signal});
    canvas.addEventListener(
      "dblclick",
      (e) => {
        const frame = at(e);
        if (frame) events.open(frame);
      },
      {signal},
    );
    this.begin();
  }

  set(graph: Graph | null, zoomed: Frame | null, found: ((frame: Frame) => boolean) | null): void {
    this.graph = graph;
    this.zoomed = zoomed;
    this.found = found;
    this.under = null;
    if (graph) this.view = viewOf(graph, zoomed);
    this.changed();
  }

  scroll(top: number): void {
    this.scrollTop = top;
    this.changed();
  }

  /** The height of all rows. */
  get whole(): number {
    const rows = (this.graph?.waits.length ?? 0) + (this.graph?.holds.length ?? 0);
    return rows * frameHeight + lockHeight + 2 * margin;
  }

  /** Where the row of locks begins: in the middle if everything fits. */
  private get middle(): number {
    const up = (this.graph?.waits.length ?? 0) * frameHeight + margin;
    const spare = Math.max(0, this.height - this.whole);
    return up + spare / 2 - this.scrollTop;
  }

  /** The scroll position at which a frame is in sight, or which shows the locks. */
  scrollTo(frame: Frame | null): number {
    const top = (frame ? this.top(frame.side, frame.depth) : this.middle) + this.scrollTop;
    if (frame && top >= this.scrollTop && top + frameHeight <= this.scrollTop + this.height) return this.scrollTop;
    return Math.max(0, top - this.height / 2);
  }

  private top(side: Side, depth: number): number {
    if (side === "waits") return this.middle - depth * frameHeight;
    return side === "lock" ? this.middle : this.middle + lockHeight + (depth - 1) * frameHeight;
  }

  frameAt(x: number, y: number): Frame | null {
    const {graph, middle} = this;
    if (!graph) return null;
    const below = y - middle;
    const side: Side = below < 0 ? "waits" : below < lockHeight ? "lock" : "holds";
    const depth =
      side === "waits" ? Math.ceil(-below / frameHeight) : Math.floor((below - lockHeight) / frameHeight) + 1;
    const row = side === "lock" ? graph.locks : graph[side][depth - 1];
    const {from, to} = this.view[side];
    return row ? frameIn(row, from + (x / this.width) * (to - from)) : null;
  }

  /** The place of a frame on the canvas. */
  box(frame: Frame): {x: number; y: number; width: number; height: number} {
    const {from, to} = this.view[frame.side];
    const scale = this.width / (to - from);
    const x = Math.max(0, (frame.from - from) * scale);
    const end = Math.min(this.width, (frame.to - from) * scale);
    return {
      x,
      y: this.top(frame.side, frame.depth),
      width: Math.max(0, end - x),
      height: frame.side === "lock" ? lockHeight : frameHeight,
    };
  }

  protected paint(): void {
    const {ctx, width, height, graph, colors} = this;
    ctx.fillStyle = colors.get("surface");
    ctx.fillRect(0, 0, width, height);
    if (!graph) return;
    if (graph.total > 0) this.paintGraph(graph);
    if (!this.first && document.visibilityState === "visible") {
      this.first = true;
      performance.mark("weft.flame");
    }
  }

  private paintGraph(graph: Graph): void {
    const {ctx, height} = this;
    ctx.textBaseline = "middle";
    ctx.font = "12px system-ui, sans-serif";
    for (const side of ["waits", "holds"] as const) {
      for (const row of graph[side]) {
        const y = this.top(side, row[0]!.depth);
        if (y > -frameHeight && y < height) this.paintRow(row, this.view[side]);
      }
    }
    ctx.font = "600 12px system-ui, sans-serif";
    this.paintRow(graph.locks, this.view.lock);
    this.paintTitles();
    for (const [frame, color] of [
      [this.under, "text-2"],
      [this.current, "accent"],
    ] as const) {
      if (frame) this.outline(frame, color);
    }
  }

  private paintRow(row: readonly Frame[], view: Span): void {
    const least = ((view.to - view.from) / this.width) * 0.3; // what is narrower cannot be seen
    let low = 0;
    for (let high = row.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (row[middle]!.to > view.from) high = middle;
      else low = middle + 1;
    }
    for (let i = low; i < row.length && row[i]!.from < view.to; i++) {
      const frame = row[i]!;
      if (frame.to - frame.from >= least) this.paintFrame(frame);
    }
  }

  private paintFrame(frame: Frame): void {
    const {ctx, colors} = this;
    const {x, y, width, height} = this.box(frame);
    const gap = width > 3 ? 1 : 0;
    const [fill, text] = this.look(frame);
    const faint = this.found !== null && !this.found(frame);
    ctx.globalAlpha = faint ? 0.3 : 1;
    ctx.fillStyle = fill;
    ctx.fillRect(x, y, width - gap, height - 1);
    const changed = frame.verdict === "worse" || frame.verdict === "new" ? 1 : frame.verdict ? -1 : 0;
    if (width > 6 && frame.verdict !== "same" && changed) this.hatch(x, y, width - gap, height - 1, changed);
    ctx.globalAlpha = 1;
    if (width > 24) {
      ctx.fillStyle = faint ? colors.get("text-2") : text;
      const sign = frame.verdict && frame.verdict !== "same" ? `${changed > 0 ? "▲" : "▼"} ` : "";
      const change = sign && frame.side === "lock" ? ` ${signed(frame.time - frame.before)}` : "";
      ctx.fillText(fit(ctx, sign + frame.label + change, width - gap - 12), x + 5, y + height / 2);
    }
    if (!faint && this.found) {
      ctx.fillStyle = colors.get("path");
      ctx.fillRect(x, y + height - 4, width - gap, 3);
    }
  }

  /** The colors of a frame and its text: the state of the thread, or how it changed. */
  private look(frame: Frame): [fill: string, text: string] {
    const {colors, graph} = this;
    if (graph!.compared && frame.verdict) {
      const color = {new: "worse", worse: "worse", gone: "better", better: "better", same: "same"}[frame.verdict];
      return [colors.get(`flame-${color}`), colors.get("flame-text")];
    }
    if (frame.state === null || frame.state === "unknown") return [colors.get("surface-3"), colors.get("text-2")];
    if (frame.side === "waits") return [colors.get(`flame-wait-${shade(frame.name)}`), colors.get("flame-text")];
    const n = stateNumber(frame.state);
    return [colors.color[n]!, colors.text[n]!];
  }

  /** Lines that go up for what got worse, and down for what got better: the difference does not depend on colors. */
  private hatch(x: number, y: number, width: number, height: number, direction: number): void {
    const {ctx, colors} = this;
    ctx.save();
    ctx.beginPath();
    ctx.rect(x, y, width, height);
    ctx.clip();
    ctx.strokeStyle = colors.get("flame-hatch");
    ctx.lineWidth = 1;
    ctx.beginPath();
    const [start, end] = direction > 0 ? [y + height, y] : [y, y + height];
    const first = Math.floor((x - height) / 12) * 12;
    for (let at = first; at < x + width; at += 12) {
      ctx.moveTo(at, start);
      ctx.lineTo(at + height, end);
    }
    ctx.stroke();
    ctx.restore();
  }

  private paintTitles(): void {
    const {ctx, colors, middle} = this;
    ctx.font = "11px system-ui, sans-serif";
    ctx.fillStyle = colors.get("text-3");
    const up = (this.graph?.waits.length ?? 0) * frameHeight;
    const down = (this.graph?.holds.length ?? 0) * frameHeight;
    ctx.fillText(
      "↑ where threads waited: the code that wanted the lock, then its callers",
      6,
      middle - up - margin / 2,
    );
    ctx.fillText("↓ what the holders of the lock did meanwhile, and where", 6, middle + lockHeight + down + margin / 2);
  }

  private outline(frame: Frame, color: string): void {
    const {x, y, width, height} = this.box(frame);
    if (width === 0) return;
    this.ctx.strokeStyle = this.colors.get(color);
    this.ctx.lineWidth = 2;
    this.ctx.strokeRect(x + 1, y + 1, Math.max(1, width - 3), height - 3);
  }
}

/** One of three shades, always the same one for a method, so that neighbors differ. */
function shade(name: string): number {
  let sum = 0;
  for (let i = 0; i < name.length; i++) sum = (sum * 31 + name.charCodeAt(i)) % 3001;
  return sum % 3;
}
