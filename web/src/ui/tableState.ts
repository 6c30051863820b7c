// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The state of a table: order of its rows, which of them are on the screen, cursor and selection.
import type {ComponentChildren, RefObject} from "preact";
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from "preact/hooks";
import {fit, type Layout, noLayout, parseLayout, resized, turned} from "../lib/fit";
import {type Cell, nextSort, type Sort, select, sorted} from "../lib/table";
import {remember, remembered} from "../store";
import {useEvent} from "./hooks";

export interface Column<R> {
  key: string;
  title: string;
  help?: string;
  value: (row: R) => Cell;
  show?: (row: R) => ComponentChildren;
  /** The tooltip; by default there is none. */
  tip?: (row: R) => string;
  /** Texts may share the remaining width; numbers take what they need. */
  grow?: boolean;
  /** A heading above adjacent columns that belong together. */
  group?: string;
  /** Which columns are left out first where they do not fit: the highest ones; 0: never. The default is 0 for the first one, else 1. */
  priority?: number;
  /** The width in pixels; the default is enough for the title and a number. */
  width?: number;
}

export interface Props<R, K> {
  label: string;
  /** Under which the browser remembers widths and columns; without it, users cannot change them. */
  name?: string;
  columns: Column<R>[];
  rows: readonly R[];
  id: (row: R) => K;
  sort: Sort;
  /** Set if the server sorts, because it has more rows than the table. */
  onSort?: (sort: Sort) => void;
  chosen?: readonly K[];
  onChoose?: (chosen: K[]) => void;
  onOpen?: (row: R) => void;
  /** What a click and the space bar do if rows have a checkbox. */
  onToggle?: (row: R) => void;
  multiple?: boolean;
  empty: ComponentChildren;
  loading?: boolean;
  sum?: R | undefined;
  /** Called when the last row comes into sight: there may be more. */
  onEnd?: () => void;
}

export const rowHeight = 26;
const beyond = 8;
/** The most rows of a table on paper. */
const mostPrinted = 1000;
/** The width of a letter of a title, and of the rest of a cell. */
const letter = 7.2;
const around = 29;
/** The room for the menu of columns. */
const menuWidth = 26;

function naturalWidth({title, grow, width}: Column<never>): number {
  return Math.max(width ?? (grow ? 120 : 74), Math.ceil(title.length * letter + around));
}

/** The columns that fit, their widths, and what changes them. */
export function useColumns<R, K>({columns, name}: Props<R, K>, box: RefObject<HTMLDivElement | null>) {
  const [room, setRoom] = useState(0);
  const [layout, setLayout] = useState(noLayout);
  useLayoutEffect(() => setLayout(name ? parseLayout(remembered(`columns.${name}`)) : noLayout), [name]);
  useLayoutEffect(() => {
    const element = box.current!;
    const measure = () => setRoom(element.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  const widths = useMemo(() => {
    const all = columns.map((column, i) => ({
      key: column.key,
      width: naturalWidth(column as Column<never>),
      priority: column.priority ?? (i === 0 ? 0 : 1),
      grow: column.grow === true,
    }));
    const menu = name ? menuWidth : 0;
    const fitting = fit(all, room - menu, layout);
    const [last = "", width = 0] = [...fitting].at(-1) ?? [];
    return fitting.set(last, width + menu);
  }, [columns, name, room, layout]);
  const change = (next: Layout) => {
    setLayout(next);
    if (name) remember(`columns.${name}`, next === noLayout ? null : JSON.stringify(next));
  };
  return {
    shown: columns.filter(({key}) => widths.has(key)),
    widths,
    resize: (key: string, width?: number) => change(resized(layout, key, width)),
    toggle: (key: string) => change(turned(layout, key, widths.has(key))),
    reset: layout === noLayout ? undefined : () => change(noLayout),
  };
}

export function useOrder<R, K>({columns, rows, sort: given, onSort}: Props<R, K>) {
  const [own, setOwn] = useState(given);
  const sort = onSort ? given : own;
  const ordered = useMemo(() => {
    const column = columns.find(({key}) => key === sort.key);
    return onSort || !column ? rows : sorted(rows, column.value, sort.order);
  }, [rows, sort, columns, onSort]);
  const turn = (column: Column<R>, numeric: boolean) => (onSort ?? setOwn)(nextSort(sort, column.key, numeric));
  return {sort, ordered, turn};
}

/** The rows on the screen and a few beyond it: only these are built. */
export function useSight(box: RefObject<HTMLDivElement | null>, count: number, onEnd: (() => void) | undefined) {
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  useEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  const [printed, setPrinted] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    for (const name of ["beforeprint", "afterprint"])
      window.addEventListener(name, () => setPrinted(name === "beforeprint"), {signal: abort.signal});
    return () => abort.abort();
  }, []);
  const first = printed ? 0 : Math.max(0, Math.floor(top / rowHeight) - beyond);
  const last = Math.min(count, printed ? mostPrinted : Math.ceil((top + height) / rowHeight) + beyond);
  const end = useEvent(() => onEnd?.());
  useEffect(() => {
    if (last === count && count > 0) end();
  }, [last, count]);
  return {first, last, onScroll: () => setTop(box.current!.scrollTop)};
}

export function useCursor<R, K>(
  props: Props<R, K>,
  box: RefObject<HTMLDivElement | null>,
  ordered: readonly R[],
  keys: K[],
) {
  const {chosen = [], onChoose, onOpen, onToggle, multiple = false} = props;
  const [cursor, setCursor] = useState(0);
  const anchor = useRef<K | null>(null);
  const choose = (index: number, control: boolean, shift: boolean) => {
    const key = keys[index];
    if (key === undefined || !onChoose) return;
    setCursor(index);
    onChoose(select(keys, chosen, anchor.current, key, control && multiple, shift && multiple));
    if (!shift) anchor.current = key;
  };
  const move = (step: number, shift: boolean) => {
    const next = Math.max(0, Math.min(ordered.length - 1, cursor + step));
    setCursor(next);
    scrollTo(box.current!, next);
    if (shift && multiple) choose(next, false, true);
  };
  const onClick = (e: MouseEvent, index: number) => {
    setCursor(index);
    const row = ordered[index]!;
    if (onToggle) onToggle(row);
    else if (onChoose) choose(index, e.ctrlKey || e.metaKey, e.shiftKey);
    else onOpen?.(row);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    const row = ordered[cursor];
    // A button in a head and a checkbox in a row use these keys themselves.
    if (e.target !== e.currentTarget && (e.key === " " || e.key === "Enter")) return;
    const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -1e9, End: 1e9}[e.key];
    if (step !== undefined) move(step, e.shiftKey);
    else if (e.key === " " && row && onToggle) onToggle(row);
    else if (e.key === " ") choose(cursor, multiple, e.shiftKey);
    else if (e.key === "a" && (e.ctrlKey || e.metaKey) && multiple) onChoose?.(keys);
    else {
      if (e.key === "Enter" && row && onOpen) onOpen(row);
      else if (e.key === "Enter") choose(cursor, false, false);
      else if (e.key === "Escape" && chosen.length > 0) {
        e.stopPropagation();
        onChoose?.([]);
      }
      return;
    }
    e.preventDefault();
  };
  return {cursor, onClick, onKeyDown};
}

function scrollTo(box: HTMLElement, row: number): void {
  const y = row * rowHeight;
  if (y < box.scrollTop) box.scrollTop = y;
  // The head and the sum cover two rows.
  if (y + 3 * rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = y + 3 * rowHeight - box.clientHeight;
}
