// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// A table that sorts by any column, has rows to select with mouse and keys, and builds only the rows on the screen.
import {useId, useMemo, useRef} from "preact/hooks";
import {px} from "../lib/format";
import type {Sort} from "../lib/table";
import {useEvent} from "./hooks";
import {type Column, type Props, rowHeight, useCursor, useOrder, useSight} from "./tableState";

export function Table<R, K>(props: Props<R, K>) {
  const {columns, rows, chosen, onChoose, onOpen, onToggle, sum} = props;
  const box = useRef<HTMLDivElement>(null);
  const name = useId();
  const {sort, ordered, turn} = useOrder(props);
  const id = useEvent(props.id);
  const keys = useMemo(() => ordered.map(id), [ordered]);
  const marked = useMemo(() => new Set(chosen), [chosen]);
  const {first, last, onScroll} = useSight(box, ordered.length, props.onEnd);
  const {cursor, onClick, onKeyDown} = useCursor(props, box, ordered, keys);
  const sample = rows[0] ?? sum;
  const numeric = (column: Column<R>) => sample !== undefined && typeof column.value(sample) === "number";
  const cells = (row: R) =>
    columns.map((column) => <Cell key={column.key} column={column} row={row} numeric={numeric(column)} />);
  const clickable = onChoose || onOpen || onToggle ? "clickable" : "";
  return (
    <div class={`table ${props.loading ? "loading" : ""}`} ref={box} onScroll={onScroll}>
      <table
        aria-label={props.label}
        aria-rowcount={ordered.length}
        aria-multiselectable={props.multiple}
        role="grid"
        aria-activedescendant={cursor >= first && cursor < last ? `${name}-${cursor}` : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <thead>
          <Head columns={columns} sort={sort} numeric={numeric} onTurn={turn} />
          {sum !== undefined && ordered.length > 0 && <tr class="sum">{cells(sum)}</tr>}
        </thead>
        <tbody>
          <Space rows={first} columns={columns.length} />
          {ordered.slice(first, last).map((row, i) => (
            <tr
              key={String(keys[first + i])}
              id={`${name}-${first + i}`}
              aria-rowindex={first + i + 2}
              aria-selected={onChoose ? marked.has(keys[first + i]!) : undefined}
              class={`${marked.has(keys[first + i]!) ? "chosen" : ""} ${cursor === first + i ? "cursor" : ""} ${clickable}`}
              onClick={(e) => onClick(e, first + i)}
              onDblClick={() => onOpen?.(row)}
            >
              {cells(row)}
            </tr>
          ))}
          <Space rows={ordered.length - last} columns={columns.length} />
        </tbody>
      </table>
      {ordered.length === 0 && <div class="empty">{props.loading ? "…" : props.empty}</div>}
    </div>
  );
}

function Cell<R>({column, row, numeric}: {column: Column<R>; row: R; numeric: boolean}) {
  return (
    <td class={numeric ? "number" : ""} title={column.tip?.(row)}>
      {column.show ? column.show(row) : column.value(row)}
    </td>
  );
}

/** As high as the rows that are not built. */
function Space({rows, columns}: {rows: number; columns: number}) {
  return rows <= 0 ? null : (
    <tr aria-hidden="true">
      <td class="space" style={{height: px(rows * rowHeight)}} colSpan={columns} />
    </tr>
  );
}

interface HeadProps<R> {
  columns: Column<R>[];
  sort: Sort;
  numeric: (column: Column<R>) => boolean;
  onTurn: (column: Column<R>, numeric: boolean) => void;
}

function Head<R>({columns, sort, numeric, onTurn}: HeadProps<R>) {
  const order = (column: Column<R>) => (sort.key === column.key ? sort.order : "none");
  return (
    <>
      {columns.some(({group}) => group) && <Groups columns={columns} />}
      <tr>
        {columns.map((column) => (
          <th
            key={column.key}
            class={`${numeric(column) ? "number" : ""} ${column.grow ? "grow" : ""}`}
            aria-sort={({asc: "ascending", desc: "descending", none: "none"} as const)[order(column)]}
            scope="col"
          >
            <button
              type="button"
              data-key={column.key}
              title={column.help || `Sort by ${column.title}`}
              onClick={() => onTurn(column, numeric(column))}
            >
              {column.title}
              <span class="order" aria-hidden="true">
                {{asc: "↑", desc: "↓", none: ""}[order(column)]}
              </span>
            </button>
          </th>
        ))}
      </tr>
    </>
  );
}

function Groups<R>({columns}: {columns: Column<R>[]}) {
  const groups: {name: string; size: number}[] = [];
  for (const {group = ""} of columns) {
    const last = groups.at(-1);
    if (last?.name === group) last.size++;
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
