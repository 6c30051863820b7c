// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Paints lanes pixel by pixel. A screen of lanes has tens of thousands of runs, most of them one pixel wide. Without a
// graphics card a canvas takes hundreds of milliseconds for as many rectangles; writing the pixels takes a few.
import type {Palette} from "./palette";

/** The least width of a run with a pattern, in device pixels. */
const patterned = 5;

interface Tile {
  size: number;
  pixels: Uint32Array;
}

export class Raster {
  private readonly canvas = document.createElement("canvas");
  private readonly ctx = this.canvas.getContext("2d")!;
  private image = this.ctx.createImageData(1, 1);
  private pixels = new Uint32Array(this.image.data.buffer);
  private width = 1;
  private height = 1;
  private from: Palette | null = null;
  private colors = new Uint32Array(0);
  private tiles: (Tile | undefined)[] = [];

  /** Starts an empty picture; the size is in device pixels. */
  begin(width: number, height: number, palette: Palette): void {
    if (width !== this.width || height !== this.height) {
      this.canvas.width = this.width = width;
      this.canvas.height = this.height = height;
      this.image = this.ctx.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    } else this.pixels.fill(0);
    if (this.from !== palette) this.take(palette);
  }

  private take(palette: Palette): void {
    this.from = palette;
    this.tiles = palette.tiles.map((tile) => {
      const ctx = tile.getContext("2d")!;
      const pixels = new Uint32Array(ctx.getImageData(0, 0, tile.width, tile.height).data.buffer);
      // A plain color is filled faster.
      return pixels.every((pixel) => pixel === pixels[0]) ? undefined : {size: tile.width, pixels};
    });
    const one = document.createElement("canvas").getContext("2d", {willReadFrequently: true})!;
    this.colors = Uint32Array.from(palette.color, (color) => {
      one.fillStyle = color;
      one.fillRect(0, 0, 1, 1);
      return new Uint32Array(one.getImageData(0, 0, 1, 1).data.buffer)[0]!;
    });
  }

  /** Paints a rectangle of a state, in whole device pixels; it is clipped to the picture. */
  rect(state: number, x: number, y: number, w: number, h: number): void {
    const x0 = Math.max(0, x);
    const x1 = Math.min(this.width, x + w);
    const y1 = Math.min(this.height, y + h);
    if (x1 <= x0) return;
    const {pixels, width} = this;
    const color = this.colors[state]!;
    if (x1 - x0 <= 2) {
      for (let row = Math.max(0, y) * width, end = y1 * width; row < end; row += width) {
        pixels[row + x0] = color;
        pixels[row + x1 - 1] = color;
      }
      return;
    }
    this.fill(w >= patterned ? this.tiles[state] : undefined, color, x0, x1, y, y1);
  }

  /** Paints a part of an area of a state: neighbors have the pattern in common, however narrow each is. */
  column(state: number, x: number, y: number, w: number, h: number): void {
    const x0 = Math.max(0, x);
    const x1 = Math.min(this.width, x + w);
    if (x1 > x0) this.fill(this.tiles[state], this.colors[state]!, x0, x1, y, Math.min(this.height, y + h));
  }

  private fill(tile: Tile | undefined, color: number, x0: number, x1: number, y: number, y1: number): void {
    const {pixels, width} = this;
    for (let line = Math.max(0, y); line < y1; line++) {
      const row = line * width;
      if (!tile) {
        pixels.fill(color, row + x0, row + x1);
        continue;
      }
      const {size, pixels: from} = tile;
      const offset = (line % size) * size;
      for (let at = x0; at < x1; at++) pixels[row + at] = from[offset + (at % size)]!;
    }
  }

  /** Draws the picture onto a canvas that is scaled by the pixel ratio. */
  end(ctx: CanvasRenderingContext2D, ratio: number): void {
    this.ctx.putImageData(this.image, 0, 0);
    ctx.drawImage(this.canvas, 0, 0, this.width / ratio, this.height / ratio);
  }
}
