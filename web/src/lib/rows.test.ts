// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {
  costOf,
  crowdRows,
  crowds,
  filtered,
  grouped,
  isDeadlocked,
  isFiltering,
  keyOf,
  noFilter,
  rowAt,
  rowName,
  stacked,
} from "./rows";
import type {ThreadRow, VirtualGroup} from "./types";

function thread(id: number, name: string, more: Partial<ThreadRow> = {}): ThreadRow {
  const none = {count: 0, time: 0};
  return {
    id,
    name,
    group: "main",
    pool: "",
    daemon: false,
    jvm: false,
    only_idle: false,
    virtual: false,
    virtual_group: "",
    from: 0,
    to: 100,
    dead: false,
    blocked: none,
    waited: none,
    idle: none,
    io: none,
    states: [],
    time: 100,
    ...more,
  };
}

const threads = [
  thread(1, "main"),
  thread(2, "pool-1-thread-1", {blocked: {count: 3, time: 9}, pool: "pool-1-thread-*"}),
  thread(3, "pool-1-thread-2", {to: 50, dead: true, pool: "pool-1-thread-*"}),
  thread(4, "Reference Handler", {group: "system"}),
  thread(5, "<img src=x onerror=alert(1)>", {virtual: true}),
];
const ids = (list: ThreadRow[]) => list.map((one) => one.id);

test("patterns match parts, wildcards and expressions, and can be negated", () => {
  const by = (pattern: string) => ids(filtered(threads, {...noFilter, pattern}));
  assert.deepEqual(by("THREAD"), [2, 3]);
  assert.deepEqual(by("pool-*-1"), [2]);
  assert.deepEqual(by("/^(main|ref)/"), [1, 4]);
  assert.deepEqual(by("!pool"), [1, 4, 5]);
  assert.deepEqual(by("/("), []);
  assert.deepEqual(by("(1)"), [5]);
  assert.deepEqual(by("  "), [1, 2, 3, 4, 5]);
});

test("criteria narrow each other", () => {
  assert.deepEqual(ids(filtered(threads, {...noFilter, contended: true})), [2]);
  assert.deepEqual(ids(filtered(threads, {...noFilter, platform: true, alive: true})), [1, 2, 4]);
  assert.deepEqual(ids(filtered(threads, {...noFilter, only: [3, 4], pattern: "pool"})), [3]);
  assert.equal(isFiltering(noFilter), false);
  assert.equal(isFiltering({...noFilter, only: []}), true);
});

test("a thread in that state is deadlocked", () => {
  const states = Array.from({length: 11}, (_, i) => ({count: 0, time: i === 8 ? 7 : 0}));
  assert.equal(isDeadlocked(thread(1, "stuck", {states})), true);
  assert.equal(isDeadlocked(thread(1, "free")), false);
});

test("rows have no gaps in any grouping, and each height has its row", () => {
  for (const grouping of ["group", "pool"] as const) {
    const list = stacked(grouped(threads, grouping, new Set()));
    assert.deepEqual(list.filter((row) => row.kind === "thread").length, threads.length);
    let top = 0;
    list.forEach((row, i) => {
      assert.equal(row.top, top);
      assert.equal(rowAt(list, top), i);
      assert.equal(rowAt(list, top + row.height - 1), i);
      top += row.height;
    });
  }
  assert.equal(rowAt(stacked(grouped(threads, "pool", new Set())), -1), -1);
});

test("a folded group keeps its head", () => {
  const list = stacked(grouped(threads, "pool", new Set(["pool-1-thread-*"])));
  const head = list.find((row) => row.kind === "group" && row.folded);
  assert.ok(head?.kind === "group" && head.members.length === 2);
  assert.equal(list.filter((row) => row.kind === "thread").length, 3);
  assert.equal(keyOf(head), null);
  assert.equal(rowName(head), "pool-1-thread-*");
});

function group(name: string, threads: number, more: Partial<VirtualGroup> = {}): VirtualGroup {
  const none = {count: 0, time: 0};
  return {
    name,
    threads,
    alive: 0,
    blocked: none,
    waited: none,
    idle: none,
    io: none,
    states: [],
    time: 100,
    over_time: [],
    ...more,
  };
}

test("groups of virtual threads are folded", () => {
  const groups = [group("orders", 60_000), group("prices", 40_000)];
  const members = [
    thread(9, "", {virtual: true, virtual_group: "prices"}),
    thread(8, "", {virtual: true, virtual_group: "orders"}),
  ];
  const names = (opened: string[], chosen = 0, filter = noFilter) => {
    const list = stacked(crowdRows(crowds(groups, members, filter, new Set(opened), chosen)));
    for (const [i, row] of list.entries()) if (i > 0) assert.equal(row.top, list[i - 1]!.top + list[i - 1]!.height);
    return list.map(keyOf);
  };
  assert.deepEqual(names([]), ["orders", "prices"]);
  assert.deepEqual(names(["prices"]), ["orders", "prices", 9]);
  assert.deepEqual(names([], 8), ["orders", 8, "prices"]); // the selected one has a lane
  assert.deepEqual(names([], 0, {...noFilter, only: [9]}), ["orders", "prices", 9]);
  assert.deepEqual(names(["prices"], 0, {...noFilter, platform: true}), []);
  assert.deepEqual(names([], 0, {...noFilter, pattern: "ord"}), ["orders"]);
  assert.deepEqual(names([], 0, {...noFilter, alive: true}), []);
});

test("the costliest members are those that lost most time", () => {
  const queued = Array.from({length: 12}, (_, i) => ({count: 0, time: i === 11 ? 5 : 0}));
  assert.equal(costOf(group("a", 1, {blocked: {count: 1, time: 7}, states: queued})).sort, "blocked.time");
  assert.equal(costOf(group("a", 1, {states: queued})).sort, "states.11.time");
  assert.equal(costOf(group("a", 1)).sort, "time");
});
