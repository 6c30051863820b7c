// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {nextSort, select, sorted} from "./table";

test("sorting is stable and natural", () => {
  const rows = ["worker-10", "worker-2", "Worker-1", "main"];
  assert.deepEqual(
    sorted(rows, (row) => row, "asc"),
    ["main", "Worker-1", "worker-2", "worker-10"],
  );
  const equal = [
    {n: 1, at: 0},
    {n: 2, at: 1},
    {n: 1, at: 2},
  ];
  assert.deepEqual(
    sorted(equal, (row) => row.n, "desc").map((row) => row.at),
    [1, 0, 2],
  );
});

test("numbers are descending at first, and a second click reverses the order", () => {
  let sort = nextSort({key: "name", order: "asc"}, "time", true);
  assert.deepEqual(sort, {key: "time", order: "desc"});
  sort = nextSort(sort, "time", true);
  assert.deepEqual(sort, {key: "time", order: "asc"});
  assert.deepEqual(nextSort(sort, "name", false), {key: "name", order: "asc"});
});

test("clicks select one, several and ranges", () => {
  const all = [1, 2, 3, 4, 5];
  assert.deepEqual(select(all, [1], 1, 3, false, false), [3]);
  assert.deepEqual(select(all, [3], 3, 3, false, false), []);
  assert.deepEqual(select(all, [3], 3, 5, true, false), [3, 5]);
  assert.deepEqual(select(all, [3, 5], 5, 3, true, false), [5]);
  assert.deepEqual(select(all, [4], 4, 2, false, true), [2, 3, 4]);
  assert.deepEqual(select(all, [1, 4], 4, 5, true, true), [1, 4, 5]);
  assert.deepEqual(select(all, [1], 9, 5, false, true), [5]);
});
