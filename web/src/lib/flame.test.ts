// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {describe, findFrame, frameIn, graphOf, lockParameters, pathOf, shareFound, signed, step, viewOf} from "./flame";
import type {Flame, FlameLock, FlameTree} from "./types";

function lock(name: string, full: string, time: number, before = 0, verdict = "", folded = 0): FlameLock {
  return {
    name,
    class: full,
    kind: "lock",
    folded,
    sum: {count: 2, time},
    before: {count: 1, time: before},
    verdict,
    longest: null,
  };
}

function tree(nodes: [parent: number, name: number, time: number, before?: number, verdict?: number][]): FlameTree {
  return {
    parent: nodes.map(([parent]) => parent),
    name: nodes.map(([, name]) => name),
    time: nodes.map(([, , time]) => time),
    count: nodes.map(() => 1),
    thread: nodes.map((_, i) => i + 1),
    seq: nodes.map((_, i) => i + 10),
    before: nodes.flatMap(([, , , before]) => (before === undefined ? [] : [before])),
    verdict: nodes.flatMap(([, , , , verdict]) => (verdict === undefined ? [] : [verdict])),
  };
}

const names = ["com.acme.Matcher.match", "com.acme.Main.run", "com.acme.Report.write"];

function flame(): Flame {
  return {
    from: 0,
    to: 1000,
    baseline: null,
    sum: {count: 4, time: 100},
    before: {count: 0, time: 0},
    total: 2,
    names,
    folded: 0,
    locks: [lock("Book.lock", "java.Lock", 70), lock("", "com.acme.Queue", 30)],
    waiters: tree([
      [-1, 0, 60],
      [0, 1, 50],
      [-1, -1, 10],
      [-2, -2, 30],
    ]),
    holders: tree([
      [-1, -16 - 6, 40],
      [0, 2, 40],
      [-1, -3, 30],
      [-2, -5, 30],
      [3, 0, 30],
    ]),
  };
}

test("both sides of a lock are as wide as the lock", () => {
  const graph = graphOf(flame());
  assert.equal(graph.total, 100);
  assert.deepEqual(
    graph.locks.map(({label, from, to}) => [label, from, to]),
    [
      ["Book.lock", 0, 70],
      ["Queue", 70, 100],
    ],
  );
  for (const side of ["waits", "holds"] as const) {
    for (const one of graph.locks) {
      const row = graph[side][0]!.filter(({lock}) => lock === one);
      assert.equal(row[0]!.from, one.from);
      assert.equal(row.at(-1)!.to, one.to);
    }
  }
  assert.deepEqual(
    graph.holds.map((row) => row.map(({label}) => label)),
    [
      ["asleep", "(holder not known)", "running, after it took the lock in"],
      ["Report.write", "Matcher.match"],
    ],
  );
  assert.deepEqual(
    graph.holds.flat().map(({state}) => state),
    ["sleeping", null, "runnable", "sleeping", "runnable"],
  );
});

test("a link names a frame", () => {
  const graph = graphOf(flame());
  for (const frame of [...graph.locks, ...graph.waits.flat(), ...graph.holds.flat()]) {
    const {lock, path} = pathOf(frame);
    assert.equal(findFrame(graph, lock, path), frame);
  }
  assert.equal(findFrame(graph, "gone@", []), null);
  assert.equal(findFrame(graph, "Book.lock@java.Lock", ["waits", names[0]!, "gone"])?.name, names[0]);
  assert.deepEqual(lockParameters("a@b@java.Lock"), {lock: ["a@b"], class: ["java.Lock"]});
  assert.deepEqual(lockParameters("Pool@"), {lock: ["Pool"]});
  assert.deepEqual(lockParameters(""), {});
});

test("a zoomed frame fills its side, and its lock the other one", () => {
  const graph = graphOf(flame());
  const frame = graph.waits[1]![0]!;
  const view = viewOf(graph, frame);
  assert.deepEqual([view.waits.from, view.waits.to], [0, 50]);
  assert.deepEqual([view.holds.from, view.holds.to, view.lock.to], [0, 70, 70]);
  assert.deepEqual(viewOf(graph, null).waits, {from: 0, to: 100});
});

test("the frame under the pointer", () => {
  const graph = graphOf(flame());
  assert.equal(frameIn(graph.waits[1]!, 49)?.name, "com.acme.Main.run");
  assert.equal(frameIn(graph.waits[1]!, 50), null);
  assert.equal(frameIn(graph.locks, 70)?.label, "Queue");
});

test("arrow keys lead to neighbors", () => {
  const graph = graphOf(flame());
  const [first, second] = graph.locks;
  assert.equal(step(graph, first!, "ArrowRight"), second);
  assert.equal(step(graph, second!, "ArrowRight"), null);
  const wait = step(graph, first!, "ArrowUp")!;
  assert.equal(wait.name, names[0]);
  assert.equal(step(graph, wait, "ArrowUp")?.name, names[1]);
  assert.equal(step(graph, wait, "ArrowDown"), first);
  assert.equal(step(graph, step(graph, first!, "ArrowDown")!, "ArrowDown")?.name, names[2]);
});

test("a frame says its time, its share and how it changed", () => {
  const plain = graphOf(flame());
  assert.deepEqual(describe(plain.waits[0]![0]!, plain), [
    names[0],
    "threads waited 60 ns (86 % of this lock) here, 1 wait",
    "",
  ]);
  const data = flame();
  data.baseline = {session: "", from: 0, to: 500, unit: "second", scale: 2};
  data.locks[0] = lock("Book.lock", "java.Lock", 70, 10, "worse");
  data.locks[1] = lock("", "com.acme.Queue", 30, 40, "better");
  data.waiters = tree([
    [-1, 0, 70, 10, 1],
    [-2, 1, 30, 40, 2],
  ]);
  const graph = graphOf(data);
  assert.equal(describe(graph.locks[0]!, graph)[2], "worse: +50 ns compared with 20 ns before");
  assert.equal(describe(graph.waits[0]![1]!, graph)[2], "better: −50 ns compared with 80 ns before");
  const before = graphOf(data, "before");
  assert.equal(before.total, 100);
  assert.deepEqual([before.locks[0]!.to, before.locks[1]!.to], [20, 100]);
});

test("how much is found", () => {
  const graph = graphOf(flame());
  const has = (text: string) => (frame: {name: string}) => frame.name.includes(text);
  assert.equal(shareFound(graph, has("acme"), "waits"), 0.6);
  assert.equal(shareFound(graph, has("Report"), "holds"), 0.4);
  assert.equal(signed(-1500), "−1.5 µs");
  assert.equal(signed(0), "±0");
});
