// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Which threads are shown, and in which rows.
import type {ThreadRow, VirtualGroup} from "./types";
import {stateNumber} from "./words";

export interface Filter {
  /** The threads selected by hand; null for all. */
  only: number[] | null;
  pattern: string;
  contended: boolean;
  platform: boolean;
  alive: boolean;
}

export const noFilter: Filter = {only: null, pattern: "", contended: false, platform: false, alive: false};

type Test = (thread: ThreadRow) => boolean;

/** Whether a thread was ever blocked. */
export function isHeldUp(thread: ThreadRow): boolean {
  return thread.blocked.count > 0 || thread.blocked.time > 0;
}

export function isDeadlocked(thread: ThreadRow): boolean {
  return (thread.states[stateNumber("deadlocked")]?.time ?? 0) > 0;
}

/** Each criterion returns a test, or null if it is not in use. To add one, add a line here and a field in the dialog. */
export const criteria: ((filter: Filter) => Test | null)[] = [
  ({only}) => {
    if (!only) return null;
    const set = new Set(only);
    return (thread) => set.has(thread.id);
  },
  ({pattern}) => matcher(pattern, (thread) => thread.name),
  ({contended}) => (contended ? (thread) => isHeldUp(thread) : null),
  ({platform}) => (platform ? (thread) => !thread.virtual : null),
  ({alive}) => (alive ? (thread) => !thread.dead : null),
];

/** Patterns: plain text matches a part, * and ? are wildcards, /…/ is a regular expression, and a leading ! negates. */
export function matcher<T>(pattern: string, text: (of: T) => string): ((of: T) => boolean) | null {
  const trimmed = pattern.trim();
  if (trimmed === "" || trimmed === "!") return null;
  const not = trimmed.startsWith("!");
  const expression = expressionOf(not ? trimmed.slice(1).trim() : trimmed);
  return (of) => expression.test(text(of)) !== not;
}

function expressionOf(pattern: string): RegExp {
  if (pattern.length > 1 && pattern.startsWith("/") && pattern.endsWith("/")) {
    try {
      return new RegExp(pattern.slice(1, -1), "i");
    } catch {
      // Not finished yet: taken literally.
    }
  }
  const escaped = pattern.replace(/[.+^${}()|[\]\\/]/g, "\\$&");
  if (!/[*?]/.test(pattern)) return new RegExp(escaped, "i");
  return new RegExp(`^${escaped.replace(/\*/g, ".*").replace(/\?/g, ".")}$`, "i");
}

export function filtered<T extends ThreadRow>(threads: readonly T[], filter: Filter): T[] {
  const tests = criteria.map((criterion) => criterion(filter)).filter((test) => test !== null);
  return threads.filter((thread) => tests.every((test) => test(thread)));
}

export function isFiltering(filter: Filter): boolean {
  return criteria.some((criterion) => criterion(filter) !== null);
}

export type Grouping = "none" | "group" | "pool";

const noGroup = "(no group)";
const noPool = "(no pool)";

/** A group of virtual threads, or a pool, with those members that have lanes: none unless it is open or one is selected. */
export interface Crowd {
  /** Its name among the open rows. */
  key: string;
  pool: boolean;
  /** All members of a pool, and how many of them are idle. */
  ids: number[];
  idle: number;
  group: VirtualGroup;
  open: boolean;
  members: ThreadRow[];
}

/** A row without its place. A group with a key is folded unless that is among the open rows; others are open unless they were folded. */
export type Entry =
  | {kind: "group"; name: string; key: string; members: number[]; folded: boolean}
  | (Crowd & {kind: "virtual"})
  | {kind: "thread"; thread: ThreadRow};

export type Row = Entry & {top: number; height: number};

export const rowHeight = 22;
export const groupHeight = 24;
export const virtualHeight = 44;

/** The most members of an open group of virtual threads, or an open pool, that have lanes: the first ones in the order of lanes. */
export const mostMembers = 200;

/** How the costliest members of a group are found: by what its threads lost most time with. */
export function costOf({blocked, states}: VirtualGroup): {sort: string; words: string} {
  const queued = stateNumber("queued");
  if (blocked.time > 0) return {sort: "blocked.time", words: "blocked longest"};
  if ((states[queued]?.time ?? 0) > 0) return {sort: `states.${queued}.time`, words: "queued longest"};
  return {sort: "time", words: "oldest"};
}

/** The groups of virtual threads that pass the filter, each with those members that have lanes. */
export function crowds(
  groups: readonly VirtualGroup[],
  members: readonly ThreadRow[],
  filter: Filter,
  opened: ReadonlySet<string>,
  chosen: number,
): Crowd[] {
  if (filter.platform) return [];
  const named = matcher(filter.pattern, (name: string) => name);
  const passed = filtered(members, filter);
  const only = new Set(filter.only);
  return groups
    .map((group) => {
      const open = opened.has(group.name);
      const shown = ({id}: ThreadRow) => open || id === chosen || only.has(id);
      return {
        key: group.name,
        pool: false,
        ids: [],
        idle: 0,
        group,
        open,
        members: passed.filter((one) => one.virtual_group === group.name && shown(one)),
      };
    })
    .filter(({group, members}) => {
      if (members.length > 0) return true;
      if (filter.contended && group.blocked.time === 0 && group.blocked.count === 0) return false;
      return !(filter.alive && group.alive === 0) && (!named || named(group.name));
    });
}

export function rowName(row: Row): string {
  return row.kind === "thread" ? row.thread.name : row.kind === "group" ? row.name : row.group.name;
}

/** What is selected with the arrow keys: a thread by its number, or a row by its key; null for one that cannot be selected. */
export function keyOf(row: Row): number | string | null {
  return row.kind === "thread" ? row.thread.id : row.key || null;
}

/** Groups of virtual threads and their lanes. */
export function crowdRows(crowds: readonly Crowd[]): Entry[] {
  return crowds.flatMap((crowd): Entry[] => [
    {kind: "virtual", ...crowd},
    ...crowd.members.map((thread): Entry => ({kind: "thread", thread})),
  ]);
}

/** Threads by group. Groups are sorted by name; threads without one come last. */
export function grouped(threads: readonly ThreadRow[], by: "group" | "pool", folded: ReadonlySet<string>): Entry[] {
  const groups = new Map<string, ThreadRow[]>();
  for (const thread of threads) {
    const name = by === "group" ? thread.group || noGroup : thread.pool || noPool;
    const group = groups.get(name);
    if (group) group.push(thread);
    else groups.set(name, [thread]);
  }
  const names = [...groups.keys()].sort((a, b) => Number(a === noPool) - Number(b === noPool) || a.localeCompare(b));
  return names.flatMap((name): Entry[] => {
    const members = groups.get(name)!;
    const head = {kind: "group" as const, name, key: "", members: members.map(({id}) => id), folded: folded.has(name)};
    return [head, ...(head.folded ? [] : members.map((thread): Entry => ({kind: "thread", thread})))];
  });
}

const heights = {thread: rowHeight, group: groupHeight, virtual: virtualHeight};

/** Gives each row its place, from top to bottom. */
export function stacked(entries: readonly Entry[]): Row[] {
  let top = 0;
  return entries.map((entry) => {
    const height = heights[entry.kind];
    top += height;
    return {...entry, top: top - height, height};
  });
}

/** The index of the row at a height; -1 above the first. */
export function rowAt(list: readonly Row[], y: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]!.top <= y) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
