// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// What threads wait for more, and what less, than in another session or in another part of this one.
import {useMemo, useState} from "preact/hooks";
import type {Parameters} from "../api";
import {goTo, scope, useKnown, usePart} from "../known";
import {signed, type Verdict} from "../lib/flame";
import {count, duration, instant, shortMethod} from "../lib/format";
import type {Shown} from "../lib/link";
import type {Sort} from "../lib/table";
import type {Comparison, Session, WaitChange} from "../lib/types";
import {waitTitle} from "../lib/words";
import {show} from "../store";
import {Problem} from "../ui/parts";
import {Table} from "../ui/Table";
import type {Column} from "../ui/tableState";
import {pageSize} from "./Callers";
import {method} from "./columns";
import {Panel} from "./Panel";
import {began} from "./Sessions";

/** The parameters of the other range, and of the numbers of requests if both are known. */
export function baselineParameters({before, beforeRange, requests: [then, now]}: Shown): Parameters {
  if (!before) return {};
  const known = then > 0 && now > 0 ? {before_requests: then, requests: now} : {};
  return {before, before_from: beforeRange?.from, before_to: beforeRange?.to, ...known};
}

/** The numbers of requests, by which two ranges with different loads can be compared. */
export function RequestFields({shown: {requests}}: {shown: Shown}) {
  const field = (i: 0 | 1, title: string) => (
    <input
      type="number"
      min="1"
      step="1"
      class="requests"
      aria-label={`Requests ${title}`}
      value={requests[i] || ""}
      onChange={(e) => {
        const n = Math.min(999_999_999_999, Math.max(0, Math.round(e.currentTarget.valueAsNumber) || 0));
        show({requests: i === 0 ? [n, requests[1]] : [requests[0], n]});
      }}
    />
  );
  return (
    <span class="field" title="With both numbers, times are those for a request">
      Requests before {field(0, "before")} now {field(1, "now")}
    </span>
  );
}

const choices = {
  "": "nothing",
  same: "as long, before this range",
  all: "all before this range",
  halves: "the first half of this session",
  pin: "this range: choose another one next",
};

export function CompareSelect({shown}: {shown: Shown}) {
  const {session, sessions} = useKnown();
  if (!session) return null;
  const {range, before, beforeRange} = shown;
  const own = before === session.id;
  const others = (sessions ?? []).filter(({id}) => id !== session.id);
  const choose = (value: string) => {
    if (!(value in choices)) show({before: value, beforeRange: null});
    else show(earlier(value as keyof typeof choices, range, session));
  };
  const kinds = range ? (["same", "all", "pin"] as const) : (["halves"] as const);
  const current = own ? "own" : before;
  return (
    <label class="field">
      Compare with
      <select value={current} aria-label="Compare with" onChange={(e) => choose(e.currentTarget.value)}>
        <option value="">{choices[""]}</option>
        {own && (
          <option value="own">
            {beforeRange ? `${instant(beforeRange.from)} – ${instant(beforeRange.to)}` : choices.all}
          </option>
        )}
        {kinds.map((kind) => (
          <option key={kind} value={kind}>
            {choices[kind]}
          </option>
        ))}
        {others.length > 0 && (
          <optgroup label="Another session">
            {others.map((one) => (
              <option key={one.id} value={one.id}>
                {one.service || one.command || "JVM"} · {one.pid || one.id.slice(0, 8)} · {began(one)}
              </option>
            ))}
          </optgroup>
        )}
      </select>
    </label>
  );
}

/** What to show for a choice of an earlier part of the session. */
function earlier(kind: keyof typeof choices, range: Shown["range"], {id, from, to}: Session): Partial<Shown> {
  const middle = Math.floor((from + to) / 2);
  switch (kind) {
    case "":
      return {before: "", beforeRange: null, wide: "now"};
    case "halves":
      return {before: id, range: {from: middle, to}, beforeRange: {from, to: middle}};
    case "pin":
      return {before: id, beforeRange: range};
    case "same":
      if (range && range.from > from) {
        return {before: id, beforeRange: {from: Math.max(from, range.from - (range.to - range.from)), to: range.from}};
      }
      break;
  }
  return {before: id, beforeRange: null};
}

function useComparison(shown: Shown, more: Parameters) {
  return usePart<Comparison>("compare", {...scope(shown), ...baselineParameters(shown), ...more});
}

