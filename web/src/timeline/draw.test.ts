// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {mark, noState} from "../lib/lanes";
import type {Arrow} from "../lib/types";
import {arrowKinds, kinds, states} from "../lib/words";
import {type Brush, paintArrows} from "./draw";
import {paintLanes} from "./lanes";
import {dashOf, heightOf} from "./palette";
import type {Raster} from "./raster";

type Step = [name: string, ...at: number[]];

/** A path that remembers its steps. */
class Steps {
  readonly steps: Step[] = [];
  moveTo = (...at: number[]) => this.steps.push(["move", ...at]);
  lineTo = (...at: number[]) => this.steps.push(["line", ...at]);
  bezierCurveTo = (...at: number[]) => this.steps.push(["curve", ...at]);
  rect = (...at: number[]) => this.steps.push(["rect", ...at]);
  closePath = () => this.steps.push(["close"]);
}

/** A brush for times 0 to 1000 on 1000 pixels, whose colors are their names, and what it painted. */
function brush() {
  const strokes: {color: string; dash: number[]; path: Steps}[] = [];
  const boxes: {color: string; at: number[]}[] = [];
  let dash: number[] = [];
  const ctx = {
    strokeStyle: "",
    fillStyle: "",
    font: "",
    setLineDash: (now: number[]) => {
      dash = now;
    },
    stroke: (path: Steps) => strokes.push({color: ctx.strokeStyle, dash, path}),
    fill: () => {},
    fillRect: (...at: number[]) => boxes.push({color: ctx.fillStyle, at}),
    measureText: () => ({width: 0}),
    fillText: () => {},
  };
  const colors = {color: [], text: [], kind: (name: string) => name, get: (name: string) => name};
  const made = {ctx, view: {from: 0, to: 1000}, width: 1000, height: 100, ratio: 1, colors} as unknown as Brush;
  return {made, strokes, boxes};
}

test("each kind of interaction is an arrow from its cause to the thread that it released", () => {
  Object.assign(globalThis, {Path2D: Steps});
  assert.deepEqual(new Set(arrowKinds), new Set(kinds.filter((kind) => kind !== "none")));
  const {made, strokes} = brush();
  const arrows = arrowKinds.map((kind, i) => {
    const arrow = {from_time: 100 * i, to_time: 100 * i + 50} as Arrow;
    return {arrow, kind, y0: 20, y1: 80};
  });
  paintArrows(made, arrows, () => false);
  assert.deepEqual(
    strokes.map(({color, dash, path: {steps}}) => ({
      color,
      dash,
      from: steps[0]?.slice(1, 2),
      to: steps[1]?.slice(-2, -1),
    })),
    arrowKinds.map((kind, i) => ({color: kind, dash: dashOf[kind], from: [100 * i], to: [100 * i + 50]})),
  );
});

/** Paints a lane of states that last 100 pixels each, 20 pixels high. */
function painted(codes: number[]) {
  const {made, boxes} = brush();
  const rects: {state: number; x: number; width: number; height: number}[] = [];
  const rect = (state: number, x: number, _: number, width: number, height: number) =>
    rects.push({state, x, width, height});
  const strip = {
    from: 0,
    step: 100,
    ends: Uint32Array.from(codes, (_, i) => i + 1),
    codes: Uint32Array.from(codes),
    labels: new Map(codes.map((_, i) => [i, ""])),
  };
  paintLanes(made, {rect, end: () => {}} as unknown as Raster, [{strip, y: 0, height: 20}], new Set());
  return {rects, boxes};
}

const code = (state: number, marks = 0) => state | (noState << 4) | (15 << 8) | (marks << 12);

test("a state is a box that ends where the next one begins", () => {
  const some = ["runnable", "blocked", "waiting", "joining", "sleeping", "parked", "deadlocked", "dead", "io"] as const;
  const {rects} = painted(some.map((state) => code(states.indexOf(state))));
  assert.deepEqual(
    rects,
    // One pixel separates neighbors.
    some.map((state, i) => ({
      state: states.indexOf(state),
      x: 100 * i,
      width: 99,
      height: Math.max(2, Math.round(14 * heightOf[state])),
    })),
  );
});

test("a wait that timed out has a mark at its end", () => {
  const waiting = states.indexOf("waiting");
  const {boxes} = painted([code(waiting), code(waiting, mark.timedOut), code(waiting)]);
  assert.deepEqual(
    boxes.filter(({color}) => color === "mark-timeout").map(({at: [x = 0, , width = 0]}) => x + width),
    [200],
  );
});
