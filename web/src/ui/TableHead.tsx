// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The head of a table: it sorts by a column and sets its width. And the menu of the columns.
import type {Sort} from "../lib/table";
import {Menu} from "./Popup";
import {Button, Choice} from "./parts";
import type {Column, useColumns} from "./tableState";

interface HeadProps<R> {
  columns: Column<R>[];
  sort: Sort;
  numeric: (column: Column<R>) => boolean;
  onTurn: (column: Column<R>, numeric: boolean) => void;
  onResize: ((key: string, width?: number) => void) | undefined;
}

export function Head<R>(props: HeadProps<R>) {
  return (
    <>
      {props.columns.some(({group}) => group) && <Groups columns={props.columns} />}
      <tr>
        {props.columns.map((column) => (
          <Title key={column.key} column={column} {...props} />
        ))}
      </tr>
    </>
  );
}

/** How much an arrow key changes a width. */
const step = 16;

function Title<R>({column, sort, numeric, onTurn, onResize}: HeadProps<R> & {column: Column<R>}) {
  const {key, title, help} = column;
  const order = sort.key === key ? sort.order : "none";
  const onKeyDown = (e: KeyboardEvent) => {
    const by = {ArrowLeft: -step, ArrowRight: step, Home: 0}[e.key];
    if (!e.shiftKey || by === undefined || !onResize) return;
    e.preventDefault();
    e.stopPropagation();
    const width = (e.currentTarget as HTMLElement).closest("th")!.offsetWidth + by;
    onResize(key, by === 0 ? undefined : width);
  };
  return (
    <th
      class={`${numeric(column) ? "number" : ""}`}
      aria-sort={({asc: "ascending", desc: "descending", none: "none"} as const)[order]}
      scope="col"
    >
      <button
        type="button"
        data-key={key}
        title={`${help || `Sort by ${title}`}${onResize ? " (Shift+←, Shift+→: width)" : ""}`}
        aria-keyshortcuts={onResize && "Shift+ArrowLeft Shift+ArrowRight Shift+Home"}
        onClick={() => onTurn(column, numeric(column))}
        onKeyDown={onKeyDown}
      >
        <span class="title">{title}</span>
        <span class="order" aria-hidden="true">
          {{asc: "↑", desc: "↓", none: ""}[order]}
        </span>
      </button>
      {onResize && <Grip onResize={(width) => onResize(key, width)} />}
    </th>
  );
}

/** The edge of a head: dragging it sets the width, and a double click resets it. The keys of the head do the same. */
function Grip({onResize}: {onResize: (width?: number) => void}) {
  const drag = (e: PointerEvent) => {
    const grip = e.currentTarget as HTMLElement;
    const start = grip.closest("th")!.offsetWidth - e.clientX;
    grip.setPointerCapture(e.pointerId);
    grip.onpointermove = (to) => onResize(start + to.clientX);
    grip.onlostpointercapture = () => {
      grip.onpointermove = null;
    };
  };
  return <span class="grip" aria-hidden="true" onPointerDown={drag} onDblClick={() => onResize()} />;
}

interface MenuProps<R> {
  label: string;
  columns: Column<R>[];
  fitted: Omit<ReturnType<typeof useColumns>, "shown">;
}

export function ColumnsMenu<R>({label, columns, fitted: {widths, toggle, reset}}: MenuProps<R>) {
  const left = columns.length - widths.size;
  const hint = left > 0 ? ` (${left} more)` : "";
  return (
    <div class={`columns ${left > 0 ? "more" : ""}`}>
      <Menu icon="columns" label={`Columns of ${label}${hint}`}>
        {() => (
          <fieldset aria-label="Columns">
            {columns.map(({key, title, group, priority}, i) =>
              (priority ?? i) === 0 ? null : (
                <Choice key={key} checked={widths.has(key)} onChange={() => toggle(key)}>
                  {group ? `${group}: ${title.toLowerCase()}` : title}
                </Choice>
              ),
            )}
            <Button text="Reset columns" disabled={!reset} onClick={() => reset?.()} />
          </fieldset>
        )}
      </Menu>
    </div>
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
      {groups.map(({name, size}, i) =>
        name ? (
          <th key={i} colSpan={size} scope="colgroup">
            {name}
          </th>
        ) : (
          <td key={i} colSpan={size} />
        ),
      )}
    </tr>
  );
}
