// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The methods that blocked or waited, and their call stacks.
import {useMemo, useState} from "preact/hooks";
import {address, type Parameters, useAnswer} from "../api";
import {goTo, useKnown, usePart} from "../known";
import {count, shortClass} from "../lib/format";
import type {Shown} from "../lib/link";
import type {Sort} from "../lib/table";
import type {CallerRow, Callers, Stack} from "../lib/types";
import {type State, waitTitle} from "../lib/words";
import {show} from "../store";
import {useKeys} from "../ui/hooks";
import {Button, Frames, Problem, Time} from "../ui/parts";
import {Table} from "../ui/Table";
import type {Column} from "../ui/tableState";
import {countColumn, less, method, statsColumns} from "./columns";
import {Panel} from "./Panel";

/** How many rows are loaded at first, and each time the end of the list comes into sight. */
export const pageSize = 100;

type Kind = "blocked" | Shown["waits"];

const kinds: Record<Kind, {title: string; state: State}> = {
  blocked: {title: "blocked", state: "blocked"},
  waited: {title: "Object.wait", state: "waiting"},
  reenter: {title: "re-entering", state: "reentering"},
  parked: {title: "park", state: "parked"},
  joined: {title: "join", state: "joining"},
  sleeping: {title: "sleep", state: "sleeping"},
  queued: {title: "wait for a carrier", state: "queued"},
  suspended: {title: "suspended", state: "suspended"},
};

interface Props {
  title: string;
  /** The kinds to select from. */
  choices: readonly Kind[];
  kind: Kind;
  parameters: Parameters;
  /** The only kind of waits, if the table is limited to one. */
  only: string;
  onStack: (choice: Choice) => void;
}

export function CallersPanel({title, choices, kind, parameters: given, only, onStack}: Props) {
  const [sort, setSort] = useState<Sort>({key: "stats.time", order: "desc"});
  const [limit, setLimit] = useState(pageSize);
  const parameters = {...given, wait: only};
  const query = {...parameters, kind, sort: sort.key, order: sort.order, limit};
  const {data, error, loading} = usePart<Callers>("callers", query);
  const columns = useMemo(() => columnsOf(data?.sum, title, kind), [data?.sum, title, kind]);
  return (
    <Panel
      title={title}
      hint={only && `only: ${waitTitle(only)}`}
      table="callers"
      parameters={{...parameters, kind}}
      extra={choices.length > 1 && <KindSelect choices={choices} kind={kind} />}
    >
      <Problem text={error} />
      <Table<CallerRow, string>
        label={`${title}, by calling method`}
        name={title.toLowerCase()}
        columns={columns}
        rows={data?.callers ?? []}
        id={(row) => `${row.class} ${row.name} ${row.method}`}
        sort={sort}
        onSort={setSort}
        onOpen={(row) => onStack({row, use: 0, side: kind === "blocked" ? "right" : "left"})}
        sum={data?.sum}
        loading={loading}
        onEnd={() => data && data.total > limit && setLimit(limit + pageSize)}
        empty={kind === "blocked" ? "No blocked threads." : "No waits of this kind."}
      />
    </Panel>
  );
}

function KindSelect({choices, kind}: {choices: readonly Kind[]; kind: Kind}) {
  return (
    <select
      aria-label="Kind of wait"
      value={kind}
      onChange={(e) => show({waits: e.currentTarget.value as Shown["waits"]})}
    >
      {choices.map((one) => (
        <option key={one} value={one}>
          {kinds[one].title}
        </option>
      ))}
    </select>
  );
}

function columnsOf(sum: CallerRow | undefined, title: string, kind: Kind): Column<CallerRow>[] {
  return [
    {
      key: "method",
      title: "Calling method",
      grow: true,
      value: (row) => row.method,
      show: (row) => (row === sum ? "Total" : method(row.method)),
      tip: (row) => row.method,
    },
    {
      key: "name",
      title: "Lock",
      grow: true,
      help: "What the source calls the lock, or the pool, or else the class",
      value: (row) => row.name || row.class,
      show: (row) => row.name || shortClass(row.class),
      tip: (row) => row.class,
    },
    {
      key: "wait",
      title: "Kind",
      priority: 4,
      help: "What the longest wait was for",
      value: (row) => (row === sum ? "" : row.wait),
    },
    ...statsColumns<CallerRow>("stats", title.toLowerCase(), (row) => row.stats, kinds[kind].state),
    less(
      4,
      countColumn("monitors", "Objects", "Number of monitor objects", (row) => row.monitors),
    ),
    less(
      3,
      countColumn("threads", "Threads", "Number of threads", (row) => row.threads),
    ),
  ];
}

export interface Choice {
  row: CallerRow;
  /** The index of the stack. */
  use: number;
  /** The side of the page that the panel covers: not the table of the row. */
  side: "left" | "right";
}

export function StackPanel({choice, onChoose}: {choice: Choice; onChoose: (choice: Choice | null) => void}) {
  const {row, use, side} = choice;
  const {session} = useKnown();
  const chosen = row.stacks[use] ?? row.stacks[0];
  const url = session && chosen && address(`sessions/${session.id}/stack`, {id: chosen.stack});
  const {data, error} = useAnswer<Stack>(url ?? null);
  const close = () => onChoose(null);
  useKeys(({key}) => {
    if (key === "Escape") close();
    return key === "Escape";
  });
  return (
    <section class={`panel stack-panel ${side}`} aria-label="Call stack">
      <header>
        <h2>{method(row.method)}</h2>
        <span class="hint">
          on {row.name || shortClass(row.class)}, longest <Time ns={row.stats.max} />
        </span>
        <span class="apart" />
        <Button text="Show the longest" onClick={() => goTo(row.longest.thread.id, row.longest.seq)} />
        <Button icon="close" label="Close (Esc)" onClick={close} />
      </header>
      <Problem text={error} />
      <div class="sides">
        <div class="uses" role="listbox" aria-label="Stacks of this method">
          {row.stacks.map((one, i) => (
            <button
              type="button"
              role="option"
              aria-selected={i === use}
              class={`use ${i === use ? "chosen" : ""}`}
              key={one.stack}
              onClick={() => onChoose({...choice, use: i})}
            >
              <span>{one.line || `stack ${one.stack}`}</span>
              <span class="faint">
                <Time ns={one.time} />, {count(one.count)} times
              </span>
            </button>
          ))}
          {row.hidden > 0 && <span class="hint">and {row.hidden} shorter ones</span>}
        </div>
        <div class="stack">
          <Frames stack={data} empty={row.stacks.length === 0 ? "No stack was recorded." : "…"} />
        </div>
      </div>
    </section>
  );
}
