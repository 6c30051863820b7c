// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {liveFirst} from "./deadlocks";

test("deadlocks that still exist come first, then the newest", () => {
  const all = [
    {since: 1, until: 9},
    {since: 2, until: 0},
    {since: 3, until: 5},
    {since: 4, until: 0},
  ];
  assert.deepEqual(
    all.sort(liveFirst).map(({since}) => since),
    [4, 2, 3, 1],
  );
});
