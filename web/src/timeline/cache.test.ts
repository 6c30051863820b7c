// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {mock, test} from "node:test";
import {LaneCache} from "./cache";

interface Request {
  signal: AbortSignal;
  answer: (picture: string) => void;
}

/** A cache of one lane, and the requests that it makes. */
function cached(failed: (message: string | null) => void = () => {}) {
  const requests: Request[] = [];
  Object.assign(globalThis, {
    window: globalThis,
    fetch: (_: string, {signal}: {signal: AbortSignal}) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        requests.push({signal, answer: (picture) => resolve({ok: true, json: async () => picture})});
      }),
  });
  const cache = new LaneCache<number, {step: number; name: string}, string>(
    {part: "lanes", atOnce: 10, mostSteps: 1000, parameters: () => ({}), read: (name) => [[1, {step: 1, name}]]},
    () => {},
    failed,
  );
  const view = {from: 0, to: 1000};
  const want = (version: number, to = view.to) => {
    cache.follow("s", version, 1000);
    cache.want({from: 0, to}, 100, view, [1]);
    mock.timers.tick(100);
  };
  return {cache, requests, want, shown: () => cache.best(1, view)?.name};
}

const settled = () => new Promise((done) => setImmediate(done));

test("the answer for an older version does not replace a newer one that overtook it", async () => {
  mock.timers.enable({apis: ["setTimeout"]});
  const {cache, requests, want, shown} = cached();
  want(1);
  want(2);
  assert.equal(requests.length, 2);
  requests[1]!.answer("new");
  await settled();
  requests[0]!.answer("old");
  await settled();
  assert.equal(shown(), "new");
  assert.ok(cache.complete(), cache.describe());
  mock.timers.reset();
});

test("a request without an answer is repeated", async () => {
  mock.timers.enable({apis: ["setTimeout"]});
  const messages: (string | null)[] = [];
  const {cache, requests, want} = cached((message) => messages.push(message));
  want(1);
  mock.timers.tick(60_000);
  await settled();
  assert.deepEqual(messages, ["The collector does not respond. Is it running?"]);
  mock.timers.tick(3_000);
  assert.equal(requests.length, 2);
  requests[1]!.answer("late");
  await settled();
  assert.ok(cache.complete(), cache.describe());
  assert.deepEqual(messages.slice(1), [null]);
  mock.timers.reset();
});

test("a request that is no longer wanted is not repeated", async () => {
  mock.timers.enable({apis: ["setTimeout"]});
  const messages: (string | null)[] = [];
  const {cache, requests, want} = cached((message) => messages.push(message));
  want(1);
  cache.stop();
  await settled();
  mock.timers.tick(100_000);
  assert.ok(requests[0]!.signal.aborted);
  assert.equal(requests.length, 1);
  assert.deepEqual(messages, []);
  mock.timers.reset();
});

test("the answer for an earlier view does not push out what is wanted now", async () => {
  mock.timers.enable({apis: ["setTimeout"]});
  const {cache, requests, want} = cached();
  for (const to of [100, 200, 400, 800]) {
    want(1, to);
    requests.at(-1)!.answer(`to ${to}`);
    await settled();
  }
  want(1, 50);
  assert.equal(requests.length, 5);
  want(1, 100);
  assert.ok(cache.complete(), cache.describe());
  requests[4]!.answer("to 50");
  await settled();
  assert.ok(cache.complete(), cache.describe());
  mock.timers.reset();
});
