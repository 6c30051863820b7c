// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {filtered, isDeadlocked, isFiltering, noFilter, rowAt, rows} from "./rows";
import type {ThreadRow} from "./types";

function thread(id: number, name: string, more: Partial<ThreadRow> = {}): ThreadRow {
  const none = {count: 0, time: 0};
  return {
    id,
    name,
    group: "main",
    pool: "",
    daemon: false,
    virtual: false,
    from: 0,
    to: 100,
    dead: false,
    blocked: none,
    waited: none,
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
  for (const grouping of ["none", "group", "pool"] as const) {
    const list = rows(threads, grouping, new Set());
    assert.deepEqual(list.filter((row) => row.kind === "thread").length, threads.length);
    let top = 0;
    list.forEach((row, i) => {
      assert.equal(row.top, top);
      assert.equal(rowAt(list, top), i);
      assert.equal(rowAt(list, top + row.height - 1), i);
      top += row.height;
    });
  }
  assert.equal(rowAt(rows(threads, "none", new Set()), -1), -1);
});

test("a folded group keeps its head", () => {
  const list = rows(threads, "pool", new Set(["pool-1-thread-*"]));
  const head = list.find((row) => row.kind === "group" && row.folded);
  assert.ok(head?.kind === "group" && head.members.length === 2);
  assert.equal(list.filter((row) => row.kind === "thread").length, 3);
});
