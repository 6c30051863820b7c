// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The keys of the lanes.
import type {Shown} from "../lib/link";
import {keyOf, type Row} from "../lib/rows";
import {around} from "../lib/scale";
import type {Interval, Reference} from "../lib/types";
import {now, show} from "../store";
import type {Plane} from "./plane";
import type {ThreadsPlane} from "./threads";

/** The keys by views, in the order of the help. */
export const keyHelp = (
  [
    [
      "Everywhere",
      [
        ["?", "show or close this help"],
        ["/", "search threads, locks, methods"],
        ["P", "show or hide the critical path"],
        ["G", "grouping: none, thread group, pool"],
        ["Space", "follow or pause a live session"],
        ["Esc", "clear the selection, the episode, the range"],
      ],
    ],
    [
      "Threads and locks",
      [
        ["W  S", "zoom in, zoom out"],
        ["A  D", "pan left, right"],
        ["0", "show the whole session"],
        ["F", "zoom to the selected interval or range"],
        ["↑  ↓", "previous, next thread, pool, group, lock"],
        ["←  →", "previous, next interval; fold, open a group"],
        ["[", "go to the interval that unblocked this one"],
        ["]", "go to the interval that this one unblocked"],
        ["R", "use the interval as range of all tables"],
      ],
    ],
    [
      "Incidents",
      [
        ["Enter", "show the threads that took part"],
        ["Space", "open the details"],
      ],
    ],
    [
      "Flame graph",
      [
        ["Enter", "zoom into the frame; Esc goes back"],
        ["L", "show the longest wait of the frame on the lanes"],
      ],
    ],
    [
      "Tables",
      [
        ["↑  ↓", "previous, next row; with Shift, select it, too"],
        ["Enter", "open the row"],
      ],
    ],
  ] as [string, [string, string][]][]
).flatMap(([view, all]) => all.map(([keys, text]) => ({view, keys, text})));

interface Context {
  rows: Row[];
  shown: Shown;
  interval: Interval | null;
  choose: (thread: number, time: number) => void;
}

/** Opens a group of virtual threads, a pool or a row of folded threads, or folds it. */
export function turnGroup(name: string, open = !now().opened.includes(name)): void {
  const others = now().opened.filter((one) => one !== name);
  show({opened: open ? [...others, name] : others});
}

/** The move of a key on any canvas. */
export function moveOf(key: string, plane: Plane): (() => void) | undefined {
  const middle = plane.width / 2;
  const step = plane.width / 6;
  switch (key) {
    case "w":
    case "+":
    case "=":
      return () => plane.zoomAt(middle, 0.7);
    case "s":
    case "-":
      return () => plane.zoomAt(middle, 1 / 0.7);
    case "a":
      return () => plane.panBy(-step);
    case "d":
      return () => plane.panBy(step);
    case "0":
      return () => plane.setView(plane.limits);
    default:
      return undefined;
  }
}

/** Handles a key on the lanes of threads; returns false if it has no meaning there. */
export function keys(key: string, plane: ThreadsPlane, {rows, shown, interval, choose}: Context): boolean {
  const to = (reference: Reference | null | undefined) => {
    if (reference) show({thread: reference.thread.id, seq: reference.seq, follow: false});
  };
  const byRow = (step: number) => {
    const lanes = rows.filter((row) => keyOf(row) !== null);
    const at = lanes.findIndex((row) => keyOf(row) === (shown.thread || shown.virtual));
    const next = lanes[Math.max(0, Math.min(lanes.length - 1, at < 0 ? 0 : at + step))];
    if (!next) return;
    if (next.kind !== "thread") {
      show({virtual: next.key, thread: 0, seq: 0});
      return;
    }
    const time = Math.round(
      interval && interval.seq === shown.seq ? Math.max(plane.view.from, interval.from) : plane.time(plane.width / 2),
    );
    // The next thread may have started later, or ended before.
    const {id, from, to} = next.thread;
    choose(id, Math.max(from, Math.min(time, to - 1)));
  };
  const span = interval ?? shown.range;
  const move = key === "f" && span ? () => plane.setView(around(span, plane.limits)) : moveOf(key, plane);
  if (move) {
    if (key !== "0") show({follow: false});
    move();
    return true;
  }
  const group = shown.thread ? "" : shown.virtual;
  switch (key) {
    case "f":
      break;
    case "r":
      if (interval) show({range: {from: interval.from, to: Math.max(interval.to, interval.from + 1)}});
      break;
    case "ArrowLeft":
      if (group) turnGroup(group, false);
      else interval ? to(interval.previous) : byRow(0);
      break;
    case "ArrowRight":
      if (group) turnGroup(group, true);
      else interval ? to(interval.next) : byRow(0);
      break;
    case "ArrowUp":
      byRow(-1);
      break;
    case "ArrowDown":
      byRow(1);
      break;
    case "[":
      to(interval?.cause?.interval ?? interval?.owner?.interval);
      break;
    case "]":
      to(interval?.effects[0]?.interval);
      break;
    case "Escape":
      if (shown.thread || group) show({thread: 0, seq: 0, virtual: ""});
      else show(shown.cast.length > 0 ? {cast: []} : {range: null});
      break;
    default:
      return false;
  }
  return true;
}
