// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {fromHash, nothing, toHash} from "./link";
import {getWas} from "./was";

const was = {service: "orders", from: 1774721112000, to: 1774721113000, thread: "exec-1", lock: "OrderBook"};

test("a link says what it was", () => {
  const hash = toHash({...nothing, session: "a", was});
  assert.deepEqual(fromHash(hash).was, was);
  assert.ok(hash.length < 200, hash);
  assert.equal(fromHash(toHash({...nothing, session: "a"})).was, null);
});

test("links are untrusted", () => {
  const query = new URLSearchParams();
  query.set("was", `a\u202eb\n${"x".repeat(10_000)}`);
  query.set("began", "99999999999999999-1");
  query.set("who", "\u0000\u2066");
  const read = getWas(query)!;
  assert.equal(read.service, `a b ${"x".repeat(76)}`);
  assert.deepEqual([read.from, read.to, read.thread, read.lock], [0, 0, "", ""]);
  query.set("began", "1774721112000-1674721112000"); // the end is before the start
  assert.equal(getWas(query)!.to, 1774721112000);
  query.set("was", "😀".repeat(200));
  assert.equal(getWas(query)!.service, "😀".repeat(80)); // no half of a character
});
