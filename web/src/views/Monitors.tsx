// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Monitor statistics: waits by kind, threads, lock classes, then the methods that blocked and waited. The selection in a
// table limits the methods, and that of threads also the other tables.
import {useMemo, useState} from "preact/hooks";
import type {Parameters} from "../api";
import {scope, threadsParameter, useClasses, useKnown, usePart} from "../known";
import {count, many} from "../lib/format";
import {type Shown, waits} from "../lib/link";
import type {Sort} from "../lib/table";
import type {ClassRow, KindRow, Kinds, StateTime, ThreadRow, ThreadSum} from "../lib/types";
import {show} from "../store";
import {Problem} from "../ui/parts";
import {Table} from "../ui/Table";
import {CallersPanel, type Choice, pageSize, StackPanel} from "./Callers";
import {classColumns, threadColumns} from "./columns";
import {kindColumns} from "./kinds";
import {Panel} from "./Panel";

export function MonitorsView({shown}: {shown: Shown}) {
  const [stack, setStack] = useState<Choice | null>(null);
  const selection: Parameters = {...scope(shown), threads: threadsParameter(shown.threads)};
  const callers: Parameters = {...selection, class: shown.classes};
  const [state, only] = shown.kind.split(".");
  const onlyOf = (one: string) => (state === one && only) || "";
  return (
    <div class="monitors">
      <KindsPanel shown={shown} selection={selection} />
      <ThreadsPanel shown={shown} />
      <ClassesPanel shown={shown} selection={selection} />
      <div class="two">
        <CallersPanel
          title="Blocked"
          choices={["blocked"]}
          kind="blocked"
          parameters={callers}
          only={onlyOf("blocked")}
          onStack={setStack}
        />
        <CallersPanel
          title="Waited"
          choices={waits}
          kind={shown.waits}
          parameters={callers}
          only={onlyOf(shown.waits)}
          onStack={setStack}
        />
      </div>
      {stack && <StackPanel choice={stack} onChoose={setStack} />}
    </div>
  );
}

/** What threads waited for, of whatever kind: a selected kind limits the methods. */
function KindsPanel({shown, selection}: {shown: Shown; selection: Parameters}) {
  const {data, error, loading} = usePart<Kinds>("kinds", selection);
  const columns = useMemo(() => kindColumns(data?.sum), [data?.sum]);
  const choose = ([kind = ""]: string[]) => {
    const state = waits.find((one) => kind.startsWith(`${one}.`));
    show(state ? {kind, waits: state} : {kind});
  };
  return (
    <Panel
      title="Waits by kind"
      hint={shown.kind ? "limits the methods below" : "click to select"}
      table="kinds"
      parameters={selection}
    >
      <Problem text={error} />
      <Table<KindRow, string>
        label="Waits by kind"
        name="kinds"
        columns={columns}
        rows={data?.kinds ?? []}
        id={kindOf}
        sort={{key: "stats.time", order: "desc"}}
        chosen={shown.kind ? [shown.kind] : []}
        onChoose={choose}
        sum={data?.sum}
        loading={loading}
        empty="No thread waited in this range."
      />
    </Panel>
  );
}

function kindOf({state, wait}: KindRow): string {
  return `${state}.${wait}`;
}

function ThreadsPanel({shown}: {shown: Shown}) {
  const {threads, groups, allThreads} = useKnown();
  const {threads: ids} = shown;
  const sum = useMemo(() => {
    const chosen = new Set(ids);
    if (chosen.size > 0) return total(threads.filter(({id}) => chosen.has(id)));
    const platform = threads.filter(({virtual}) => !virtual); // groups have the sums of all virtual threads
    return total([...platform, ...groups], groups.length > 0 ? allThreads : platform.length);
  }, [threads, groups, allThreads, ids]);
  const virtual = groups.reduce((sum, group) => sum + group.threads, 0);
  const listed = threads.filter((thread) => thread.virtual).length;
  const some = virtual > listed ? `${count(listed)} of ${count(virtual)} virtual threads are listed; ` : "";
  return (
    <Panel
      title="Threads"
      hint={`${some}${chosenHint(ids.length, "thread", "threads")}`}
      table="threads"
      parameters={scope(shown)}
    >
      <Table
        label="Threads"
        name="threads"
        columns={threadColumns}
        rows={threads}
        id={({id}) => id}
        sort={{key: "blocked.time", order: "desc"}}
        chosen={ids}
        onChoose={(threads) => show({threads})}
        onOpen={({id}) => show({tab: "threads", thread: id, seq: 0})}
        multiple
        sum={sum}
        empty="No threads in this range."
      />
    </Panel>
  );
}

function ClassesPanel({shown, selection}: {shown: Shown; selection: Parameters}) {
  const [sort, setSort] = useState<Sort>({key: "blocked.time", order: "desc"});
  const [limit, setLimit] = useState(pageSize);
  const {data, error, loading} = useClasses({...selection, sort: sort.key, order: sort.order, limit});
  const columns = useMemo(() => classColumns(data?.sum), [data?.sum]);
  return (
    <Panel
      title="Lock classes"
      hint={chosenHint(shown.classes.length, "class", "classes")}
      table="classes"
      parameters={{...selection, savings: true}}
    >
      <Problem text={error} />
      <Table<ClassRow, string>
        label="Lock classes"
        name="classes"
        columns={columns}
        rows={data?.classes ?? []}
        id={(row) => row.class}
        sort={sort}
        onSort={setSort}
        chosen={shown.classes}
        onChoose={(classes) => show({classes})}
        multiple
        sum={data?.sum}
        loading={loading}
        onEnd={() => data && data.total > limit && setLimit(limit + pageSize)}
        empty="The selected threads did not contend for any lock."
      />
    </Panel>
  );
}

function chosenHint(n: number, one: string, many: string): string {
  if (n === 0) return "click to select; use Ctrl or Shift to select several";
  return n === 1 ? `1 ${one} selected` : `${n} ${many} selected; the totals count only these`;
}

function total(threads: readonly ThreadSum[], number = threads.length): ThreadRow {
  const add = (key: "blocked" | "waited" | "idle" | "io"): StateTime => ({
    count: threads.reduce((sum, thread) => sum + thread[key].count, 0),
    time: threads.reduce((sum, thread) => sum + thread[key].time, 0),
  });
  return {
    id: 0,
    name: `Total of ${many(number, "thread")}`,
    group: "",
    pool: "",
    daemon: false,
    jvm: false,
    only_idle: false,
    virtual: false,
    virtual_group: "",
    from: 0,
    to: 0,
    dead: false,
    blocked: add("blocked"),
    waited: add("waited"),
    idle: add("idle"),
    io: add("io"),
    states: [],
    time: 0,
  };
}
