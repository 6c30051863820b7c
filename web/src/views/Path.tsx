// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The critical path: tables of what is on it and what each part would save, and the choices that other views need, too.
import {useMemo} from "preact/hooks";
import type {Answer} from "../api";
import {useKnown, usePart} from "../known";
import {duration, percent, shortClass, shortMethod} from "../lib/format";
import {type By, pathTables, type Shown} from "../lib/link";
import {type Span, shorter} from "../lib/scale";
import type {Path, PathRow} from "../lib/types";
import {pieceTitle, states, waitTitle} from "../lib/words";
import {show} from "../store";
import {Icon} from "../ui/Icon";
import {Button, Problem, Share, Swatch} from "../ui/parts";
import {Table} from "../ui/Table";
import type {Column} from "../ui/tableState";
import {countColumn, savingColumn, timeColumn} from "./columns";
import {Panel} from "./Panel";
import {pathParameters} from "./threadsPlane";

const titles: Record<By, string> = {
  parts: "What took the time",
  classes: "Lock classes",
  locks: "Locks",
  sites: "Call sites",
  per_thread: "Threads",
  per_kind: "Activity",
};

const nameTitles: Record<By, string> = {
  parts: "The thread was",
  classes: "Lock",
  locks: "Lock",
  sites: "Call site",
  per_thread: "Thread",
  per_kind: "Activity",
};

export const modes: Record<Shown["mode"], string> = {
  bounded: "why did this thread take so long?",
  unbounded: "the whole program, up to its end",
};

export function PathView({shown}: {shown: Shown}) {
  const table = shown.by;
  const parameters = pathParameters(shown);
  const path = usePart<Path>("path", parameters);
  const {data, loading} = path;
  const savings = data?.no_savings === "";
  const columns = useMemo(() => columnsOf(table, savings), [table, savings]);
  return (
    <div class="path-view">
      <Choices shown={shown} />
      <PathProblem answer={path} range={shown.range} />
      {data && data.segments.length > 0 && <Summary path={data} />}
      <div class="subtabs" role="tablist" aria-label="Critical path by">
        {pathTables.map((key) => (
          <button key={key} type="button" role="tab" aria-selected={table === key} onClick={() => show({by: key})}>
            {titles[key]}
            <span class="count">{data?.[key].length ?? ""}</span>
          </button>
        ))}
      </div>
      <Panel title={titles[table]} hint="click a row to see its longest segment" table="path" parameters={parameters}>
        <Table<PathRow, string>
          label="Critical path"
          name={`path-${table}`}
          columns={columns}
          rows={data?.[table] ?? []}
          id={(row) =>
            `${row.name} ${row.lock?.id ?? ""} ${row.thread?.id ?? ""} ${row.stack} ${row.state} ${row.shown}`
          }
          sort={{key: "time", order: "desc"}}
          onOpen={({first}) =>
            first && show({tab: "threads", thread: first.thread.id, seq: first.seq, path: true, follow: false})
          }
          loading={loading}
          empty={
            path.error || table === "parts" || table === "per_thread" || table === "per_kind"
              ? "No path in this range."
              : "No waits on the path: nothing held the thread up."
          }
        />
      </Panel>
    </div>
  );
}

function Choices({shown}: {shown: Shown}) {
  return (
    <div class="toolbar">
      <ThreadSelect label="Path of" otherwise="the thread that waited longest" shown={shown} />
      <label class="field">
        Mode
        <select value={shown.mode} onChange={(e) => show({mode: e.currentTarget.value as Shown["mode"]})}>
          {Object.entries(modes).map(([mode, text]) => (
            <option key={mode} value={mode}>
              {mode}: {text}
            </option>
          ))}
        </select>
      </label>
      <div class="tools">
        <Button text="Show on the lanes" onClick={() => show({tab: "threads", path: true})} />
      </div>
    </div>
  );
}

interface ThreadSelectProps {
  label: string;
  /** The option for no thread in particular. */
  otherwise: string;
  shown: Shown;
  patch?: Partial<Shown>;
}

