// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// A table that sorts by any column, has rows to select with mouse and keys, and builds only the rows on the screen. It shows
// the columns that fit; a menu has the others.
import {useId, useMemo, useRef} from "preact/hooks";
import {px} from "../lib/format";
import {useEvent} from "./hooks";
import {ColumnsMenu, Head} from "./TableHead";
import {type Column, type Props, rowHeight, useColumns, useCursor, useOrder, useSight} from "./tableState";

export function Table<R, K>(props: Props<R, K>) {
  const {rows, chosen, onChoose, onOpen, onToggle, sum} = props;
  const box = useRef<HTMLDivElement>(null);
  const name = useId();
  const fitted = useColumns(props, box);
  const {shown, widths} = fitted;
  const {sort, ordered, turn} = useOrder(props);
  const id = useEvent(props.id);
  const keys = useMemo(() => ordered.map(id), [ordered]);
  const marked = useMemo(() => new Set(chosen), [chosen]);
  const {first, last, onScroll} = useSight(box, ordered.length, props.onEnd);
  const {cursor, onClick, onKeyDown} = useCursor(props, box, ordered, keys);
  const sample = rows[0] ?? sum;
  const numeric = (column: Column<R>) => sample !== undefined && typeof column.value(sample) === "number";
  const cells = (row: R) =>
    shown.map((column) => <Cell key={column.key} column={column} row={row} numeric={numeric(column)} />);
  const clickable = onChoose || onOpen || onToggle ? "clickable" : "";
  return (
    <div class="table-frame">
      {props.name && <ColumnsMenu label={props.label} columns={props.columns} fitted={fitted} />}
      <div class={`table ${props.loading ? "loading" : ""}`} ref={box} onScroll={onScroll}>
        <table
          aria-label={props.label}
          aria-rowcount={ordered.length}
          aria-multiselectable={props.multiple}
          role="grid"
          aria-activedescendant={cursor >= first && cursor < last ? `${name}-${cursor}` : undefined}
          tabIndex={0}
          onKeyDown={onKeyDown}
          style={{width: px([...widths.values()].reduce((sum, width) => sum + width, 0))}}
        >
          <colgroup>
            {shown.map(({key}) => (
              <col key={key} style={{width: px(widths.get(key)!)}} />
            ))}
          </colgroup>
          <thead>
            <Head
              columns={shown}
              sort={sort}
              numeric={numeric}
              onTurn={turn}
              onResize={props.name ? fitted.resize : undefined}
            />
            {sum !== undefined && ordered.length > 0 && <tr class="sum">{cells(sum)}</tr>}
          </thead>
          <tbody>
            <Space rows={first} columns={shown.length} />
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
            <Space rows={ordered.length - last} columns={shown.length} />
          </tbody>
        </table>
        {ordered.length === 0 && <div class="empty">{props.loading ? "…" : props.empty}</div>}
      </div>
    </div>
  );
}

function Cell<R>({column, row, numeric}: {column: Column<R>; row: R; numeric: boolean}) {
  const value = column.value(row);
  return (
    <td class={numeric ? "number" : ""} title={column.tip?.(row) ?? (numeric ? undefined : String(value))}>
      {column.show ? column.show(row) : value}
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
