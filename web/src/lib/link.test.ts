// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {fromHash, nothing, parseRuns, resolve, runs, type Shown, toHash} from "./link";

test("a link restores the view", () => {
  const shown: Shown = {
    session: "0af7651916cd43dd8448eb211c80319c",
    tab: "monitors",
    view: {from: 1_000_000_001, to: 2_500_000_003},
    range: {from: 0, to: 9_007_199_254_740_991},
    follow: false,
    hidden: ["runnable", "parked"],
    arrows: [],
    path: true,
    mode: "unbounded",
    pathThread: 17,
    grouping: "pool",
    order: "start",
    sorted: 0,
    filter: {only: [1, 2, 3, 9], pattern: "<img src=x> & #7", contended: true, platform: false, alive: true},
    moment: {time: 1_795_447_000_123_456, length: 546_000, thread: 12},
    thread: 12,
    seq: 4711,
    cast: [9, 4, 6],
    lock: 5,
    all: true,
    kind: "parked.queue",
    threads: [4, 5, 6, 20],
    classes: ["com.acme.OrderBook$1", "[B"],
    waits: "parked",
    by: "per_thread",
    query: "a=b&c",
    what: ["block", "notifyAll"],
    routes: ["GET /orders/{id}", ""],
    newest: true,
    kinds: ["deadlock", "lost_notify"],
    about: "Order & <book>",
    folded: ["main", "a.b c"],
    opened: ["com.acme.Orders.submit", "pool:http-*"],
    virtual: "virtual threads",
    top: 220,
    skip: 20,
    flame: "Orders.lock@com.acme.Lock&1",
    frames: ["waits", "com.acme.Orders.add", "~-2"],
    find: "add()",
    wide: "before",
    before: "a0000000000000000000000000000001",
    beforeRange: {from: 5, to: 10},
    was: null,
    requests: [1000, 1200],
  };
  assert.deepEqual(fromHash(`#${toHash(shown)}`), shown);
});

test("a moment is a part of the session", () => {
  const origin = "1795447000000000789"; // larger than a number holds exactly
  const {at, view} = resolve({time: 1_795_447_000_123_456, length: 100, thread: 12}, origin);
  assert.equal(at, 123_456_000 - 789 + 50_000);
  assert.deepEqual(view, {from: 123_456_000 - 789 - 100_000, to: 123_456_000 - 789 + 200_000});
  assert.equal(resolve({time: 1_795_446_000_000_000, length: 1, thread: 0}, origin).at, 0); // before the session
});

test("the default view has an empty link", () => {
  assert.equal(toHash(nothing), "");
  assert.deepEqual(fromHash(""), nothing);
});

test("invalid fields of a link are ignored", () => {
  const odd = fromHash(
    "#order=dear&kinds=a.b&view=9-3&range=x&tab=%3Cscript%3E&hide=blocked.frozen&at=1&lock=-3&group=7&threads=1-99999999999&kind=.b&all=x",
  );
  assert.deepEqual({...odd, threads: []}, {...nothing, hidden: ["blocked"]});
  assert.equal(odd.threads.length, 100_000);
});

test("runs are short and exact", () => {
  assert.equal(runs([5, 1, 2, 3, 9, 2]), "1-3.5.9");
  assert.deepEqual(parseRuns("1-3.5.9"), [1, 2, 3, 5, 9]);
  assert.deepEqual(parseRuns(""), []);
});
