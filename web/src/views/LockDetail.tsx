// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The selected lock: its sums, its holders and its convoys.
import {useMemo, useState} from "preact/hooks";
import type {Parameters} from "../api";
import {useKnown} from "../known";
import {count, instant, many, shortClass} from "../lib/format";
import type {Convoy, LockLane, StateTime} from "../lib/types";
import {show} from "../store";
import type {LocksPlane} from "../timeline/locks";
import {Button, Fact, Time} from "../ui/parts";
import {Table} from "../ui/Table";
import type {Column} from "../ui/tableState";
import {timeColumn} from "./columns";
import {BySelect, type HeldBy, HoldersTable} from "./Holders";
import {ThreadName} from "./links";
import {SaveMenu} from "./Panel";

interface Props {
  lane: LockLane;
  plane: LocksPlane | null;
  /** The range in view. */
  parameters: Parameters | null;
}

export function LockDetail({lane, plane, parameters}: Props) {
  const {lock, name} = lane.row;
  const [by, setBy] = useState<HeldBy>("thread");
  const [convoys, setConvoys] = useState(false);
  const ofLock = parameters && {...parameters, locks: String(lock.id)};
  return (
    <section class="detail" aria-label="Lock">
      <header>
        <h2>
          {name || shortClass(lock.class)}
          <span class="faint">@{lock.hash}</span>
        </h2>
        <span class="faint">{lock.class}</span>
        <span class="apart" />
        <Button text="Holders" pressed={!convoys} onClick={() => setConvoys(false)} />
        <Button text={`Convoys: ${lane.convoys.length}`} pressed={convoys} onClick={() => setConvoys(true)} />
        {!convoys && <BySelect by={by} onChange={setBy} />}
        <SaveMenu title="holders" table="holders" parameters={{...ofLock, by}} />
        <Button text="Class statistics" onClick={() => show({tab: "monitors", classes: [lock.class]})} />
        <Button icon="close" label="Close (Esc)" onClick={() => show({lock: 0})} />
      </header>
      <div class="sides">
        <Facts lane={lane} plane={plane} />
        <div class="fill">
          {convoys ? (
            <Convoys lane={lane} plane={plane} />
          ) : (
            <HoldersTable key={lock.id} parameters={ofLock} by={by} one />
          )}
        </div>
      </div>
    </section>
  );
}

/** The name of a thread. The answer names the threads in sight; those of a convoy may be elsewhere. */
function useNames(plane: LocksPlane | null) {
  const {byId} = useKnown();
  return useMemo(() => (id: number) => byId.get(id)?.name ?? plane?.name(id) ?? String(id), [byId, plane]);
}

function Facts({lane: {row, handoffs}, plane}: Omit<Props, "parameters">) {
  const name = useNames(plane);
  const first = handoffs[0];
  return (
    <dl class="facts">
      <Sum name="Blocked" of={row.blocked} />
      <Sum name="Waited" of={row.waited} />
      <Sum name="Held" of={row.held} note=", as far as contention shows" />
      <Fact name="Holders">{many(row.holders, "thread")}</Fact>
      <Fact name="Longest queue">{many(row.waiters, "thread")}</Fact>
      <Fact name="Handoffs">{count(row.handoffs)}</Fact>
      {first && (
        <Fact name="First handoff">
          <ThreadName thread={{id: first.from, name: name(first.from)}} /> →{" "}
          <ThreadName thread={{id: first.to, name: name(first.to)}} />
        </Fact>
      )}
    </dl>
  );
}

function Convoys({lane: {convoys}, plane}: Omit<Props, "parameters">) {
  const name = useNames(plane);
  const columns = useMemo(() => convoyColumns(name), [name]);
  return (
    <Table
      label="Convoys"
      name="convoys"
      columns={columns}
      rows={convoys}
      id={({from}) => `${from}`}
      sort={{key: "length", order: "desc"}}
      onOpen={open}
      empty="No consecutive handoffs."
    />
  );
}

function open({from, to}: Convoy): void {
  show({range: {from, to: Math.max(to, from + 1)}, view: {from, to: Math.max(to, from + 50)}, tab: "threads"});
}

function Sum({name, of, note}: {name: string; of: StateTime; note?: string}) {
  return (
    <Fact name={name}>
      <span>
        <Time ns={of.time} />, {count(of.count)} times{note}
      </span>
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
