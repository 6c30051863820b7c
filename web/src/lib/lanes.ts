// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Lanes as the server sends them: runs of steps, each with a code (internal/viewapi, Lane).
import type {Lane, Lanes} from "./types";

export const noState = 15;

export const mark = {
  timedOut: 1,
  interrupted: 2,
  open: 4,
  partial: 8,
  deadlocked: 16,
  stopped: 32,
  mixed: 64,
  unknown: 128,
} as const;

/** One run: what to paint from step `from` up to but not including `to`. */
export interface Run {
  from: number;
  to: number;
  state: number;
  /** The state with the second largest share; noState if there is only one. */
  rest: number;
  /** The share of the first state, 0 to 1. */
  share: number;
  marks: number;
}

export function decode(code: number): {state: number; rest: number; share: number; marks: number} {
  return {state: code & 15, rest: (code >> 4) & 15, share: ((code >> 8) & 15) / 15, marks: (code >> 12) & 255};
}

/** A lane prepared for drawing: with the ends of runs as steps, the run at a time is found by binary search. */
export interface Strip {
  from: number;
  step: number;
  ends: Uint32Array;
  codes: Uint32Array;
  /** What the thread waited for, by index of the run. */
  labels: Map<number, string>;
}

export function strip(lanes: Lanes, lane: Lane): Strip {
  const ends = new Uint32Array(lane.width.length);
  let end = 0;
  lane.width.forEach((width, i) => {
    end += width;
    ends[i] = end;
  });
  const labels = new Map(lane.labels.map(({run, text}) => [run, text]));
  return {from: lanes.from, step: lanes.step, ends, codes: Uint32Array.from(lane.code), labels};
}

/** The index of the run at a time; -1 outside. */
export function runAt({from, step, ends}: Strip, time: number): number {
  const at = (time - from) / step;
  if (at < 0 || ends.length === 0 || at >= ends[ends.length - 1]!) return -1;
  let low = 0;
  let high = ends.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle]! > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function run(of: Strip, index: number): Run {
  return {from: index === 0 ? 0 : of.ends[index - 1]!, to: of.ends[index]!, ...decode(of.codes[index]!)};
}

/** Numbers as runs: 1-4,7. The server reads threads in this form. */
export function ids(numbers: readonly number[], separator = ","): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length; i++) {
    const first = sorted[i]!;
    while (sorted[i + 1] === sorted[i]! + 1) i++;
    parts.push(sorted[i] === first ? String(first) : `${first}-${sorted[i]}`);
  }
  return parts.join(separator);
}
