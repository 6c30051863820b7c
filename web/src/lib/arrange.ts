// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Which rows the lanes have, and in which order: single threads, pools, and those that are folded since nothing happens in them.
import {many} from "./format";
import {type Crowd, type Entry, isDeadlocked, mostMembers} from "./rows";
import {compare} from "./table";
import type {StateTime, ThreadRow, VirtualGroup} from "./types";
import {stateNumber} from "./words";

export const orders = ["cost", "name", "start", "pool"] as const;
export type LaneOrder = (typeof orders)[number];

/** The least threads of a pool that share a row. */
const poolSize = 3;

/** Up to this many threads that are not idle, all of them have lanes: about two screens, in which a blocked thread is still found. */
export const mostSingle = 60;

/** The names of rows that are open, as in a link: groups of virtual threads have their names. */
export const rowOf = {
  pool: (name: string) => `pool:${name}`,
  idle: "rows:idle",
  jvm: "rows:jvm",
  rest: "rows:rest",
};

/** What was decided for the rows so far: in a live session, rows stay where they are, and new ones come last. */
export class Settled {
  private places = new Map<string, number>();
  pools = false;
  constructor(readonly key = "") {}

  has(row: string): boolean {
    return this.places.has(row);
  }

  /** Sorts rows by place; those without one come last, in their order, and get one. */
  sort<T>(rows: T[], nameOf: (row: T) => string): T[] {
    for (const row of rows) {
      const name = nameOf(row);
      if (!this.places.has(name)) this.places.set(name, this.places.size);
    }
    return rows.sort((a, b) => this.places.get(nameOf(a))! - this.places.get(nameOf(b))!);
  }
}

export interface Wish {
  order: LaneOrder;
  opened: ReadonlySet<string>;
  /** The ID of the selected thread, which has a lane in any case. */
  chosen: number;
  /** The filter names threads: all of those have lanes. */
  named: boolean;
  /** How many threads each pool has, whether they pass the filter or not. */
  poolSizes: ReadonlyMap<string, number>;
  settled: Settled;
}

interface Item {
  name: string;
  pool: string;
  from: number;
  sum: Sums;
  entries: Entry[];
}

type Sums = Pick<VirtualGroup, "blocked" | "waited" | "idle" | "states" | "time">;

/** The pseudo thread whose waits are the pauses of the JVM. */
export const pausesThread = 2 ** 53 - 2;

const running = stateNumber("runnable");
const unknown = stateNumber("unknown");

/** Time in waits that are neither contended nor idle. */
function otherWaits({time, idle, blocked, states}: Sums): number {
  return time - idle.time - blocked.time - (states[running]?.time ?? 0) - (states[unknown]?.time ?? 0);
}

/** The comparison of an order; equal rows are in the order of their names. */
const comparisons: Record<LaneOrder, (a: Item, b: Item) => number> = {
  cost: (a, b) => b.sum.blocked.time - a.sum.blocked.time || otherWaits(b.sum) - otherWaits(a.sum),
  name: () => 0,
  start: (a, b) => a.from - b.from,
  pool: (a, b) => Number(a.pool === "") - Number(b.pool === "") || compare(a.pool, b.pool),
};

/** The threads of an episode in their order, then a row for all others. */
export function castRows(
  cast: readonly ThreadRow[],
  others: number,
  rest: ThreadRow[],
  wish: Wish,
  open: () => Entry[],
): Entry[] {
  const rows: Entry[] = cast.map((thread) => ({kind: "thread", thread}));
  if (others === 0) return rows;
  const name = many(others, "other thread");
  const folded = !wish.opened.has(rowOf.rest);
  rows.push({kind: "group", name, key: rowOf.rest, members: rest.map(({id}) => id), folded});
  if (!folded) rows.push(...open());
  else rows.push(...chosenOf(rest, wish));
  return rows;
}

/** The rows of platform threads. The pauses of the JVM come first: they stop all threads below. */
export function arranged(threads: readonly ThreadRow[], wish: Wish): Entry[] {
  const {settled, order} = wish;
  const quiet = (thread: ThreadRow) =>
    !wish.named && !settled.has(laneName(thread)) && thread.blocked.count === 0 && !isDeadlocked(thread);
  const ofJVM = threads.filter(
    (thread) => thread.jvm && thread.id !== pausesThread && thread.blocked.time === 0 && quiet(thread),
  );
  const own = new Set(ofJVM);
  const pauses = threads.filter(({id}) => id === pausesThread);
  const others = threads.filter((thread) => !own.has(thread) && thread.id !== pausesThread);
  const isIdle = (thread: ThreadRow) => thread.only_idle && quiet(thread);
  settled.pools ||= others.filter((thread) => !isIdle(thread)).length > mostSingle;
  const pools = settled.pools || order === "pool" ? poolsOf(others, wish) : [];
  const pooled = new Set(pools.flat());
  const single = others.filter((thread) => !pooled.has(thread) && !isIdle(thread));
  const idle = others.filter((thread) => !pooled.has(thread) && isIdle(thread));
  const items = [...pools.map((members) => poolItem(members, wish)), ...single.map(laneItem)];
  items.sort((a, b) => comparisons[order](a, b) || compare(a.name, b.name));
  const rows =
    order === "cost"
      ? settled.sort(items, ({name, pool, entries}) =>
          entries[0]!.kind === "thread" ? laneName(entries[0]!.thread) : rowOf.pool(pool || name),
        )
      : items;
  return [
    ...pauses.map((thread): Entry => ({kind: "thread", thread})),
    ...rows.flatMap(({entries}) => entries),
    ...foldedRow("Idle threads", rowOf.idle, idle, wish),
    ...foldedRow("JVM threads", rowOf.jvm, ofJVM, wish),
  ];
}

