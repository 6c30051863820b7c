// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// A canvas that fills its element at any pixel ratio and paints in frames of the browser. There is no framework here, so
// that a frame never waits for one.
import {palette} from "./palette";

export abstract class Surface {
  readonly ctx: CanvasRenderingContext2D;
  colors = palette(1);
  width = 1;
  height = 1;
  ratio = 1;
  /** Paint times of the last frames in milliseconds, newest last, for `make bench-page`. */
  readonly frames: number[] = [];
  private requested = 0;
  private readonly observer: ResizeObserver;
  private readonly abort = new AbortController();
  /** Ends the listeners of subclasses. */
  protected readonly signal = this.abort.signal;

  constructor(protected readonly canvas: HTMLCanvasElement) {
    this.ctx = canvas.getContext("2d", {alpha: false})!;
    this.observer = new ResizeObserver(() => {
      this.resize();
      this.frame(); // a resized canvas is black, and a requested frame comes after the browser shows this one
    });
  }

  /** Begins to paint: the last step of a constructor. */
  protected begin(): void {
    this.observer.observe(this.canvas);
    window.addEventListener("weft-theme", () => this.changed(), {signal: this.signal});
    // The colors of paper are set by now, and no frame comes before it is printed.
    for (const name of ["beforeprint", "afterprint"])
      window.addEventListener(name, () => this.frame(), {signal: this.signal});
    this.resize();
  }

  destroy(): void {
    this.observer.disconnect();
    this.abort.abort();
    cancelAnimationFrame(this.requested);
  }

  /** Paints everything. */
  protected abstract paint(): void;

  /** Requests a frame. */
  changed(): void {
    if (!this.requested) this.requested = requestAnimationFrame(() => this.frame());
  }

  private frame(): void {
    cancelAnimationFrame(this.requested);
    this.requested = 0;
    const began = performance.now();
    this.ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.colors = palette(this.ratio);
    this.paint();
    this.frames.push(performance.now() - began);
    if (this.frames.length > 600) this.frames.shift();
  }

  private resize(): void {
    const {clientWidth, clientHeight} = this.canvas;
    this.ratio = Math.min(3, window.devicePixelRatio || 1);
    this.width = Math.max(1, clientWidth);
    this.height = Math.max(1, clientHeight);
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    // Printing lays out the page once more without calling the observer: lanes would no longer be next to their names.
    this.canvas.parentElement?.style.setProperty("--painted-height", `${this.height}px`);
    this.resized();
    this.changed();
  }

  protected resized(): void {
    // For subclasses that have more to do than to paint again.
  }
}
