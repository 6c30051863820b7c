// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Who held the locks: the time that threads waited, by lock and by what its holders did meanwhile.
import {useMemo, useState} from "preact/hooks";
import type {Parameters} from "../api";
import {goTo, usePart} from "../known";
import {count, percent} from "../lib/format";
import type {Sort} from "../lib/table";
import type {HolderRow, Holders} from "../lib/types";
import {Name, Problem} from "../ui/parts";
import {Table} from "../ui/Table";
import type {Column} from "../ui/tableState";
import {countColumn, method, timeColumn} from "./columns";
import {Panel} from "./Panel";

const pageSize = 100;

export type HeldBy = "thread" | "pool";

/** All locks, for the panel below the lanes. */
export function HoldersPanel({parameters}: {parameters: Parameters | null}) {
  const [by, setBy] = useState<HeldBy>("thread");
  return (
    <div class="holders">
      <Panel
        title="Who held the locks"
        hint="in view; click a row to see the longest wait"
        table="holders"
        parameters={{...parameters, by}}
        extra={<BySelect by={by} onChange={setBy} />}
      >
        <HoldersTable parameters={parameters} by={by} />
      </Panel>
    </div>
  );
}

export function BySelect({by, onChange}: {by: HeldBy; onChange: (by: HeldBy) => void}) {
  return (
    <select aria-label="Holders by" value={by} onChange={(e) => onChange(e.currentTarget.value as HeldBy)}>
      <option value="thread">by thread</option>
      <option value="pool">by pool of threads</option>
    </select>
  );
}

interface Props {
  parameters: Parameters | null;
  by: HeldBy;
  /** The rows are of one lock, which needs no column. */
  one?: boolean;
}

export function HoldersTable({parameters, by, one = false}: Props) {
  const [sort, setSort] = useState<Sort>({key: "time", order: "desc"});
  const [limit, setLimit] = useState(pageSize);
  const query = parameters && {...parameters, by, sort: sort.key, order: sort.order, limit};
  const {data, error, loading} = usePart<Holders>("holders", query);
  const columns = useMemo(() => columnsOf(data?.sum, one), [data?.sum, one]);
  return (
    <>
      <Problem text={error} />
      <Table<HolderRow, string>
        label="Holders"
        name={one ? "holders-lock" : "holders"}
        columns={columns}
        rows={data?.holders ?? []}
        id={(row) => `${row.class} ${row.lock} ${row.what} ${row.holder} ${row.id}`}
        sort={sort}
        onSort={setSort}
        onOpen={({wait}) => wait && goTo(wait.thread.id, wait.seq)}
        sum={data?.sum}
        loading={loading}
        onEnd={() => data && data.total > limit && setLimit(limit + pageSize)}
        empty="No thread waited for a lock, a permit or a pool here."
      />
    </>
  );
}

function holderName({what, holder, threads}: HolderRow): string {
  if (what === "unknown") return "not known";
  if (what === "others") return "other threads";
  return what === "pool" ? `${holder} (${count(threads)})` : holder;
}

function whoWaited({who, waiters}: HolderRow): string {
  const some = who.length > 0 && waiters > 1 ? ` (${count(waiters)})` : "";
  return who.join(", ") + some;
}

function columnsOf(sum: HolderRow | undefined, one: boolean): Column<HolderRow>[] {
  const total = (row: HolderRow) => (row === sum ? "Total" : "");
  const columns: (Column<HolderRow> | false)[] = [
    !one && {
      key: "lock",
      title: "Lock",
      help: "What the source calls the lock, or the pool, or else the class",
      grow: true,
      value: (row) => row.lock,
      show: (row) => total(row) || row.lock,
      tip: (row) =>
        [row.lock, row.class, row.objects > 1 ? `${count(row.objects)} objects` : ""].filter(Boolean).join("\n"),
    },
    {
      key: "holder",
      title: "Holder",
      grow: true,
      priority: 0,
      value: holderName,
      show: (row) => (row === sum ? one && total(row) : <Holder row={row} />),
    },
    {
      key: "method",
      title: "Held in",
      help: "The method in which the holder was longest while others waited, or had taken the lock",
      grow: true,
      value: (row) => row.method,
      show: (row) => (row.method || row === sum ? row.method && method(row.method) : <span class="zero">–</span>),
    },
    {
      key: "doing",
      title: "Doing",
      width: 165,
      help: "What the holder did longest while others waited, and its part of that time",
      grow: true,
      value: (row) => row.doing,
      show: (row) =>
        row.doing && (
          <>
            {row.doing} <span class="faint">{percent(row.doing_share)}</span>
          </>
        ),
      tip: (row) => row.doing && `${row.doing}, ${percent(row.doing_share)} of the time that others waited`,
    },
    {
      ...countColumn<HolderRow>("waits", "Waits meanwhile", "Waits that began meanwhile", (row) => row.waits),
      priority: 2,
    },
    timeColumn("time", "Others waited", "Time that others waited meanwhile", (row) => row.time),
    {
      key: "waiters",
      title: "Who waited",
      help: "The pools or threads that waited meanwhile; sorts by the number of threads",
      grow: true,
      value: whoWaited,
    },
    {
      ...timeColumn<HolderRow>("longest", "Longest hold", "The longest hold while others waited", (row) => row.longest),
      priority: 3,
    },
  ];
  return columns.filter((column) => column !== false);
}

function Holder({row}: {row: HolderRow}) {
  if (row.what === "unknown")
    return (
      <span class="faint" title="The recording does not say who held the lock">
        not known
      </span>
    );
  return <Name name={holderName(row)} />;
}
