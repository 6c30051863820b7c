// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The frames of a flame graph: where each is, and what it says. The locks are in a row; above it are the stacks of the threads
// that waited, below it is what the holders did. Positions are in nanoseconds.
import {duration, many, percent, shortClass, shortMethod} from "./format";
import type {Span} from "./scale";
import type {Flame, FlameLock, FlameTree} from "./types";
import {type State, states} from "./words";

export type Side = "lock" | "waits" | "holds";
export type Verdict = "same" | "worse" | "better" | "new" | "gone";
export type Measure = "now" | "before";

const verdicts: Verdict[] = ["same", "worse", "better", "new", "gone"];

export interface Frame {
  side: Side;
  /** Rows away from the locks. */
  depth: number;
  lock: Frame | null;
  parent: Frame | null;
  children: Frame[];
  /** Identifies it among the children of its parent, in a link. */
  key: string;
  /** In short, and in full. */
  label: string;
  name: string;
  /** What the thread did; null: it is not known, or these are several frames. */
  state: State | null;
  time: number;
  count: number;
  /** The time in the baseline, scaled to be comparable. */
  before: number;
  verdict: Verdict | null;
  thread: number;
  seq: number;
  from: number;
  to: number;
}

export interface Graph {
  /** The rows from the locks outwards, each from left to right. */
  waits: Frame[][];
  holds: Frame[][];
  locks: Frame[];
  total: number;
  frames: number;
  compared: boolean;
}

/** What the page calls a lock. */
export function lockLabel({name, class: full, folded}: FlameLock): string {
  if (folded) return many(folded, "other lock");
  return name || shortClass(full) || "(unknown lock)";
}

function lockName(lock: FlameLock): string {
  const [label, full] = [lockLabel(lock), lock.class];
  if (!full || lock.folded) return label;
  return label === shortClass(full) ? full : `${label} (${full})`;
}

/** Identifies a lock in a link. */
export function lockKey({name, class: full, folded}: FlameLock): string {
  return folded ? "" : `${name}@${full}`;
}

/** The parameters that choose the lock of a key. */
export function lockParameters(key: string): {lock?: string[]; class?: string[]} {
  const at = key.lastIndexOf("@");
  if (at < 0) return {};
  const full = key.slice(at + 1);
  return full ? {lock: [key.slice(0, at)], class: [full]} : {lock: [key.slice(0, at)]};
}

const did: Partial<Record<State, string>> = {
  unknown: "state not known",
  runnable: "runnable",
  sleeping: "asleep",
  waiting: "in Object.wait",
  joining: "waiting for a thread to end",
  reentering: "reentering a monitor",
  io: "in I/O",
};

const notes: Record<number, string> = {
  [-1]: "(smaller ones)",
  [-2]: "(stack not recorded)",
  [-3]: "(holder not known)",
  [-4]: "(further frames not recorded)",
  [-5]: "running, after it took the lock in",
};

const firstState = -16;

function stateOf(name: number): State | null {
  if (name === -5) return "runnable";
  return name <= firstState ? (states[firstState - name] ?? "unknown") : null;
}

/** Places the frames of an answer. */
export function graphOf(flame: Flame, measure: Measure = "now"): Graph {
  const scale = flame.baseline?.scale ?? 0;
  const graph: Graph = {waits: [], holds: [], locks: [], total: 0, frames: 0, compared: flame.baseline !== null};
  const width = (frame: Frame) => (measure === "now" ? frame.time : frame.before);
  graph.locks = flame.locks.map((lock) => lockFrame(lock, scale));
  const trees = {waits: flame.waiters, holds: flame.holders};
  const roots = {waits: build("waits", flame, trees.waits, graph), holds: build("holds", flame, trees.holds, graph)};
  const place = (frame: Frame, at: number, rows: Frame[][]) => {
    frame.from = at;
    frame.to = at + width(frame);
    if (frame.to === at) return;
    rows[frame.depth - 1] ??= [];
    rows[frame.depth - 1]!.push(frame);
    graph.frames++;
    for (const child of frame.children) {
      place(child, at, rows);
      at = child.to;
    }
  };
  for (const [i, lock] of graph.locks.entries()) {
    lock.from = graph.total;
    lock.to = graph.total + width(lock);
    for (const side of ["waits", "holds"] as const) {
      let at = lock.from;
      for (const frame of roots[side][i] ?? []) {
        place(frame, at, graph[side]);
        at = frame.to;
      }
    }
    graph.total = lock.to;
  }
  return graph;
}

function lockFrame(lock: FlameLock, scale: number): Frame {
  return {
    side: "lock",
    depth: 0,
    lock: null,
    parent: null,
    children: [],
    key: lockKey(lock),
    label: lockLabel(lock),
    name: lockName(lock),
    state: lock.folded ? null : "blocked",
    time: lock.sum.time,
    count: lock.sum.count,
    before: lock.before.time * scale,
    verdict: (lock.verdict as Verdict) || null,
    thread: lock.longest?.thread.id ?? 0,
    seq: lock.longest?.seq ?? 0,
    from: 0,
    to: 0,
  };
}

