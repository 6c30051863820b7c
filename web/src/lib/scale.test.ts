// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {around, clamp, fetched, pan, shorter, ticks, toPixel, toTime, zoom} from "./scale";

const limits = {from: 0, to: 1e10};

test("zooming keeps the time under the pointer in place", () => {
  let view = {from: 0, to: 1e10};
  const at = 3.7e9;
  const pixel = toPixel(view, 1000, at);
  for (let i = 0; i < 40; i++) {
    view = zoom(view, at, 0.8, limits);
    assert.ok(Math.abs(toPixel(view, 1000, at) - pixel) < 1e-3, `step ${i}`);
  }
});

test("zooming in and out restores the view", () => {
  const view = {from: 2e9, to: 4e9};
  const back = zoom(zoom(view, 3e9, 0.5, limits), 3e9, 2, limits);
  assert.ok(Math.abs(back.from - view.from) < 1 && Math.abs(back.to - view.to) < 1);
});

test("a view never exceeds the limits or becomes too short", () => {
  assert.deepEqual(clamp({from: -5, to: 5}, {from: 0, to: 100}), {from: 0, to: 50});
  assert.deepEqual(pan({from: 0, to: 1e9}, -1e9, limits), {from: 0, to: 1e9});
  assert.deepEqual(pan({from: 9e9, to: 1e10}, 1e9, limits), {from: 9e9, to: 1e10});
  assert.deepEqual(clamp({from: -1e12, to: 1e12}, limits), limits);
  const near = zoom({from: 1000, to: 1100}, 1050, 1e-9, limits);
  assert.equal(near.to - near.from, 50);
});

test("pixels and times convert both ways", () => {
  const view = {from: 123_456, to: 987_654_321};
  for (const time of [123_456, 500_000_000, 987_654_321]) {
    assert.ok(Math.abs(toTime(view, 1280, toPixel(view, 1280, time)) - time) < 1e-3);
  }
});

test("ticks are round and far enough apart", () => {
  for (const shown of [100, 1e3, 3.3e6, 7e9, 4e13]) {
    const {step, times} = ticks({from: 17, to: 17 + shown}, 1000, 100);
    assert.ok(/^[125]0*$/.test(String(step)), String(step));
    assert.ok(times.length <= 11 && times.length >= 2, String(times.length));
    assert.ok(times.every((time) => Math.round(time) % step === 0));
  }
});

test("a small move needs no new request, and a request covers the view", () => {
  const asked = fetched({from: 4e9, to: 5e9}, 1000, limits);
  const moved = fetched({from: 4.001e9, to: 5.001e9}, 1000, limits);
  assert.deepEqual(asked, moved);
  for (let from = 0; from < 9e9; from += 1.37e8) {
    const view = {from, to: from + 1e9};
    const asked = fetched(view, 1000, limits);
    assert.ok(asked.from <= view.from && asked.to >= view.to);
    assert.ok((asked.to - asked.from) / asked.cell <= 3000);
  }
});

test("around leaves a margin on both sides", () => {
  const view = around({from: 1e9, to: 2e9}, limits);
  assert.ok(view.from < 1e9 && view.to > 2e9);
});

test("a range with too many intervals is shortened", () => {
  const session = {from: 0, to: 100e9, intervals: 10_000_000};
  assert.deepEqual(shorter(session, null), {from: 90e9, to: 100e9});
  assert.deepEqual(shorter(session, {from: 0, to: 50e9}), {from: 40e9, to: 50e9});
  // Refused although few lie in it on average: they do not lie evenly.
  assert.deepEqual(shorter(session, {from: 90e9, to: 100e9}), {from: 95e9, to: 100e9});
  assert.deepEqual(shorter({from: 0, to: 0, intervals: 0}, null), {from: 0, to: 0});
});
