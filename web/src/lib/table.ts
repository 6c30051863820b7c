// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Sorting and selection in tables.

export type Order = "asc" | "desc";

export interface Sort {
  key: string;
  order: Order;
}

export type Cell = string | number;

/** The next order of a column: at first, numbers are descending and texts ascending. */
export function nextSort(sort: Sort, key: string, numeric: boolean): Sort {
  if (sort.key === key) return {key, order: sort.order === "asc" ? "desc" : "asc"};
  return {key, order: numeric ? "desc" : "asc"};
}

/** A copy in stable order; texts sort naturally: worker-2 before worker-10. */
export function sorted<R>(rows: readonly R[], value: (row: R) => Cell, order: Order): R[] {
  const sign = order === "asc" ? 1 : -1;
  return [...rows].sort((a, b) => sign * compare(value(a), value(b)));
}

const collator = new Intl.Collator("en", {numeric: true});

export function compare(a: Cell, b: Cell): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return collator.compare(String(a), String(b));
}

/** What a click selects: the row; with Control, the row is added or removed; with Shift, all rows up to it. */
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
  if (control) return toggled(chosen, key);
  return chosen.length === 1 && chosen[0] === key ? [] : [key];
}

/** Adds a value to a list, or removes it. */
export function toggled<T>(list: readonly T[], value: T): T[] {
  return list.includes(value) ? list.filter((one) => one !== value) : [...list, value];
}
