// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {decode, ids, mark, noState, run, runAt, strip} from "./lanes";
import type {Lanes, Thread} from "./types";

const thread: Thread = {
  id: 1,
  name: "main",
  group: "main",
  pool: "",
  daemon: false,
  jvm: false,
  virtual: false,
  virtual_group: "",
  from: 0,
  to: 1000,
  dead: false,
};

test("a code holds state, rest, share and marks", () => {
  const code = 2 | (1 << 4) | (12 << 8) | ((mark.stopped | mark.mixed) << 12);
  assert.deepEqual(decode(code), {state: 2, rest: 1, share: 0.8, marks: mark.stopped | mark.mixed});
});

test("runs cover the lane without gaps", () => {
  const lanes: Lanes = {
    from: 1000,
    to: 2000,
    step: 100,
    steps: 10,
    version: 1,
    total: 1,
    offset: 0,
    lanes: [
      {
        thread,
        width: [3, 1, 6],
        code: [noState, 2 | (15 << 4) | (15 << 8), 1 | (15 << 4) | (15 << 8)],
        labels: [{run: 1, text: "blocked OrderBook"}],
      },
    ],
  };
  const of = strip(lanes, lanes.lanes[0]!);
  assert.equal(runAt(of, 999), -1);
  assert.equal(runAt(of, 1000), 0);
  assert.equal(runAt(of, 1299.9), 0);
  assert.equal(runAt(of, 1300), 1);
  assert.equal(runAt(of, 1400), 2);
  assert.equal(runAt(of, 1999), 2);
  assert.equal(runAt(of, 2000), -1);
  assert.deepEqual([...of.labels], [[1, "blocked OrderBook"]]);
  assert.deepEqual([run(of, 0).state, run(of, 1).state, run(of, 2).from, run(of, 2).to], [noState, 2, 4, 10]);
  assert.equal(runAt(strip({...lanes, lanes: []}, {thread, width: [], code: [], labels: []}), 1000), -1);
});

test("ids are written as ranges", () => {
  assert.equal(ids([7, 1, 2, 3]), "1-3,7");
  assert.equal(ids([]), "");
});
