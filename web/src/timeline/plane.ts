// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// A canvas over a part of time: zoom, pan, and selection of a range with wheel and drag. Subclasses paint the lanes.
import {shortened} from "../lib/format";
import {clamp, pan, type Span, toPixel, toTime, zoom} from "../lib/scale";
import {type Brush, fill, paintRange, paintRuler, rulerHeight} from "./draw";
import {Surface} from "./surface";

export interface Events {
  view(view: Span): void;
  range(range: Span | null): void;
  click(x: number, y: number): void;
  double(x: number, y: number): void;
  hover(x: number, y: number, inside: boolean): void;
  scroll(by: number): boolean;
}

/** The name of a lane in a saved picture; y is the middle of the lane below the ruler. */
export interface Label {
  text: string;
  y: number;
  bold: boolean;
}

export abstract class Plane extends Surface implements Brush {
  view: Span = {from: 0, to: 1};
  limits: Span = {from: 0, to: 1};
  range: Span | null = null;
  /** The range while it is being dragged. */
  private drawing: Span | null = null;

  constructor(
    canvas: HTMLCanvasElement,
    protected readonly events: Events,
  ) {
    super(canvas);
    const {signal} = this;
    canvas.addEventListener("wheel", this.wheel, {passive: false, signal});
    canvas.addEventListener("pointerdown", this.down, {signal});
    canvas.addEventListener("pointermove", this.move, {signal});
    canvas.addEventListener("pointerup", this.up, {signal});
    canvas.addEventListener("pointercancel", this.up, {signal});
    canvas.addEventListener("pointerleave", () => this.events.hover(0, 0, false), {signal});
    canvas.addEventListener("dblclick", (e) => this.events.double(e.offsetX, e.offsetY), {signal});
    this.begin();
  }

  /** Paints everything between the ruler and the range. */
  protected abstract paintLanes(): void;

  protected paint(): void {
    const {ctx, width, height} = this;
    fill(this, "surface", 0, 0, width, height);
    paintRuler(this);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, rulerHeight, width, height - rulerHeight);
    ctx.clip();
    this.paintLanes();
    ctx.restore();
    const range = this.drawing ?? this.range;
    if (range) paintRange(this, range);
  }

  /** The names of the lanes in sight. */
  protected abstract labels(): Label[];

  /** Returns the current picture with the names of the lanes on the left. */
  picture(gutter: number, title: string): HTMLCanvasElement {
    const out = document.createElement("canvas");
    const head = 30;
    out.width = Math.round((this.width + gutter) * this.ratio);
    out.height = Math.round((this.height + head) * this.ratio);
    const ctx = out.getContext("2d")!;
    ctx.scale(this.ratio, this.ratio);
    ctx.fillStyle = this.colors.get("surface");
    ctx.fillRect(0, 0, this.width + gutter, this.height + head);
    ctx.drawImage(this.canvas, gutter, head, this.width, this.height);
    ctx.fillStyle = this.colors.get("text");
    ctx.textBaseline = "middle";
    ctx.font = "600 13px system-ui, sans-serif";
    ctx.fillText(title, 10, head / 2);
    ctx.beginPath();
    ctx.rect(0, head + rulerHeight, gutter - 8, this.height);
    ctx.clip();
    for (const {text, y, bold} of this.labels()) {
      ctx.font = `${bold ? "600 " : ""}12px system-ui, sans-serif`;
      const fitting = shortened(text, (part) => ctx.measureText(part).width <= gutter - 20);
      ctx.fillText(fitting, 10, head + rulerHeight + y);
    }
    return out;
  }

  private isRuler(y: number): boolean {
    return y < rulerHeight;
  }

  x(time: number): number {
    return toPixel(this.view, this.width, time);
  }

  time(x: number): number {
    return toTime(this.view, this.width, x);
  }

  setView(view: Span): void {
    this.view = clamp(view, this.limits);
    this.resized();
    this.changed();
    this.events.view(this.view);
  }

  zoomAt(x: number, factor: number): void {
    this.setView(zoom(this.view, this.time(x), factor, this.limits));
  }

  panBy(pixels: number): void {
    this.setView(pan(this.view, (pixels / this.width) * (this.view.to - this.view.from), this.limits));
  }

  private readonly wheel = (e: WheelEvent): void => {
    e.preventDefault();
    const unit = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1;
    const [dx, dy] = e.shiftKey && e.deltaX === 0 ? [e.deltaY * unit, 0] : [e.deltaX * unit, e.deltaY * unit];
    if (Math.abs(dx) > Math.abs(dy)) {
      this.panBy(dx);
      return;
    }
    const zooms = e.ctrlKey || e.metaKey || e.altKey || this.isRuler(e.offsetY);
    if (!zooms && this.events.scroll(dy)) return;
    this.zoomAt(e.offsetX, Math.exp(Math.max(-1, Math.min(1, dy / 400))));
  };

  private drag: {x: number; y: number; kind: "pan" | "range"; moved: boolean; view: Span; anchor: number} | null = null;

  private readonly down = (e: PointerEvent): void => {
    if (e.button !== 0) return;
    this.canvas.setPointerCapture(e.pointerId);
    const kind = e.shiftKey || this.isRuler(e.offsetY) ? "range" : "pan";
    this.drag = {x: e.offsetX, y: e.offsetY, kind, moved: false, view: this.view, anchor: this.anchor(e.offsetX)};
  };

  /** The fixed end of a dragged range: a drag that starts at an edge of the range moves that edge. */
  private anchor(x: number): number {
    const near = (time: number) => Math.abs(this.x(time) - x) <= 5;
    if (this.range && near(this.range.from)) return this.range.to;
    if (this.range && near(this.range.to)) return this.range.from;
    return this.time(x);
  }

  private readonly move = (e: PointerEvent): void => {
    const {drag} = this;
    if (!drag) {
      this.events.hover(e.offsetX, e.offsetY, true);
      return;
    }
    const dx = e.offsetX - drag.x;
    if (!drag.moved && Math.abs(dx) < 4 && Math.abs(e.offsetY - drag.y) < 4) return;
    drag.moved = true;
    if (drag.kind === "range") {
      const at = Math.max(this.limits.from, Math.min(this.limits.to, this.time(e.offsetX)));
      this.drawing = {from: Math.floor(Math.min(at, drag.anchor)), to: Math.ceil(Math.max(at, drag.anchor))};
      this.changed();
      return;
    }
    this.canvas.classList.add("grabbing");
    const by = -(dx / this.width) * (drag.view.to - drag.view.from);
    this.events.scroll(drag.y - e.offsetY);
    drag.y = e.offsetY;
    this.setView(pan(drag.view, by, this.limits));
  };

  private readonly up = (e: PointerEvent): void => {
    const {drag} = this;
    this.drag = null;
    this.canvas.classList.remove("grabbing");
    if (!drag) return;
    if (this.drawing) {
      const range = clamp(this.drawing, this.limits);
      this.drawing = null;
      this.events.range({from: Math.floor(range.from), to: Math.ceil(range.to)});
    } else if (!drag.moved) {
      if (this.isRuler(drag.y)) this.events.range(null);
      else this.events.click(e.offsetX, e.offsetY);
    }
    this.changed();
  };
}