function laneName({id}: ThreadRow): string {
  return String(id);
}

function laneItem(thread: ThreadRow): Item {
  return {name: thread.name, pool: thread.pool, from: thread.from, sum: thread, entries: [{kind: "thread", thread}]};
}

/** The pools with a row: large ones, of which the filter leaves all threads and one is not idle. */
function poolsOf(threads: readonly ThreadRow[], {poolSizes, settled, order, named}: Wish): ThreadRow[][] {
  const pools = new Map<string, ThreadRow[]>();
  for (const thread of threads) {
    if (thread.pool === "") continue;
    const members = pools.get(thread.pool);
    if (members) members.push(thread);
    else pools.set(thread.pool, [thread]);
  }
  const busy = (name: string, members: ThreadRow[]) =>
    order === "pool" || settled.has(rowOf.pool(name)) || members.some((thread) => !thread.only_idle);
  return [...pools]
    .filter(([name, members]) => members.length >= poolSize && members.length === poolSizes.get(name))
    .filter(([name, members]) => !named && busy(name, members))
    .map(([, members]) => members);
}

function poolItem(members: ThreadRow[], wish: Wish): Item {
  const pool = members[0]!.pool;
  const open = wish.opened.has(rowOf.pool(pool));
  const group = sumOf(pool, members);
  const items = members.map(laneItem);
  if (open) items.sort((a, b) => comparisons[wish.order](a, b) || compare(a.name, b.name));
  const shown = open ? items.slice(0, mostMembers).map(({entries}) => entries[0]!) : [];
  const crowd: Crowd = {
    key: rowOf.pool(pool),
    pool: true,
    ids: members.map(({id}) => id),
    idle: members.filter((thread) => thread.only_idle).length,
    group,
    open,
    members: shown.flatMap((entry) => (entry.kind === "thread" ? [entry.thread] : [])),
  };
  if (!crowd.members.some(({id}) => id === wish.chosen)) {
    crowd.members.push(...members.filter(({id}) => id === wish.chosen));
  }
  const from = Math.min(...members.map((one) => one.from));
  return {
    name: pool,
    pool,
    from,
    sum: group,
    entries: [{kind: "virtual", ...crowd}, ...crowd.members.map((thread): Entry => ({kind: "thread", thread}))],
  };
}

function plus(a: StateTime, b: StateTime): StateTime {
  return {count: a.count + b.count, time: a.time + b.time};
}

function sumOf(name: string, members: readonly ThreadRow[]): VirtualGroup {
  const none = {count: 0, time: 0};
  const group: VirtualGroup = {
    name,
    threads: members.length,
    alive: 0,
    blocked: none,
    waited: none,
    idle: none,
    io: none,
    states: [],
    time: 0,
    over_time: [],
  };
  for (const thread of members) {
    if (!thread.dead) group.alive++;
    for (const sum of ["blocked", "waited", "idle", "io"] as const) group[sum] = plus(group[sum], thread[sum]);
    thread.states.forEach((time, i) => {
      group.states[i] = plus(group.states[i] ?? none, time);
    });
    group.time += thread.time;
  }
  return group;
}

function chosenOf(threads: readonly ThreadRow[], {chosen}: Wish): Entry[] {
  return threads.filter(({id}) => id === chosen).map((thread) => ({kind: "thread", thread}));
}

/** A row for threads in which nothing happens. A single one has its lane. */
function foldedRow(name: string, key: string, threads: readonly ThreadRow[], wish: Wish): Entry[] {
  const folded = threads.length > 1 && !wish.opened.has(key);
  const head: Entry = {kind: "group", name, key, members: threads.map(({id}) => id), folded};
  if (folded) return [head, ...chosenOf(threads, wish)];
  const byStart = (a: Item, b: Item) => (wish.order === "start" ? a.from - b.from : 0);
  const items = threads.map(laneItem).sort((a, b) => byStart(a, b) || compare(a.name, b.name));
  return [...(threads.length > 1 ? [head] : []), ...items.flatMap(({entries}) => entries)];
}
