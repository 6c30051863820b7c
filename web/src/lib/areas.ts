// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// How many threads of a group are in which state, over time (internal/viewapi, VirtualGroup).
import type {Virtual, VirtualGroup} from "./types";
import {type State, stateNumber} from "./words";

/** The states of a stacked area from the bottom up: the costliest are at the ground, where heights compare best. */
export const stackOrder: State[] = [
  "deadlocked",
  "blocked",
  "reentering",
  "runnable",
  "queued",
  "suspended",
  "joining",
  "waiting",
  "parked",
  "io",
  "sleeping",
  "idle",
  "unknown",
];
export const stackNumbers = stackOrder.map(stateNumber);

/** An area prepared for drawing. */
export interface Area {
  from: number;
  to: number;
  step: number;
  /** Thread time by state and step, in nanoseconds; empty for states that do not occur. */
  time: number[][];
  /** The most threads in a step, on average over the step. */
  peak: number;
}

export function areaOf({from, to, step, steps}: Virtual, {over_time: time}: VirtualGroup): Area {
  const area: Area = {from, to, step, time, peak: 0};
  for (let i = 0; i < steps; i++) {
    let sum = 0;
    for (const state of stackNumbers) sum += time[state]?.[i] ?? 0;
    area.peak = Math.max(area.peak, sum / lengthOf(area, i));
  }
  return area;
}

/** The last step may be shorter. */
function lengthOf({from, to, step}: Area, i: number): number {
  return Math.max(1, Math.min(step, to - from - i * step));
}

/** Puts into `counts` how many threads were in each state on average between two times; returns false outside. */
export function countsAt(area: Area, from: number, to: number, counts: Float64Array): boolean {
  counts.fill(0);
  const begin = Math.max(from, area.from);
  const end = Math.min(to, area.to);
  if (end <= begin) return false;
  const first = Math.floor((begin - area.from) / area.step);
  const last = Math.ceil((end - area.from) / area.step) - 1;
  for (let i = first; i <= last; i++) {
    const start = area.from + i * area.step;
    const length = lengthOf(area, i);
    const share = (Math.min(end, start + length) - Math.max(begin, start)) / length / (end - begin);
    for (const state of stackNumbers) {
      const times = area.time[state];
      if (times && times.length > 0) counts[state]! += times[i]! * share;
    }
  }
  return true;
}
