// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {type Fitting, fit, noLayout, parseLayout, resized, turned} from "./fit";

const column = (key: string, width: number, priority = 1, grow = false): Fitting => ({key, width, priority, grow});
const columns = [column("name", 100, 0, true), column("id", 50, 3), column("time", 80), column("max", 80, 2)];

test("the columns that matter most are shown, and the widths fill the table", () => {
  assert.deepEqual(
    [...fit(columns, 400, noLayout)],
    [
      ["name", 190],
      ["id", 50],
      ["time", 80],
      ["max", 80],
    ],
  );
  assert.deepEqual(
    [...fit(columns, 309, noLayout)],
    [
      ["name", 149],
      ["time", 80],
      ["max", 80],
    ],
  );
  assert.deepEqual(
    [...fit(columns, 259, noLayout)],
    [
      ["name", 179],
      ["time", 80],
    ],
  );
  assert.deepEqual([...fit(columns, 20, noLayout)], [["name", 100]]);
});

test("for every width, nothing is wider than the table but what must be shown", () => {
  for (let room = 100; room < 600; room++) {
    const sum = [...fit(columns, room, noLayout).values()].reduce((a, b) => a + b, 0);
    assert.equal(sum, room);
  }
});

test("without a column that grows, all share the rest", () => {
  assert.deepEqual(
    [...fit([column("a", 50), column("b", 60)], 131, noLayout)],
    [
      ["a", 60],
      ["b", 71],
    ],
  );
});

test("a chosen column takes the place of another one, and may exceed the width", () => {
  const layout = turned(noLayout, "id", false);
  assert.deepEqual([...fit(columns, 309, layout).keys()], ["name", "id", "time"]);
  assert.deepEqual([...fit(columns, 100, layout).keys()], ["name", "id"]);
  assert.deepEqual([...fit(columns, 400, turned(layout, "time", true)).keys()], ["name", "id", "max"]);
  assert.deepEqual(turned(turned(noLayout, "id", false), "id", true), {widths: {}, on: [], off: ["id"]});
  assert.ok(fit(columns, 400, turned(noLayout, "name", true)).has("name"), "some columns cannot be left out");
});

test("a width stays as the user set it, within limits", () => {
  const layout = resized(noLayout, "time", 150.4);
  const widths = (room: number, of = layout) => [...fit(columns, room, of).values()];
  assert.deepEqual(widths(370), [140, 150, 80]);
  assert.deepEqual(widths(400, resized(noLayout, "name", 120)), [120, 73, 103, 104]);
  assert.deepEqual(resized(layout, "time"), noLayout);
  assert.equal(resized(layout, "time", 1).widths.time, 40);
});

test("a stored layout is untrusted", () => {
  const layout = {widths: {a: 120}, on: ["b"], off: ["c"]};
  assert.deepEqual(parseLayout(JSON.stringify(layout)), layout);
  for (const text of [null, "", "{", "null", "3", '"x"', "[]", '{"widths":null,"on":3,"off":{}}', '{"widths":[]}']) {
    assert.deepEqual(parseLayout(text), noLayout, String(text));
  }
  assert.deepEqual(parseLayout('{"widths":{"a":"1","b":1e9,"c":-5,"d":null},"on":[1,"x",null]}'), {
    widths: {b: 2000, c: 40},
    on: ["x"],
    off: [],
  });
  const long = parseLayout(JSON.stringify({on: Array.from({length: 999}, (_, i) => `k${i}`)}));
  assert.equal(long.on.length, 100);
});