/** Selects the thread whose path is shown, among those that waited longest. */
export function ThreadSelect({label, otherwise, shown, patch}: ThreadSelectProps) {
  const {threads, byId} = useKnown();
  const some = threads.slice(0, 500);
  const other = byId.get(shown.pathThread);
  return (
    <label class="field">
      {label}
      <select value={shown.pathThread} onChange={(e) => show({...patch, pathThread: Number(e.currentTarget.value)})}>
        <option value={0}>{otherwise}</option>
        {(other && !some.includes(other) ? [other, ...some] : some).map(({id, name}) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Why there is no path, and what to do about it. */
export function PathProblem({answer, range}: {answer: Answer<Path>; range: Span | null}) {
  const {session} = useKnown();
  if (answer.status !== 422 || !session) return <Problem text={answer.error} />;
  const fitting = shorter(session, range);
  return (
    <p class="problem" role="alert" title={answer.error ?? ""}>
      <Icon name="warn" />
      Too many intervals for a critical path: drag on the ruler above the lanes to select a shorter range, or
      <Button text={`Select the last ${duration(fitting.to - fitting.from)}`} onClick={() => show({range: fitting})} />
    </p>
  );
}

const choices: Record<string, string> = {
  "waited longest": "This thread waited longest for others.",
  "main thread": "No thread waited for others, so this is the main thread.",
  "ended last": "This thread ended last.",
};

function Summary({path}: {path: Path}) {
  const {parts, no_savings} = path;
  return (
    <div class="summary">
      <p class="spoken">{path.text}</p>
      <p class="hint">
        {path.chosen !== "asked" && `${choices[path.chosen] ?? ""} `}
        {path.cut && "The path is truncated: it has too many segments."}
      </p>
      <div class="stacked" role="img" aria-label={path.text}>
        {parts
          .filter(({share}) => share > 0.002)
          .map((row) => (
            <Part key={`${row.name} ${row.shown}`} row={row} />
          ))}
      </div>
      <p class="hint">
        {no_savings ||
          "Saves is an estimate: the same work, enough CPUs, and all other locks in the same order. In tests with programs whose gain is known, it was right to 5 % and a millisecond."}
      </p>
    </div>
  );
}

/** A part of the path, in the color that the thread's lane has meanwhile. */
function Part({row}: {row: PathRow}) {
  const state = states[row.shown] ?? "unknown";
  return (
    <span
      class="part"
      data-state={state}
      style={{
        width: `${row.share * 100}%`,
        background: `var(--state-${state})`,
        color: `var(--on-${state}, var(--on-state))`,
      }}
      title={`${row.name}: ${duration(row.time)}, ${percent(row.share)}`}
    >
      {row.share > 0.08 ? `${percent(row.share)} ${row.name}` : ""}
    </span>
  );
}

function columnsOf(table: By, savings: boolean): Column<PathRow>[] {
  const ofLocks = table === "classes" || table === "locks";
  const ofWaits = ofLocks || table === "sites";
  const lockName = (row: PathRow) => shortClass(row.name) || (row.state === "sleep" ? "(no lock)" : "(unknown)");
  const nameOf = ({name}: PathRow) =>
    table === "sites" ? shortMethod(name) : table === "per_kind" ? pieceTitle(name) : name;
  const columns: (Column<PathRow> | false)[] = [
    {
      key: "name",
      title: nameTitles[table],
      grow: true,
      value: nameOf,
      show: (row) => (
        <>
          {table === "parts" && <Swatch state={states[row.shown] ?? "unknown"} />}
          {ofLocks ? lockName(row) : nameOf(row)}
          {table === "locks" && row.lock && <span class="faint">@{row.lock.hash}</span>}
        </>
      ),
      tip: (row) => row.name,
    },
    ofWaits && {key: "state", title: "Waits for", width: 150, value: (row) => waitTitle(row.state)},
    countColumn("count", ofWaits ? "Waits" : "Segments", "", (row) => row.count),
    timeColumn("time", "On the path", "Time spent on the path", (row) => row.time),
    {
      key: "share",
      title: "Share",
      width: 124,
      help: "Share of the path",
      value: (row) => row.share,
      show: (row) => <Share share={row.share} />,
    },
    table === "parts" && {
      key: "thread",
      title: "Mostly for",
      help: "The thread that this one waited for longest",
      value: ({thread}) => thread?.name ?? "",
    },
    ofLocks &&
      savings &&
      savingColumn("drag", "Saves", "How much earlier the thread would finish if no thread waited for it", "drag"),
    ofLocks && savings && savingColumn("bound", "At most", "Upper limit of what fixing it can save", "bound"),
  ];
  return columns.filter((column) => column !== false);
}
