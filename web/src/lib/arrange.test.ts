// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {arranged, castRows, mostSingle, pausesThread, rowOf, Settled, type Wish} from "./arrange";
import {type Entry, keyOf, stacked} from "./rows";
import type {ThreadRow} from "./types";

const none = {count: 0, time: 0};

/** A thread that lived for 100, of which it was blocked, idle, and in other waits for some time. */
function thread(id: number, name: string, blocked = 0, idle = 0, waited = 0): ThreadRow {
  const states = Array.from({length: 12}, () => none);
  states[1] = {count: 1, time: 100 - blocked - idle - waited};
  return {
    id,
    name,
    group: "main",
    pool: /\d/.test(name) ? name.replace(/\d+/g, "*") : "",
    daemon: false,
    jvm: name === "Finalizer" || name === "Reference Handler",
    only_idle: idle === 100,
    virtual: false,
    virtual_group: "",
    from: 1000 - id,
    to: 2000,
    dead: false,
    blocked: blocked > 0 ? {count: 1, time: blocked} : none,
    waited: {count: 1, time: waited},
    idle: {count: 1, time: idle},
    io: none,
    states,
    time: 100,
  };
}

function wish(threads: readonly ThreadRow[], more: Partial<Wish> = {}): Wish {
  const poolSizes = new Map<string, number>();
  for (const {pool} of threads) poolSizes.set(pool, (poolSizes.get(pool) ?? 0) + 1);
  return {order: "cost", opened: new Set(), chosen: 0, named: false, poolSizes, settled: new Settled(), ...more};
}

const keys = (entries: Entry[]) => stacked(entries).map(keyOf);

const few = [
  thread(1, "main"),
  thread(2, "worker-1", 10),
  thread(3, "worker-2", 30),
  thread(4, "worker-3", 0, 20, 40),
  thread(5, "idle-1", 0, 100),
  thread(6, "idle-2", 0, 100),
  thread(7, "Finalizer", 0, 100),
  thread(8, "Reference Handler"),
];
const many = [
  ...few,
  ...Array.from({length: mostSingle}, (_, i) => thread(100 + i, `exec-${i}`, i === 7 ? 90 : 0, 50)),
];

test("few threads have lanes in the order of what they cost, idle ones and those of the JVM share rows", () => {
  assert.deepEqual(keys(arranged(few, wish(few))), [3, 2, 4, 1, rowOf.idle, rowOf.jvm]);
  const paused = [...few, {...few[6]!, id: pausesThread, name: "JVM pauses"}];
  assert.deepEqual(keys(arranged(paused, wish(paused))), [pausesThread, 3, 2, 4, 1, rowOf.idle, rowOf.jvm]);
  const open = wish(few, {opened: new Set([rowOf.idle, rowOf.jvm])});
  assert.deepEqual(keys(arranged(few, open)), [3, 2, 4, 1, rowOf.idle, 5, 6, rowOf.jvm, 7, 8]);
  assert.deepEqual(keys(arranged(few, wish(few, {chosen: 6}))), [3, 2, 4, 1, rowOf.idle, 6, rowOf.jvm]);
  assert.deepEqual(keys(arranged(few, wish(few, {order: "name"}))), [1, 2, 3, 4, rowOf.idle, rowOf.jvm]);
  assert.deepEqual(keys(arranged(few, wish(few, {order: "start"}))), [4, 3, 2, 1, rowOf.idle, rowOf.jvm]);
});

test("a row of one thread is its lane, and threads that were named have lanes", () => {
  const two = [few[0]!, few[4]!, few[6]!];
  assert.deepEqual(keys(arranged(two, wish(two))), [1, 5, 7]);
  assert.deepEqual(keys(arranged(few, wish(few, {named: true}))), [3, 2, 4, 7, 5, 6, 1, 8]);
});

test("a thread of the JVM that is blocked has a lane", () => {
  const blocked = [...few.slice(0, 2), thread(9, "Finalizer", 50), few[7]!];
  assert.deepEqual(keys(arranged(blocked, wish(blocked))), [9, 2, 1, 8]);
});

test("of many threads, pools have rows, which open", () => {
  assert.deepEqual(keys(arranged(many, wish(many))), ["pool:exec-*", "pool:worker-*", 1, rowOf.idle, rowOf.jvm]);
  const open = keys(arranged(many, wish(many, {opened: new Set(["pool:exec-*"])})));
  assert.deepEqual(open.slice(0, 3), ["pool:exec-*", 107, 100]);
  assert.equal(open.length, 5 + mostSingle);
  const [pool] = arranged(many, wish(many, {chosen: 120}));
  assert.ok(pool?.kind === "virtual");
  assert.equal(pool.group.threads, mostSingle);
  assert.equal(pool.group.blocked.time, 90);
  assert.equal(pool.group.idle.time, 50 * mostSingle);
  assert.deepEqual(
    pool.members.map(({id}) => id),
    [120],
  );
});

test("a pool of which the filter leaves some threads has lanes", () => {
  const some = many.filter(({id}) => id !== 105);
  assert.equal(
    keys(arranged(some, wish(many, {settled: Object.assign(new Settled(), {pools: true})}))).includes("pool:exec-*"),
    false,
  );
});

test("the order by pool has a row for each pool of any session", () => {
  assert.deepEqual(keys(arranged(few, wish(few, {order: "pool"}))), ["pool:worker-*", 1, rowOf.idle, rowOf.jvm]);
});

test("rows of a live session stay where they are, and new ones come last", () => {
  const settled = new Settled();
  arranged(few, wish(few, {settled}));
  const later = few.map((one) =>
    one.id === 5 ? thread(5, "idle-1", 99) : one.id === 2 ? thread(2, "worker-1", 77) : one,
  );
  later.push(thread(20, "new", 100));
  assert.deepEqual(keys(arranged(later, wish(later, {settled}))), [3, 2, 4, 1, 20, 5, 6, rowOf.jvm]);
  assert.deepEqual(keys(arranged(later, wish(later))).slice(0, 3), [20, 5, 2]);
  const idle = few.map((one) => (one.id === 4 ? thread(4, "worker-3", 0, 100) : one));
  assert.deepEqual(keys(arranged(idle, wish(idle, {settled}))).slice(0, 4), [3, 2, 4, 1]);
});

test("an episode has its threads in their order, and a row for the others", () => {
  const cast = [few[3]!, few[0]!];
  const others = few.filter((one) => !cast.includes(one));
  const rows = (more: Partial<Wish> = {}) => {
    const by = wish(few, more);
    return castRows(cast, 478, others, by, () => arranged(others, by));
  };
  assert.deepEqual(keys(rows()), [4, 1, rowOf.rest]);
  const last = rows().at(-1);
  assert.ok(last?.kind === "group" && last.name === "478 other threads");
  assert.deepEqual(keys(rows({chosen: 2})), [4, 1, rowOf.rest, 2]);
  assert.deepEqual(keys(rows({opened: new Set([rowOf.rest])})), [4, 1, rowOf.rest, 3, 2, rowOf.idle, rowOf.jvm]);
  assert.deepEqual(keys(castRows(cast, 0, [], wish(few), () => [])), [4, 1]);
});
