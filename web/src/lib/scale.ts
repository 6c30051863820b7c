// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The part of time on the screen. Pixel 0 is `from`, pixel `width` is `to`; times are in nanoseconds.

export interface Span {
  from: number;
  to: number;
}

/** The shortest view in nanoseconds, where doubles are still exact. */
const nearest = 50;

export function toPixel(view: Span, width: number, time: number): number {
  return ((time - view.from) / (view.to - view.from)) * width;
}

export function toTime(view: Span, width: number, pixel: number): number {
  return view.from + (pixel / width) * (view.to - view.from);
}

/** Moves a view into the limits, and shortens it only if it is longer than they are. */
export function clamp(view: Span, limits: Span): Span {
  const all = Math.max(nearest, limits.to - limits.from);
  const length = Math.min(all, Math.max(nearest, view.to - view.from));
  let from = view.from + (view.to - view.from - length) / 2;
  from = Math.max(limits.from, Math.min(from, limits.from + all - length));
  return {from, to: from + length};
}

/** Zooms while the time `at` stays in place; a factor below 1 zooms in. */
export function zoom(view: Span, at: number, factor: number, limits: Span): Span {
  const shown = view.to - view.from;
  const wanted = Math.max(nearest, Math.min(shown * factor, Math.max(nearest, limits.to - limits.from)));
  const share = shown > 0 ? (at - view.from) / shown : 0.5;
  return clamp({from: at - share * wanted, to: at + (1 - share) * wanted}, limits);
}

export function pan(view: Span, by: number, limits: Span): Span {
  return clamp({from: view.from + by, to: view.to + by}, limits);
}

/** A view of an interval with a margin on both sides. */
export function around(span: Span, limits: Span): Span {
  const room = Math.max(nearest, span.to - span.from) * 0.15;
  return clamp({from: span.from - room, to: span.to + room}, limits);
}

/** Round times for a ruler, at least `apart` pixels from each other. */
export function ticks(view: Span, width: number, apart = 90): {step: number; times: number[]} {
  const least = ((view.to - view.from) * apart) / Math.max(1, width);
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  const step = Math.max(1, [1, 2, 5, 10].find((n) => n * power >= least)! * power);
  const times: number[] = [];
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) times.push(time);
  return {step, times};
}

/**
 * The part of time to request: the view and a quarter of it on each side, aligned to a grid so that small moves need no
 * new request. `cell` is the time of a pixel, rounded to a power of two so that similar views share requests.
 */
export function fetched(view: Span, width: number, limits: Span): Span & {cell: number} {
  const shown = view.to - view.from;
  const cell = 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(1, shown / Math.max(1, width))) - 0.5));
  const grid = cell * 2 ** Math.max(0, Math.round(Math.log2(Math.max(1, width / 4))));
  const from = Math.max(limits.from, Math.floor((view.from - shown / 4) / grid) * grid);
  const to = Math.min(limits.to, Math.ceil((view.to + shown / 4) / grid) * grid);
  return {from: Math.floor(from), to: Math.ceil(Math.max(to, from + 1)), cell};
}

/** Intervals that a critical path is always allowed to cover; finding it takes about a second. */
const comfortable = 1_000_000;

/** The end of a range with too many intervals for a critical path: half of it, or less if it probably still holds too many. */
export function shorter(session: Span & {intervals: number}, range: Span | null): Span {
  const {from, to} = range ?? session;
  const length = to - from;
  const intervals = (session.intervals * length) / Math.max(1, session.to - session.from);
  return {from: Math.round(to - length * Math.min(0.5, comfortable / Math.max(1, intervals))), to};
}
