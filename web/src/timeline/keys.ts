// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The keys of the visualizer.
import type {Shown} from "../lib/link";
import type {Row} from "../lib/rows";
import {around} from "../lib/scale";
import type {Interval, Reference} from "../lib/types";
import {show} from "../store";
import type {Hit, ThreadsPlane} from "./threads";

export const keyHelp: [string, string][] = [
  ["W  S", "zoom in, out"],
  ["A  D", "pan left, right"],
  ["0", "show all of the time"],
  ["F", "zoom to the chosen interval, or to the range"],
  ["←  →", "previous, next interval of the thread"],
  ["↑  ↓", "thread or lock above, below"],
  ["[", "go to what let the thread go on"],
  ["]", "go to what was let go on"],
  ["P", "critical path on, off"],
  ["G", "grouping: none, by group, by pool"],
  ["R", "take the chosen interval as range"],
  ["Space", "follow a live session, or pause"],
  ["/", "search"],
  ["Esc", "choose nothing; drop the range"],
  ["?", "this help"],
];

interface Context {
  rows: Row[];
  shown: Shown;
  interval: Interval | null;
  choose: (hit: Hit) => void;
}

/** Does what a key asks for; false if it asks for nothing. */
export function keys(e: KeyboardEvent, plane: ThreadsPlane, {rows, shown, interval, choose}: Context): boolean {
  if (e.ctrlKey || e.metaKey || e.altKey) return false;
  const middle = plane.width / 2;
  const moved = (move: () => void) => {
    show({follow: false});
    move();
    return true;
  };
  const to = (reference: Reference | null | undefined) => {
    if (reference) show({thread: reference.thread.id, seq: reference.seq, follow: false});
    return true;
  };
  const byRow = (step: number) => {
    const threads = rows.filter((row) => row.kind === "thread");
    const at = threads.findIndex((row) => row.thread.id === shown.thread);
    const next = threads[Math.max(0, Math.min(threads.length - 1, at < 0 ? 0 : at + step))];
    if (!next) return true;
    const time = Math.round(
      interval && interval.seq === shown.seq ? Math.max(plane.view.from, interval.from) : plane.time(middle),
    );
    choose({thread: next.thread.id, time, state: 0, rest: 15, share: 1, from: time, to: time});
    return true;
  };
  switch (e.key) {
    case "w":
    case "+":
    case "=":
      return moved(() => plane.zoomAt(middle, 0.7));
    case "s":
    case "-":
      return moved(() => plane.zoomAt(middle, 1 / 0.7));
    case "a":
      return moved(() => plane.panBy(-plane.width / 6));
    case "d":
      return moved(() => plane.panBy(plane.width / 6));
    case "0":
      plane.setView(plane.limits);
      return true;
    case "f": {
      const span = interval ?? shown.range;
      return span ? moved(() => plane.setView(around(span, plane.limits))) : true;
    }
    case "r":
      if (interval) show({range: {from: interval.from, to: Math.max(interval.to, interval.from + 1)}});
      return true;
    case "ArrowLeft":
      return interval ? to(interval.previous) : byRow(0);
    case "ArrowRight":
      return interval ? to(interval.next) : byRow(0);
    case "ArrowUp":
      return byRow(-1);
    case "ArrowDown":
      return byRow(1);
    case "[":
      return to(interval?.cause?.interval ?? interval?.owner?.interval);
    case "]":
      return to(interval?.effects[0]?.interval);
    case "Escape":
      if (shown.thread) show({thread: 0, seq: 0});
      else show({range: null});
      return true;
    default:
      return false;
  }
}