/** What got worse, in a sentence. */
export function CompareSentence({shown}: {shown: Shown}) {
  const {data} = useComparison(shown, {sort: "difference", order: "desc", limit: pageSize});
  if (!data) return null;
  const {sum, unit, same, total} = data;
  const worse = data.changes.filter(({verdict}) => verdict === "worse" || verdict === "new").slice(0, 3);
  const per = unit === "second" ? "in a second" : "for a request";
  return (
    <p class="compare-line" role="status">
      All waits together: {duration(Math.round(sum.after_rate))} {per}, before {duration(Math.round(sum.before_rate))}{" "}
      {sum.verdict === "same" ? (
        "(no real difference)"
      ) : (
        <b class={`verdict ${sum.verdict}`}>({signed(sum.difference)})</b>
      )}
      . {worse.length > 0 ? "What got worse: " : "Nothing got worse."}
      {worse.map((change, i) => (
        <span key={`${change.kind}${change.object}${change.function}`}>
          {i > 0 && ", "}
          <b>{change.object || waitTitle(change.kind)}</b>
          {change.function && ` in ${shortMethod(change.function)}`} ({change.verdict === "new" ? "new, " : ""}
          {signed(change.difference)})
        </span>
      ))}
      {worse.length > 0 && "."}
      {same > 0 && (
        <span class="faint">
          {" "}
          {count(same)} of {count(total)} did not change more than by chance.
        </span>
      )}
    </p>
  );
}

const marks: Record<Verdict, string> = {
  new: "▲ new",
  worse: "▲ worse",
  same: "same",
  better: "▼ better",
  gone: "▼ gone",
};

export function CompareTable({shown}: {shown: Shown}) {
  const [sort, setSort] = useState<Sort>({key: "difference", order: "desc"});
  const [limit, setLimit] = useState(pageSize);
  const {session} = useKnown();
  const {data, error, loading} = useComparison(shown, {sort: sort.key, order: sort.order, limit});
  const columns = useMemo(() => columnsOf(data?.sum, data?.unit ?? "second"), [data?.sum, data?.unit]);
  const open = ({longest, before_longest: old}: WaitChange) => {
    if (longest) goTo(longest.thread.id, longest.seq);
    else if (old) goTo(old.thread.id, old.seq, shown.before === session?.id ? undefined : shown.before);
  };
  return (
    <Panel
      title="Changes"
      hint="click a row to see its longest wait; sleeps and threads without a task are left out"
      table="compare"
      parameters={{...scope(shown), ...baselineParameters(shown)}}
    >
      <Problem text={error} />
      <Table<WaitChange, string>
        label="Changes"
        name="changes"
        columns={columns}
        rows={data?.changes ?? []}
        id={(row) => `${row.kind} ${row.object} ${row.function}`}
        sort={sort}
        onSort={setSort}
        onOpen={open}
        sum={data?.sum}
        loading={loading}
        onEnd={() => data && data.total > limit && setLimit(limit + pageSize)}
        empty="No thread waited in either range."
      />
    </Panel>
  );
}

function columnsOf(sum: WaitChange | undefined, unit: string): Column<WaitChange>[] {
  const rate = (key: "before_rate" | "after_rate", title: string): Column<WaitChange> => ({
    key,
    title: `${title}/${unit}`,
    help: `Time waited ${unit === "second" ? "in a second; several threads may wait at a time" : "for a request"}`,
    value: (row) => row[key],
    show: (row) => duration(Math.round(row[key])),
  });
  const number = (key: "before" | "after", title: string): Column<WaitChange> => ({
    key: `${key}.count`,
    title,
    help: `Number of waits ${key === "before" ? "before" : "in the range"}`,
    value: (row) => row[key].count,
    show: (row) => count(row[key].count),
  });
  return [
    {
      key: "verdict",
      title: "Change",
      value: ({verdict}) => verdict,
      show: (row) => <span class={`verdict ${row.verdict}`}>{marks[row.verdict as Verdict]}</span>,
    },
    {key: "kind", title: "Kind", value: ({kind}) => kind, tip: ({kind}) => waitTitle(kind)},
    {
      key: "object",
      title: "Waits for",
      grow: true,
      value: (row) => (row === sum ? "Total" : row.object),
      tip: (row) => row.class || row.object,
    },
    {
      key: "function",
      title: "In",
      grow: true,
      value: (row) => row.function,
      show: (row) => (row === sum ? "" : method(row.function)),
      tip: (row) => row.function,
    },
    rate("before_rate", "Before"),
    rate("after_rate", "Now"),
    {
      key: "difference",
      title: "Difference",
      value: ({difference}) => difference,
      show: (row) => <span class={`verdict ${row.verdict}`}>{signed(row.difference)}</span>,
    },
    number("before", "Waits before"),
    number("after", "Waits now"),
  ];
}
