// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Monitor statistics: threads, then classes, then the methods that blocked and waited; each table counts what is chosen
// in those before it.
import {useEffect, useMemo, useState} from "preact/hooks";
import {address, type Parameters, useAnswer} from "../api";
import {goTo, scope, threadsParameter, useClasses, useKnown} from "../known";
import {count, shortClass} from "../lib/format";
import {waits as allWaits, type Shown} from "../lib/link";
import type {Sort} from "../lib/table";
import type {CallerRow, Callers, ClassRow, Stack} from "../lib/types";
import type {State} from "../lib/words";
import {show} from "../store";
import {Button, Frames, Menu, Problem, Time} from "../ui/parts";
import {type Column, Table} from "../ui/Table";
import {classColumns, method, statsColumns, threadColumns} from "./columns";

const page = 100;

export function MonitorsView({shown}: {shown: Shown}) {
  const {session, threads} = useKnown();
  const [stack, setStack] = useState<{row: CallerRow; use: number; side: string} | null>(null);
  const [sort, setSort] = useState<Sort>({key: "blocked.time", order: "desc"});
  const [limit, setLimit] = useState(page);
  const selection: Parameters = session ? {...scope(shown), threads: threadsParameter(shown.threads)} : {};
  const classes = useClasses({...selection, sort: sort.key, order: sort.order, limit});
  const waits = (kind: string) => show({waits: kind as Shown["waits"]});
  const columns = useMemo(() => classColumns(classes.data?.sum), [classes.data?.sum]);
  const chosenSum = useMemo(() => {
    const chosen = new Set(shown.threads);
    return total(threads.filter((thread) => chosen.size === 0 || chosen.has(thread.id)));
  }, [threads, shown.threads]);
  if (!session) return null;
  const callers: Parameters = {...selection, class: shown.classes};
  return (
    <div class="monitors">
      <Panel
        title="Threads"
        hint={chosenHint(shown.threads.length, "thread")}
        table="threads"
        parameters={{...scope(shown)}}
      >
        <Table
          label="Threads"
          columns={threadColumns}
          rows={threads}
          id={({id}) => id}
          sort={{key: "blocked.time", order: "desc"}}
          chosen={shown.threads}
          onChoose={(threads) => show({threads})}
          onOpen={({id}) => show({tab: "threads", thread: id, seq: 0})}
          multiple
          sum={chosenSum}
          empty="No thread was seen in this range."
        />
      </Panel>
      <Panel
        title="Classes of locks"
        hint={chosenHint(shown.classes.length, "class")}
        table="classes"
        parameters={{...selection, savings: true}}
      >
        <Problem text={classes.error} />
        <Table<ClassRow, string>
          label="Classes of locks"
          columns={columns}
          rows={classes.data?.classes ?? []}
          id={(row) => row.class}
          sort={sort}
          onSort={setSort}
          chosen={shown.classes}
          onChoose={(classes) => show({classes})}
          multiple
          sum={classes.data?.sum}
          loading={classes.loading}
          onEnd={() => classes.data && classes.data.total > limit && setLimit(limit + page)}
          empty="The chosen threads used no lock that anybody had to wait for."
        />
      </Panel>
      <div class="two">
        <CallersPanel
          title="Blocked"
          kinds={["blocked"]}
          kind={["blocked", () => {}]}
          parameters={callers}
          onStack={setStack}
        />
        <CallersPanel
          title="Waited"
          kinds={allWaits}
          kind={[shown.waits, waits]}
          parameters={callers}
          onStack={setStack}
        />
      </div>
      {stack && (
        <StackPanel
          row={stack.row}
          side={stack.side}
          use={stack.use}
          setUse={(use) => setStack({...stack, use})}
          onClose={() => setStack(null)}
        />
      )}
    </div>
  );
}

function chosenHint(n: number, what: string): string {
  if (n === 0) return `click to choose; Ctrl and Shift choose several`;
  return n === 1 ? `1 ${what} chosen` : `${n} ${what === "class" ? "classes" : `${what}s`} chosen: sums are of these`;
}

function total(threads: readonly import("../lib/types").ThreadRow[]): import("../lib/types").ThreadRow {
  const add = (key: "blocked" | "waited") =>
    threads.reduce((sum, thread) => ({count: sum.count + thread[key].count, time: sum.time + thread[key].time}), {
      count: 0,
      time: 0,
    });
  return {
    id: 0,
    name: threads.length === 1 ? "Total of 1 thread" : `Total of ${count(threads.length)} threads`,
    group: "",
    pool: "",
    daemon: false,
    virtual: false,
    from: 0,
    to: 0,
    dead: false,
    blocked: add("blocked"),
    waited: add("waited"),
    states: [],
    time: 0,
  };
}

interface PanelProps {
  title: string;
  hint?: string;
  table: string;
  parameters: Parameters;
  children: preact.ComponentChildren;
  extra?: preact.ComponentChildren;
}

