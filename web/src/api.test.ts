// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import {test} from "node:test";
import {askAll} from "./api";

/** Serves a list of so many rows, of which an answer has at most `most`; returns what was requested, in rounds. */
function serve(total: number, most: number): string[][] {
  const rounds: string[][] = [];
  let round: string[] | null = null;
  globalThis.fetch = (async (url: string) => {
    if (!round) {
      round = [];
      rounds.push(round);
    }
    round.push(url);
    await new Promise((done) => setTimeout(done));
    round = null;
    const [offset = 0, limit = 0] = url.split(",").map(Number);
    const rows = Array.from({length: Math.max(0, Math.min(limit, most, total - offset))}, (_, i) => offset + i);
    return {ok: true, json: async () => ({total, rows})};
  }) as unknown as typeof fetch;
  return rounds;
}

const load = (expected: number, most: number) =>
  askAll<{total: number; rows: number[]}, number>(
    (offset, limit) => `${offset},${limit}`,
    ({rows}) => rows,
    {page: 10, expected, most},
    new AbortController().signal,
  );

test("all rows of a list are loaded in two rounds", async () => {
  const rounds = serve(57, 10);
  assert.deepEqual(await load(20, 100), {total: 57, rows: Array.from({length: 57}, (_, i) => i)});
  assert.deepEqual(rounds, [
    ["0,10", "10,10"],
    ["20,10", "30,10", "40,10", "50,10"],
  ]);
});

test("short answers leave no gaps", async () => {
  serve(25, 7);
  assert.deepEqual(
    (await load(1000, 100)).rows,
    Array.from({length: 25}, (_, i) => i),
  );
});

test("a list ends at the limit, and where the server has no more", async () => {
  serve(1000, 10);
  const {total, rows} = await load(0, 30);
  assert.deepEqual([total, rows.length], [1000, 30]);
  serve(0, 10);
  assert.deepEqual(await load(0, 30), {total: 0, rows: []});
  serve(5, 0); // it says that there are 5, but sends none
  assert.deepEqual(await load(5, 30), {total: 5, rows: []});
});
