// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// A table whose columns all sort, of which rows can be chosen by mouse and keys, and that shows only the rows on the screen.
import type {ComponentChildren} from "preact";
import {useEffect, useId, useMemo, useRef, useState} from "preact/hooks";
import {px} from "../lib/format";
import {type Cell, nextSort, type Sort, select, sorted} from "../lib/table";

export interface Column<R> {
  key: string;
  title: string;
  help?: string;
  value: (row: R) => Cell;
  show?: (row: R) => ComponentChildren;
  /** What the pointer tells: by default nothing. */
  tip?: (row: R) => string;
  /** Part of the width that texts may take; numbers take what they need. */
  grow?: boolean;
  /** A word above neighbours that belong together. */
  group?: string;
}

interface Props<R, K> {
  label: string;
  columns: Column<R>[];
  rows: readonly R[];
  id: (row: R) => K;
  sort: Sort;
  /** The server sorts: it has more rows than are here. */
  onSort?: (sort: Sort) => void;
  chosen?: readonly K[];
  onChoose?: (chosen: K[]) => void;
  onOpen?: (row: R) => void;
  /** What a click and the space bar do with a row of a table whose rows have a box to tick. */
  onToggle?: (row: R) => void;
  multiple?: boolean;
  empty: ComponentChildren;
  loading?: boolean;
  sum?: R | undefined;
  /** There is more: called when the end comes into sight. */
  onEnd?: () => void;
}

const rowHeight = 26;
const beyond = 8;