/** A table with its head and its files. */
export function Panel({title, hint, table, parameters, children, extra}: PanelProps) {
  const {session} = useKnown();
  return (
    <section class="panel" aria-label={title} data-table={table}>
      <header>
        <h2>{title}</h2>
        {extra}
        <span class="hint">{hint}</span>
        <span class="apart" />
        <Menu icon="download" label={`Save ${title.toLowerCase()} as a file`}>
          {(close) =>
            ["csv", "json"].map((format) => (
              <a
                key={format}
                class="choice"
                download
                href={address(`sessions/${session?.id}/export`, {...parameters, table, format})}
                onClick={close}
              >
                {format.toUpperCase()}
              </a>
            ))
          }
        </Menu>
      </header>
      {children}
    </section>
  );
}

const kindTitles: Record<string, string> = {
  blocked: "blocked",
  waited: "Object.wait",
  reenter: "re-entering",
  parked: "park",
  joined: "join",
  sleeping: "sleep",
};

const kindStates: Record<string, State> = {
  blocked: "blocked",
  reenter: "reentering",
  parked: "parked",
  joined: "joining",
  sleeping: "sleeping",
};

interface CallersProps {
  title: string;
  kinds: readonly string[];
  kind: [string, (kind: string) => void];
  parameters: Parameters;
  onStack: (stack: {row: CallerRow; use: number; side: string}) => void;
}

function CallersPanel({title, kinds, kind: [kind, setKind], parameters, onStack}: CallersProps) {
  const {session, version} = useKnown();
  const [sort, setSort] = useState<Sort>({key: "stats.time", order: "desc"});
  const [limit, setLimit] = useState(page);
  const {data, error, loading} = useAnswer<Callers>(
    session
      ? address(`sessions/${session.id}/callers`, {...parameters, kind, sort: sort.key, order: sort.order, limit})
      : null,
    version,
  );
  const key = (row: CallerRow) => `${row.class} ${row.method}`;
  const columns = useMemo<Column<CallerRow>[]>(
    () => [
      {
        key: "method",
        title: "Caller method",
        grow: true,
        value: (row) => row.method,
        show: (row) => (row === data?.sum ? "Total" : method(row.method)),
        tip: (row) => row.method,
      },
      {
        key: "class",
        title: "Class",
        value: (row) => row.class,
        show: (row) => shortClass(row.class),
        tip: (row) => row.class,
      },
      ...statsColumns<CallerRow>("stats", title.toLowerCase(), (row) => row.stats, kindStates[kind] ?? "waiting"),
      {
        key: "monitors",
        title: "Objects",
        help: "How many monitor objects",
        value: (row) => row.monitors,
        show: (row) => count(row.monitors),
      },
      {
        key: "threads",
        title: "Threads",
        help: "How many threads",
        value: (row) => row.threads,
        show: (row) => count(row.threads),
      },
    ],
    [data?.sum, title, kind],
  );
  return (
    <Panel
      title={title}
      table="callers"
      parameters={{...parameters, kind}}
      extra={
        kinds.length > 1 && (
          <select aria-label="Kind of wait" value={kind} onChange={(e) => setKind(e.currentTarget.value)}>
            {kinds.map((one) => (
              <option key={one} value={one}>
                {kindTitles[one]}
              </option>
            ))}
          </select>
        )
      }
    >
      <Problem text={error} />
      <Table<CallerRow, string>
        label={`${title}, by caller method`}
        columns={columns}
        rows={data?.callers ?? []}
        id={key}
        sort={sort}
        onSort={setSort}
        onOpen={(row) => onStack({row, use: 0, side: title === "Blocked" ? "right" : "left"})}
        sum={data?.sum}
        loading={loading}
        onEnd={() => data && data.total > limit && setLimit(limit + page)}
        empty={kind === "blocked" ? "Nobody was blocked here." : "Nobody waited so here."}
      />
    </Panel>
  );
}

function StackPanel({
  row,
  use,
  side,
  setUse,
  onClose,
}: {
  row: CallerRow;
  use: number;
  side: string;
  setUse: (use: number) => void;
  onClose: () => void;
}) {
  const {session} = useKnown();
  const chosen = row.stacks[use] ?? row.stacks[0];
  const {data, error} = useAnswer<Stack>(
    session && chosen ? address(`sessions/${session.id}/stack`, {id: chosen.stack}) : null,
  );
  useEffect(() => {
    const key = (e: KeyboardEvent) => e.key === "Escape" && onClose();
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  }, []);
  return (
    <section class={`panel stack-panel ${side}`} aria-label="Call stack">
      <header>
        <h2>{method(row.method)}</h2>
        <span class="hint">
          on {shortClass(row.class)}, longest <Time ns={row.stats.max} />
        </span>
        <span class="apart" />
        <button type="button" class="button" onClick={() => goTo(row.longest.thread.id, row.longest.seq)}>
          Show the longest
        </button>
        <Button icon="close" label="Close (Esc)" onClick={onClose} />
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
              onClick={() => setUse(i)}
            >
              <span>{one.line || `stack ${one.stack}`}</span>
              <span class="faint">
                <Time ns={one.time} /> in {count(one.count)}
              </span>
            </button>
          ))}
          {row.hidden > 0 && <span class="hint">and {row.hidden} shorter ones</span>}
        </div>
        <div class="stack">
          <Frames stack={data} empty={row.stacks.length === 0 ? "No stack was taken here." : "…"} />
        </div>
      </div>
    </section>
  );
}
