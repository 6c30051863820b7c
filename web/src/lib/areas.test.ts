// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {areaOf, countsAt} from "./areas";
import type {Virtual, VirtualGroup} from "./types";
import {stateNumber, states} from "./words";

const blocked = stateNumber("blocked");
const queued = stateNumber("queued");
const dead = stateNumber("dead");

// Three steps of 10, of which the last is cut after 5.
const answer = {from: 100, to: 125, step: 10, steps: 3} as Virtual;
const over_time: number[][] = states.map(() => []);
over_time[blocked] = [20, 0, 10];
over_time[queued] = [0, 5, 10];
over_time[dead] = [1000, 1000, 1000];
const area = areaOf(answer, {over_time} as VirtualGroup);
const counts = new Float64Array(states.length);

test("the peak of an area is the most threads in a step, without ended ones", () => {
  assert.equal(area.peak, 4); // 20 thread times in the last 5
});

test("counts are averages over the time of a pixel", () => {
  const cases: [from: number, to: number, blocked: number, queued: number][] = [
    [102, 104, 2, 0],
    [105, 115, 1, 0.25], // half of two steps
    [0, 1000, 30 / 25, 15 / 25],
    [120, 130, 2, 2],
  ];
  for (const [from, to, ...want] of cases) {
    assert.equal(countsAt(area, from, to, counts), true);
    for (const [i, state] of [blocked, queued].entries()) {
      assert.ok(Math.abs(counts[state]! - want[i]!) < 1e-9, `${from}-${to}: ${counts[state]}, want ${want[i]}`);
    }
    assert.equal(counts[dead], 0);
  }
});

test("there are no counts outside", () => {
  assert.equal(countsAt(area, 90, 100, counts), false);
  assert.equal(countsAt(area, 125, 130, counts), false);
});
