// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The selected lock: its sums and its convoys.
import {useMemo} from "preact/hooks";
import {useKnown} from "../known";
import {count, instant, shortClass} from "../lib/format";
import type {Convoy, LockLane, StateTime} from "../lib/types";
import {show} from "../store";
import type {LocksPlane} from "../timeline/locks";
import {Button, Fact, Time} from "../ui/parts";
import {Table} from "../ui/Table";
import type {Column} from "../ui/tableState";
import {timeColumn} from "./columns";
import {ThreadName} from "./links";

export function LockDetail({lane, plane}: {lane: LockLane; plane: LocksPlane | null}) {
  const {lock, name} = lane.row;
  return (
    <section class="detail" aria-label="Lock">
      <header>
        <h2>
          {name || shortClass(lock.class)}
          <span class="faint">@{lock.hash}</span>
        </h2>
        <span class="faint">{lock.class}</span>
        <span class="apart" />
        <Button text="Class statistics" onClick={() => show({tab: "monitors", classes: [lock.class]})} />
        <Button icon="close" label="Close (Esc)" onClick={() => show({lock: 0})} />
      </header>
      <Sides lane={lane} plane={plane} />
    </section>
  );
}

function Sides({lane: {row, handoffs, convoys}, plane}: {lane: LockLane; plane: LocksPlane | null}) {
  const {byId} = useKnown();
  const {columns, ref} = useMemo(() => {
    // The answer names the threads in sight; those of a convoy may be elsewhere.
    const ref = (id: number) => ({id, name: byId.get(id)?.name ?? plane?.name(id) ?? String(id)});
    return {ref, columns: convoyColumns((id) => ref(id).name)};
  }, [byId, plane]);
  const first = handoffs[0];
  return (
    <div class="sides">
      <dl class="facts">
        <Sum name="Blocked" of={row.blocked} />
        <Sum name="Waited" of={row.waited} />
        <Sum name="Held" of={row.held} note=", as far as contention shows" />
        <Fact name="Holders">{count(row.holders)} threads</Fact>
        <Fact name="Longest queue">{count(row.waiters)} threads</Fact>
        <Fact name="Handoffs">{count(row.handoffs)}</Fact>
        {first && (
          <Fact name="First handoff">
            <ThreadName thread={ref(first.from)} /> → <ThreadName thread={ref(first.to)} />
          </Fact>
        )}
      </dl>
      <div class="fill">
        <Table
          label="Convoys"
          columns={columns}
          rows={convoys}
          id={({from}) => `${from}`}
          sort={{key: "length", order: "desc"}}
          onOpen={open}
          empty="No consecutive handoffs."
        />
      </div>
    </div>
  );
}

function open({from, to}: Convoy): void {
  show({range: {from, to: Math.max(to, from + 1)}, view: {from, to: Math.max(to, from + 50)}, tab: "threads"});
}

function Sum({name, of, note}: {name: string; of: StateTime; note?: string}) {
  return (
    <Fact name={name}>
      <Time ns={of.time} />, {count(of.count)} times{note}
    </Fact>
  );
}

function convoyColumns(nameOf: (thread: number) => string): Column<Convoy>[] {
  const names = ({threads}: Convoy, separator: string) => threads.map(nameOf).join(separator);
  return [
    {key: "length", title: "Handoffs", value: ({length}) => length},
    {key: "from", title: "From", value: ({from}) => from, show: ({from}) => instant(from, 1e5)},
    timeColumn("time", "Duration", "Duration of the convoy", ({from, to}) => to - from),
    {
      key: "threads",
      title: "Threads",
      grow: true,
      value: (convoy) => names(convoy, ", "),
      tip: (convoy) => names(convoy, " → "),
    },
  ];
}
