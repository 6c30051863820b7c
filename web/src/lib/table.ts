// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Sorting and files of tables.

export type Order = "asc" | "desc";

export interface Sort {
  key: string;
  order: Order;
}

export type Cell = string | number;

/** The next order of a column: numbers begin with the largest, texts with A. */
export function nextSort(sort: Sort, key: string, numeric: boolean): Sort {
  if (sort.key === key) return {key, order: sort.order === "asc" ? "desc" : "asc"};
  return {key, order: numeric ? "desc" : "asc"};
}

/** A sorted copy; equal rows stay in the order they had, and texts sort as people count: worker-2 before worker-10. */
export function sorted<R>(rows: readonly R[], value: (row: R) => Cell, order: Order): R[] {
  const sign = order === "asc" ? 1 : -1;
  return [...rows].sort((a, b) => sign * compare(value(a), value(b)));
}

const collator = new Intl.Collator("en", {numeric: true});

export function compare(a: Cell, b: Cell): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return collator.compare(String(a), String(b));
}

/** What a click selects: alone it is the one; with control it is added or taken away; with shift all up to it. */
export function select<K>(
  all: readonly K[],
  chosen: readonly K[],
  anchor: K | null,
  key: K,
  control: boolean,
  shift: boolean,
): K[] {
  if (shift && anchor !== null && all.includes(anchor)) {
    const [from, to] = [all.indexOf(anchor), all.indexOf(key)].sort((a, b) => a - b) as [number, number];
    const range = all.slice(from, to + 1);
    return control ? [...new Set([...chosen, ...range])] : range;
  }
  if (control) return chosen.includes(key) ? chosen.filter((one) => one !== key) : [...chosen, key];
  return chosen.length === 1 && chosen[0] === key ? [] : [key];
}