/** The frames next to each lock, with those further away as their children. */
function build(side: "waits" | "holds", flame: Flame, tree: FlameTree, graph: Graph): Frame[][] {
  const roots: Frame[][] = flame.locks.map(() => []);
  const all: Frame[] = [];
  const scale = flame.baseline?.scale ?? 0;
  for (const [i, at] of tree.parent.entries()) {
    const parent = all[at] ?? null;
    const lock = parent ? parent.lock! : graph.locks[-1 - at]!;
    const name = tree.name[i]!;
    const method = flame.names[name];
    const own = side === "waits" ? (name === -1 ? null : "blocked") : stateOf(name);
    const state = own ?? (name === -1 ? null : (parent?.state ?? null));
    const text = notes[name] ?? did[state ?? "unknown"] ?? state ?? "";
    const frame: Frame = {
      side,
      depth: parent ? parent.depth + 1 : 1,
      lock,
      parent,
      children: [],
      key: method ?? `~${name}`,
      label: method === undefined ? text : shortMethod(method),
      name: method ?? text,
      state,
      time: tree.time[i]!,
      count: tree.count[i]!,
      before: (tree.before[i] ?? 0) * scale,
      verdict: verdicts[tree.verdict[i] ?? -1] ?? null,
      thread: tree.thread[i]!,
      seq: tree.seq[i]!,
      from: 0,
      to: 0,
    };
    all.push(frame);
    (parent ? parent.children : roots[-1 - at]!).push(frame);
  }
  return roots;
}

/** The frame that a link names: of a lock, a side, and the keys from there on. As far as it exists. */
export function findFrame(graph: Graph, lock: string, path: readonly string[]): Frame | null {
  const [side, ...keys] = path;
  const start = graph.locks.find(({key}) => key === lock && key !== "");
  if (!start) return null;
  let found = start;
  if (side !== "waits" && side !== "holds") return found;
  let list = (graph[side][0] ?? []).filter((frame) => frame.lock === start);
  for (const key of keys) {
    const next = list.find((frame) => frame.key === key);
    if (!next) break;
    found = next;
    list = next.children;
  }
  return found;
}

/** What names a frame in a link. */
export function pathOf(frame: Frame | null): {lock: string; path: string[]} {
  if (!frame) return {lock: "", path: []};
  const path: string[] = [];
  for (let at: Frame | null = frame; at && at.side !== "lock"; at = at.parent) path.unshift(at.key);
  return frame.side === "lock" ? {lock: frame.key, path: []} : {lock: frame.lock!.key, path: [frame.side, ...path]};
}

/** The parts of both sides in view: those of the zoomed frame, and of its lock on the other side. */
export function viewOf(graph: Graph, zoomed: Frame | null): Record<Side, Span> {
  if (!zoomed) {
    const all = {from: 0, to: Math.max(1, graph.total)};
    return {lock: all, waits: all, holds: all};
  }
  const lock = zoomed.lock ?? zoomed;
  return {lock, waits: lock, holds: lock, [zoomed.side]: zoomed};
}

/** The frame at a position of a row. */
export function frameIn(row: readonly Frame[], at: number): Frame | null {
  let [low, high] = [0, row.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row[middle]!.to > at) high = middle;
    else low = middle + 1;
  }
  const found = row[low];
  return found && found.from <= at ? found : null;
}

/** The frame that an arrow key leads to; null: there is none. */
export function step(graph: Graph, frame: Frame, key: string): Frame | null {
  const outwards = frame.side === "holds" ? "ArrowDown" : "ArrowUp";
  const row = frame.side === "lock" ? graph.locks : graph[frame.side][frame.depth - 1]!;
  const at = row.indexOf(frame);
  switch (key) {
    case "ArrowLeft":
      return row[at - 1] ?? null;
    case "ArrowRight":
      return row[at + 1] ?? null;
    case "ArrowUp":
    case "ArrowDown":
      if (frame.side === "lock") {
        const next = graph[key === "ArrowUp" ? "waits" : "holds"][0] ?? [];
        return next.find((one) => one.lock === frame) ?? null;
      }
      if (key === outwards) return frame.children.find(({from, to}) => to > from) ?? null;
      return frame.parent ?? frame.lock;
    default:
      return null;
  }
}

/** A difference with its sign. */
export function signed(ns: number): string {
  return `${ns > 0 ? "+" : ns < 0 ? "−" : "±"}${duration(Math.abs(Math.round(ns)))}`;
}

/** What a frame says: its name, its time and share, and how it changed. */
export function describe(frame: Frame, graph: Graph): [name: string, time: string, change: string] {
  const {side, time, verdict, before} = frame;
  const number = many(frame.count, "wait");
  const of = frame.lock?.time ?? graph.locks.reduce((sum, lock) => sum + lock.time, 0);
  const part = `${percent(of ? time / of : 0)} of ${frame.lock ? "this lock" : "all"}`;
  const share = graph.locks.length > 1 || frame.lock ? `${duration(time)} (${part})` : duration(time);
  const what = {
    lock: `threads waited ${share}, ${number}`,
    waits: `threads waited ${share} here, ${number}`,
    holds: `threads waited ${share} while a holder did this; ${number} began meanwhile`,
  }[side];
  const change = verdict
    ? `${verdict}: ${signed(time - before)} compared with ${duration(Math.round(before))} before`
    : "";
  return [frame.name, what, change];
}

/** How much of the time of waits has a frame that fits; frames of both sides count for it once. */
export function shareFound(graph: Graph, fits: (frame: Frame) => boolean, side: "waits" | "holds"): number {
  let sum = 0;
  const visit = (frame: Frame) => {
    if (fits(frame)) sum += frame.to - frame.from;
    else frame.children.forEach(visit);
  };
  (graph[side][0] ?? []).forEach(visit);
  return graph.total ? sum / graph.total : 0;
}
