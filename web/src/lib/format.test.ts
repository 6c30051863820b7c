// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {
  bytes,
  count,
  duration,
  ends,
  exact,
  instant,
  many,
  marked,
  percent,
  shortClass,
  shortened,
  shortMethod,
  timeOfDay,
} from "./format";

test("durations are short and use a suitable unit", () => {
  const cases: [number, string][] = [
    [0, "0"],
    [1, "1 ns"],
    [999, "999 ns"],
    [1_500, "1.5 µs"],
    [12_340, "12.3 µs"],
    [1_380_000, "1.38 ms"],
    [138_000_000, "138 ms"],
    [999_600_000, "1 s"],
    [8_680_000_000, "8.68 s"],
    [59_900_000_000, "59.9 s"],
    [185_000_000_000, "185 s"],
    [725_000_000_000, "12 min 5 s"],
    [7_260_000_000_000, "2 h 1 min"],
    [-1_500, "−1.5 µs"],
  ];
  for (const [ns, text] of cases) assert.equal(duration(ns), text);
});

test("exact durations show all nanoseconds", () => {
  assert.equal(exact(1234567), "1,234,567 ns");
  assert.equal(count(12), "12");
  assert.equal(count(9007199254740991), "9,007,199,254,740,991");
  assert.deepEqual(
    [0, 1, 2000].map((value) => many(value, "thread")),
    ["0 threads", "1 thread", "2,000 threads"],
  );
});

test("instants have as many decimals as their step requires", () => {
  assert.equal(instant(1_234_567_890, 1e6), "1.234 s");
  assert.equal(instant(1_234_567_890, 1), "1.234567890 s");
  assert.equal(instant(61_500_000_000, 1e8), "1:01.5");
  assert.equal(instant(3_723_000_000_000, 1e9), "1:02:03");
});

test("tiny percentages are not zero", () => {
  assert.equal(percent(0), "0 %");
  assert.equal(percent(0.0001), "<0.1 %");
  assert.equal(percent(0.0523), "5.2 %");
  assert.equal(percent(0.92), "92 %");
});

test("names are shortened to the class", () => {
  assert.equal(shortClass("com.acme.orders.OrderBook"), "OrderBook");
  assert.equal(shortClass("Plain"), "Plain");
  assert.equal(shortClass("[I"), "int[]");
  assert.equal(shortClass("[[Lcom.acme.Level;"), "Level[][]");
  assert.equal(shortClass("java.lang.Class<com.acme.Registry>"), "Class<Registry>");
  assert.equal(shortClass("java.lang.Class"), "Class");
  assert.equal(shortClass("java.util.concurrent.ConcurrentHashMap$Node"), "ConcurrentHashMap");
  assert.equal(shortClass("com.acme.Registry.<clinit>"), "class initialization of Registry");
  assert.equal(shortMethod("com.acme.orders.OrderBook.match"), "OrderBook.match");
  assert.equal(shortMethod("main"), "main");
  assert.equal(bytes(1536), "1.5 KiB");
});

test("long names are cut before their end", () => {
  assert.deepEqual(ends("pool-1-thread-12"), ["pool-1-t", "hread-12"]);
  assert.deepEqual(ends("main"), ["main", ""]);
  assert.equal(
    shortened("http-nio-24180-exec-12", (text) => text.length <= 16),
    "http-ni…-exec-12",
  );
  assert.equal(
    shortened("main", () => false),
    "main",
  );
  assert.deepEqual(ends("http-nio-127.0.0.1-8080-exec-12"), ["http-nio-127.0.0.1-8080", "-exec-12"]);
});

test("names are marked in a sentence as whole words, once each", () => {
  const text = "A held BookA for 1 s, asleep in a.B.c; A and B waited for BookA";
  assert.deepEqual(marked(text, ["A", "BookA", "B", ""]), [
    ["A", true],
    [" held ", false],
    ["BookA", true],
    [" for 1 s, asleep in a.", false],
    ["B", true],
    [".c; A and B waited for BookA", false],
  ]);
  assert.deepEqual(marked("no name", ["x", "am"]), [["no name", false]]);
  assert.deepEqual(marked("", ["x"]), []);
});

test("times of day are those of the session", () => {
  const origin = "1795447000000000789";
  const at = new Date(1_795_447_000_000 + 61_500);
  const [time, date] = timeOfDay(origin, 61_500_000_000);
  assert.equal(time, at.toTimeString().slice(0, 8));
  assert.match(date, /^2026-\d\d-\d\d \d\d:\d\d:\d\d\.500$/);
});