export function Table<R, K>(props: Props<R, K>) {
  const {columns, rows, id, chosen = [], onChoose, multiple, sum} = props;
  const [own, setOwn] = useState(props.sort);
  const sort = props.onSort ? props.sort : own;
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  const [cursor, setCursor] = useState(0);
  const anchor = useRef<K | null>(null);
  const name = useId();

  const ordered = useMemo(() => {
    const column = columns.find(({key}) => key === sort.key);
    return props.onSort || !column ? rows : sorted(rows, column.value, sort.order);
  }, [rows, sort, columns, props.onSort]);
  const keys = useMemo(() => ordered.map(id), [ordered]);
  const marked = useMemo(() => new Set(chosen), [chosen]);

  useEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const first = Math.max(0, Math.floor(top / rowHeight) - beyond);
  const last = Math.min(ordered.length, Math.ceil((top + height) / rowHeight) + beyond);
  useEffect(() => {
    if (last === ordered.length && ordered.length > 0) props.onEnd?.();
  }, [last, ordered.length]);

  const choose = (index: number, control: boolean, shift: boolean) => {
    const key = keys[index];
    if (key === undefined || !onChoose) return;
    setCursor(index);
    onChoose(select(keys, chosen, anchor.current, key, control && !!multiple, shift && !!multiple));
    if (!shift) anchor.current = key;
  };

  const onKeyDown = (e: KeyboardEvent) => {
    // A head's button and a box in a row have these keys for themselves.
    if (e.target !== e.currentTarget && (e.key === " " || e.key === "Enter")) return;
    const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -1e9, End: 1e9}[e.key];
    if (step !== undefined) {
      e.preventDefault();
      const next = Math.max(0, Math.min(ordered.length - 1, cursor + step));
      setCursor(next);
      const element = box.current!;
      const y = next * rowHeight;
      if (y < element.scrollTop) element.scrollTop = y;
      if (y + 3 * rowHeight > element.scrollTop + element.clientHeight)
        element.scrollTop = y + 3 * rowHeight - element.clientHeight;
      if (e.shiftKey && multiple) choose(next, false, true);
    } else if (e.key === " ") {
      e.preventDefault();
      const row = ordered[cursor];
      if (row && props.onToggle) props.onToggle(row);
      else choose(cursor, !!multiple, e.shiftKey);
    } else if (e.key === "Enter") {
      const row = ordered[cursor];
      if (row && props.onOpen) props.onOpen(row);
      else choose(cursor, false, false);
    } else if (e.key === "a" && (e.ctrlKey || e.metaKey) && multiple) {
      e.preventDefault();
      onChoose?.(keys);
    } else if (e.key === "Escape" && chosen.length > 0) {
      e.stopPropagation();
      onChoose?.([]);
    }
  };

  const changeSort = (column: Column<R>, numeric: boolean) => {
    const next = nextSort(sort, column.key, numeric);
    if (props.onSort) props.onSort(next);
    else setOwn(next);
  };
  const sample = rows[0] ?? sum;
  const numeric = (column: Column<R>) => sample !== undefined && typeof column.value(sample) === "number";
  const cell = (column: Column<R>, row: R) => (
    <td key={column.key} class={numeric(column) ? "number" : ""} title={column.tip?.(row)}>
      {column.show ? column.show(row) : column.value(row)}
    </td>
  );
  return (
    <div class={`table ${props.loading ? "loading" : ""}`} ref={box} onScroll={() => setTop(box.current!.scrollTop)}>
      <table
        aria-label={props.label}
        aria-rowcount={ordered.length}
        aria-multiselectable={multiple}
        role="grid"
        aria-activedescendant={cursor >= first && cursor < last ? `${name}-${cursor}` : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <thead>
          {columns.some(({group}) => group) && <Groups columns={columns} />}
          <tr>
            {columns.map((column) => {
              const on = sort.key === column.key;
              return (
                <th
                  key={column.key}
                  class={`${numeric(column) ? "number" : ""} ${column.grow ? "grow" : ""}`}
                  aria-sort={on ? (sort.order === "asc" ? "ascending" : "descending") : "none"}
                  scope="col"
                >
                  <button
                    type="button"
                    data-key={column.key}
                    title={column.help ?? `Sort by ${column.title}`}
                    onClick={() => changeSort(column, numeric(column))}
                  >
                    {column.title}
                    <span class="order" aria-hidden="true">
                      {on ? (sort.order === "asc" ? "↑" : "↓") : ""}
                    </span>
                  </button>
                </th>
              );
            })}
          </tr>
          {sum !== undefined && ordered.length > 0 && <tr class="sum">{columns.map((column) => cell(column, sum))}</tr>}
        </thead>
        <tbody>
          {first > 0 && (
            <tr aria-hidden="true">
              <td class="space" style={{height: px(first * rowHeight)}} colSpan={columns.length} />
            </tr>
          )}
          {ordered.slice(first, last).map((row, i) => (
            <tr
              key={String(keys[first + i])}
              id={`${name}-${first + i}`}
              aria-rowindex={first + i + 2}
              aria-selected={onChoose ? marked.has(keys[first + i]!) : undefined}
              class={`${marked.has(keys[first + i]!) ? "chosen" : ""} ${cursor === first + i ? "cursor" : ""} ${onChoose || props.onOpen || props.onToggle ? "clickable" : ""}`}
              onClick={(e) => {
                setCursor(first + i);
                if (props.onToggle) props.onToggle(row);
                else if (onChoose) choose(first + i, e.ctrlKey || e.metaKey, e.shiftKey);
                else props.onOpen?.(row);
              }}
              onDblClick={() => props.onOpen?.(row)}
            >
              {columns.map((column) => cell(column, row))}
            </tr>
          ))}
          {last < ordered.length && (
            <tr aria-hidden="true">
              <td class="space" style={{height: px((ordered.length - last) * rowHeight)}} colSpan={columns.length} />
            </tr>
          )}
        </tbody>
      </table>
      {ordered.length === 0 && <div class="empty">{props.loading ? "…" : props.empty}</div>}
    </div>
  );
}

function Groups<R>({columns}: {columns: Column<R>[]}) {
  const groups: {name: string; size: number}[] = [];
  for (const {group = ""} of columns) {
    const last = groups[groups.length - 1];
    if (last && last.name === group) last.size++;
    else groups.push({name: group, size: 1});
  }
  return (
    <tr class="groups">
      {groups.map(({name, size}, i) => (
        <th key={i} colSpan={size} scope="colgroup">
          {name}
        </th>
      ))}
    </tr>
  );
}
