// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The critical path as tables: what it went through, and what each would save.
import {type Answer, address, useAnswer} from "../api";
import {useKnown} from "../known";
import {count, duration, percent, shortClass, shortMethod} from "../lib/format";
import {type By, pathTables, type Shown} from "../lib/link";
import {type Span, shorter} from "../lib/scale";
import type {Path, PathRow} from "../lib/types";
import {show} from "../store";
import {Icon} from "../ui/Icon";
import {Problem, Share, Time} from "../ui/parts";
import {type Column, Table} from "../ui/Table";
import {ThreadName} from "./Detail";
import {Panel} from "./Monitors";

const titles: Record<By, string> = {
  classes: "Lock classes",
  locks: "Locks",
  sites: "Call sites",
  per_thread: "Threads",
  per_kind: "What it was",
};

export function PathView({shown}: {shown: Shown}) {
  const {session, version} = useKnown();
  const table = shown.by;
  const parameters = {
    from: shown.range?.from,
    to: shown.range?.to,
    thread: shown.pathThread || undefined,
    mode: shown.mode,
  };
  const path = useAnswer<Path>(session ? address(`sessions/${session.id}/path`, parameters) : null, version);
  const {data, loading} = path;
  return (
    <div class="path-view">
      <div class="toolbar">
        <label class="field">
          Path of
          <select value={shown.pathThread} onChange={(e) => show({pathThread: Number(e.currentTarget.value)})}>
            <option value={0}>the thread that was blocked longest</option>
            <ThreadOptions chosen={shown.pathThread} />
          </select>
        </label>
        <label class="field">
          Mode
          <select value={shown.mode} onChange={(e) => show({mode: e.currentTarget.value as Shown["mode"]})}>
            <option value="bounded">bounded: why did this thread take so long?</option>
            <option value="unbounded">unbounded: the whole program's path to the end</option>
          </select>
        </label>
        <div class="tools">
          <button type="button" class="button" onClick={() => show({tab: "threads", path: true})}>
            Show it over the lanes
          </button>
        </div>
      </div>
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
      <Panel title={titles[table]} hint="a row leads to its longest piece" table="path" parameters={parameters}>
        <Table<PathRow, string>
          label="Critical path"
          columns={columnsOf(table)}
          rows={data?.[table] ?? []}
          id={(row) => `${row.name} ${row.lock?.id ?? ""} ${row.thread?.id ?? ""} ${row.stack} ${row.state}`}
          sort={{key: "time", order: "desc"}}
          onOpen={(row) =>
            row.first &&
            show({tab: "threads", thread: row.first.thread.id, seq: row.first.seq, path: true, follow: false})
          }
          loading={loading}
          empty={
            path.error || table === "per_thread" || table === "per_kind"
              ? "There is no path in this range."
              : "The path did not go through any wait: nobody held it up."
          }
        />
      </Panel>
    </div>
  );
}

/** The threads that were blocked longest, and the chosen one. */
export function ThreadOptions({chosen}: {chosen: number}) {
  const {threads, byId} = useKnown();
  const some = threads.slice(0, 500);
  const other = byId.get(chosen);
  return (
    <>
      {(other && !some.includes(other) ? [other, ...some] : some).map(({id, name}) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </>
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
      Too many intervals for one critical path: drag over the ruler of the lanes to choose a shorter range, or
      <button type="button" class="button" onClick={() => show({range: fitting})}>
        Choose the last {duration(fitting.to - fitting.from)}
      </button>
    </p>
  );
}

function Summary({path}: {path: Path}) {
  const length = path.to - path.from;
  const kinds = path.per_kind;
  return (
    <div class="summary">
      <p>
        {path.unbounded ? (
          <>
            The program's path to its end, which <ThreadName thread={path.thread} /> reached
          </>
        ) : (
          <>
            What <ThreadName thread={path.thread} /> spent its time on
          </>
        )}
        : {duration(length)} in {count(path.total)} pieces.
        {path.chosen !== "asked" && (
          <span class="faint">
            {" "}
            It is the thread that {path.chosen === "ran last" ? "ran last" : "was blocked longest"}.
          </span>
        )}
        {path.cut && " The path was cut: it has more pieces than are looked at."}
      </p>
      <div class="stacked" role="img" aria-label={kinds.map((row) => `${row.name} ${percent(row.share)}`).join(", ")}>
        {kinds
          .filter((row) => row.share > 0.002)
          .map((row, i) => (
            <span
              key={row.name}
              class={`part part-${i % 6}`}
              style={{width: `${row.share * 100}%`}}
              title={`${row.name}: ${duration(row.time)}, ${percent(row.share)}`}
            >
              {row.share > 0.08 ? `${row.name} ${percent(row.share)}` : ""}
            </span>
          ))}
      </div>
    </div>
  );
}

function columnsOf(table: By): Column<PathRow>[] {
  const short = (row: PathRow) => {
    if (table === "classes" || table === "locks")
      return shortClass(row.name) || (row.state === "sleeping" ? "(no lock)" : "(unknown)");
    return table === "sites" ? shortMethod(row.name) : row.name;
  };
  const waits = table === "classes" || table === "locks" || table === "sites";
  const columns: Column<PathRow>[] = [
    {
      key: "name",
      title:
        table === "sites" ? "Call site" : table === "per_thread" ? "Thread" : table === "per_kind" ? "Kind" : "Lock",
      grow: true,
      value: (row) => row.name,
      show: (row) => (
        <>
          {short(row)}
          {table === "locks" && row.lock && <span class="faint">@{row.lock.hash}</span>}
        </>
      ),
      tip: (row) => row.name,
    },
  ];
  if (waits) columns.push({key: "state", title: "State", value: (row) => row.state});
  columns.push(
    {key: "count", title: waits ? "Waits" : "Pieces", value: (row) => row.count, show: (row) => count(row.count)},
    {
      key: "time",
      title: "On the path",
      help: "Time of the path",
      value: (row) => row.time,
      show: (row) => <Time ns={row.time} />,
    },
    {
      key: "share",
      title: "Share",
      help: "Part of the path",
      value: (row) => row.share,
      show: (row) => <Share share={row.share} />,
    },
  );
  if (table === "classes" || table === "locks") {
    columns.push(
      {
        key: "drag",
        title: "Would save",
        help: "How much earlier the thread would be done if nobody had to wait for it",
        value: (row) => row.saving?.drag ?? 0,
        show: (row) => (row.saving ? <Time ns={row.saving.drag} /> : <span class="zero">–</span>),
      },
      {
        key: "bound",
        title: "At most",
        help: "It can never save more than this",
        value: (row) => row.saving?.bound ?? 0,
        show: (row) => (row.saving ? <Time ns={row.saving.bound} /> : <span class="zero">–</span>),
      },
    );
  }
  return columns;
}
