// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {clock, clocks, iso, moment, zone} from "./clock";

const origin = "1774721112000000000"; // 2026-03-28 18:05:12 UTC, hours before summer time begins in Europe
const start = moment(origin);

function inZone(name: string, check: () => void): void {
  const before = process.env.TZ;
  process.env.TZ = name;
  try {
    check();
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
}

test("times are local, with the date if it is another day", () => {
  inZone("Europe/Berlin", () => {
    assert.equal(clock(start, start + 1000), "19:05:12");
    assert.equal(clock(start, start + 86_400_000), "2026-03-28 19:05:12");
    assert.equal(iso(start), "2026-03-28T19:05:12+01:00");
    assert.equal(iso(start + 86_400_000), "2026-03-29T20:05:12+02:00"); // summer time
    assert.match(zone(start), /^(CET|GMT\+1)$/);
  });
  inZone("Asia/Kolkata", () => {
    assert.equal(clock(start, start + 1000), "23:35:12");
    assert.equal(iso(start), "2026-03-28T23:35:12+05:30");
  });
  inZone("America/St_Johns", () => assert.equal(iso(start), "2026-03-28T15:35:12-02:30"));
});

test("a range has each date once", () => {
  inZone("UTC", () => {
    const hour = 3_600_000;
    assert.equal(clocks(start, start + hour, start), "18:05:12 – 19:05:12");
    assert.equal(clocks(start, start + 6 * hour, start), "18:05:12 – 2026-03-29 00:05:12");
    assert.equal(clocks(start, start + hour, start + 99 * hour), "2026-03-28 18:05:12 – 19:05:12");
  });
});

test("nanoseconds after the origin", () => assert.equal(moment(origin, 1.5e9) - start, 1500));
