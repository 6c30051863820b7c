// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Which columns of a table fit, and how wide they are.

export interface Fitting {
  key: string;
  /** The width in pixels that it takes unless the user changed it. */
  width: number;
  /** 0: always shown. Of the others, the larger ones are left out first, and equal ones from the right. */
  priority: number;
  /** Takes a part of the width that is left. */
  grow: boolean;
}

/** What the user changed: widths, and columns that are shown or left out wherever there is room for others. */
export interface Layout {
  widths: Record<string, number>;
  on: string[];
  off: string[];
}

export const noLayout: Layout = {widths: {}, on: [], off: []};

const least = 40;
const most = 2000;
const mostKeys = 100;

/** The width to which the user may set a column. */
export function allowed(width: number): number {
  return Math.round(Math.max(least, Math.min(most, width)));
}

/** The shown columns with their widths, in the order of the table. */
export function fit(columns: readonly Fitting[], room: number, {widths, on, off}: Layout): Map<string, number> {
  const widthOf = ({key, width}: Fitting) => widths[key] ?? width;
  const rank = ({key, priority}: Fitting) => (on.includes(key) ? 0 : priority);
  const wanted = columns
    .filter(({key, priority}) => priority === 0 || !off.includes(key))
    .sort((a, b) => rank(a) - rank(b));
  const shown = new Set<string>();
  let used = 0;
  for (const column of wanted) {
    if (rank(column) > 0 && used + widthOf(column) > room) break;
    used += widthOf(column);
    shown.add(column.key);
  }
  const fitting = columns.filter(({key}) => shown.has(key));
  const free = fitting.filter(({key}) => widths[key] === undefined);
  const growing = free.some(({grow}) => grow) ? free.filter(({grow}) => grow) : free;
  let spare = Math.max(0, Math.floor(room) - used);
  return new Map(
    fitting.map((column) => {
      const at = growing.indexOf(column);
      const more = at < 0 ? 0 : Math.floor(spare / (growing.length - at));
      spare -= more;
      return [column.key, widthOf(column) + more];
    }),
  );
}

/** Shows a column that is left out, or leaves out one that is shown. */
export function turned(layout: Layout, key: string, shown: boolean): Layout {
  const without = (keys: string[]) => keys.filter((one) => one !== key);
  const on = without(layout.on);
  const off = without(layout.off);
  return shown ? {...layout, on, off: [...off, key]} : {...layout, on: [...on, key], off};
}

/** Sets the width of a column; without a width it is again that of the table. */
export function resized(layout: Layout, key: string, width?: number): Layout {
  const {[key]: _, ...widths} = layout.widths;
  return {...layout, widths: width === undefined ? widths : {...widths, [key]: allowed(width)}};
}

/** Reads a stored layout; whatever is invalid is ignored. */
export function parseLayout(text: string | null): Layout {
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? "");
  } catch {
    return noLayout;
  }
  if (typeof stored !== "object" || stored === null) return noLayout;
  const {widths, on, off} = stored as Record<string, unknown>;
  const keys = (list: unknown) =>
    Array.isArray(list) ? list.filter((one) => typeof one === "string").slice(0, mostKeys) : [];
  const valid = Object.entries(typeof widths === "object" ? (widths ?? {}) : {}).filter(
    (entry): entry is [string, number] => Number.isFinite(entry[1]),
  );
  return {
    widths: Object.fromEntries(valid.slice(0, mostKeys).map(([key, width]) => [key, allowed(width)])),
    on: keys(on),
    off: keys(off),
  };
}
