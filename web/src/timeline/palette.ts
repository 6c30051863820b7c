// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Colors and patterns. The colors are in style/theme.css; the patterns are here, for lanes and legend alike. Each state
// differs from similar ones in color, pattern and height.
import {type Kind, type State, states} from "../lib/words";

type Pattern = "plain" | "slash" | "backslash" | "cross" | "dots" | "rows" | "columns" | "dashes" | "specks";

export const patternOf: Record<State, Pattern> = {
  unknown: "dashes",
  runnable: "plain",
  blocked: "slash",
  waiting: "rows",
  reentering: "backslash",
  joining: "columns",
  sleeping: "dots",
  parked: "plain",
  deadlocked: "cross",
  suspended: "columns",
  dead: "plain",
  queued: "dots",
  idle: "specks",
  io: "backslash",
};

/** Share of the height of a lane: running and blocked threads are tall, voluntary waits are low. */
export const heightOf: Record<State, number> = {
  unknown: 0.6,
  runnable: 1,
  blocked: 1,
  waiting: 0.5,
  reentering: 1,
  joining: 0.62,
  sleeping: 0.36,
  parked: 0.5,
  deadlocked: 1,
  suspended: 0.62,
  dead: 0.12,
  queued: 0.8,
  idle: 0.3,
  io: 0.62,
};

export const dashOf: Record<Kind, number[]> = {
  none: [],
  start: [],
  handoff: [],
  notify: [5, 3],
  notify_all: [8, 3, 2, 3],
  interrupt: [2, 2],
  join: [10, 3],
  unpark: [3, 3],
};

export interface Palette {
  color: string[];
  fill: (string | CanvasPattern)[];
  /** A tile for each state, in device pixels. */
  tiles: HTMLCanvasElement[];
  text: string[];
  kind: (name: Kind) => string;
  get: (name: string) => string;
}

const edge = 8;

function tile(pattern: Pattern, color: string, ink: string, ratio: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = Math.round(edge * ratio);
  const ctx = canvas.getContext("2d", {willReadFrequently: true})!;
  ctx.scale(canvas.width / edge, canvas.width / edge);
  ctx.fillStyle = color;
  ctx.fillRect(0, 0, edge, edge);
  ctx.strokeStyle = ctx.fillStyle = ink;
  ctx.lineWidth = 1.5;
  const line = (x0: number, y0: number, x1: number, y1: number) => {
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
  };
  // Slanted lines extend over the edge, so that adjacent tiles connect.
  if (pattern === "slash" || pattern === "cross") {
    for (const shift of [-edge, 0, edge]) line(shift - 1, edge + 1, shift + edge + 1, -1);
  }
  if (pattern === "backslash" || pattern === "cross") {
    for (const shift of [-edge, 0, edge]) line(shift - 1, -1, shift + edge + 1, edge + 1);
  }
  if (pattern === "rows") for (const y of [2, 6]) line(0, y, edge, y);
  if (pattern === "columns") for (const x of [2, 6]) line(x, 0, x, edge);
  if (pattern === "specks") {
    // Any four lines have some: bars are that low.
    ctx.fillRect(1, 1, 1, 1);
    ctx.fillRect(5, 5, 1, 1);
  }
  if (pattern === "dots")
    for (const [x, y] of [
      [1, 1],
      [5, 5],
    ] as const)
      ctx.fillRect(x, y, 2, 2);
  if (pattern === "dashes")
    for (const [x, y] of [
      [0, 2],
      [4, 6],
    ] as const)
      line(x, y, x + 4, y);
  return canvas;
}

let cached: {key: string; palette: Palette} | null = null;

/** The palette of the current theme, for a pixel ratio. */
export function palette(ratio: number): Palette {
  const root = document.documentElement;
  const key = `${root.dataset.theme} ${ratio}`;
  if (cached?.key === key) return cached.palette;
  const style = getComputedStyle(root);
  const values = new Map<string, string>();
  const get = (name: string) => {
    let value = values.get(name);
    if (value === undefined) {
      value = style.getPropertyValue(`--${name}`).trim();
      values.set(name, value);
    }
    return value;
  };
  const ctx = document.createElement("canvas").getContext("2d")!;
  const color = states.map((state) => get(`state-${state}`));
  const tiles = states.map((state, i) =>
    tile(patternOf[state], color[i]!, get(`ink-${state}`) || get("pattern"), ratio),
  );
  const made: Palette = {
    color,
    text: states.map((state) => get(`on-${state}`) || get("on-state")),
    tiles,
    fill: states.map((state, i) => {
      if (patternOf[state] === "plain") return color[i]!;
      const fill = ctx.createPattern(tiles[i]!, "repeat")!;
      fill.setTransform(new DOMMatrix().scale(1 / ratio));
      return fill;
    }),
    kind: (name) => get(`kind-${name}`),
    get,
  };
  cached = {key, palette: made};
  return made;
}
