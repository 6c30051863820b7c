// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Which threads the visualizer shows: a table to select from, and criteria that narrow each other.
import {useMemo, useState} from "preact/hooks";
import {useKnown} from "../known";
import {count, many} from "../lib/format";
import {type Filter, filtered, noFilter} from "../lib/rows";
import {toggled} from "../lib/table";
import type {ThreadRow} from "../lib/types";
import {show} from "../store";
import {useEvent} from "../ui/hooks";
import {Dialog} from "../ui/Popup";
import {Button, Choice} from "../ui/parts";
import {Table} from "../ui/Table";
import type {Column} from "../ui/tableState";
import {threadColumns} from "./columns";

export function FilterDialog({filter, onClose}: {filter: Filter; onClose: () => void}) {
  const {threads, allThreads} = useKnown();
  const [draft, setDraft] = useState(filter);
  const listed = useMemo(() => filtered(threads, {...draft, only: null}), [threads, draft]);
  const set = (patch: Partial<Filter>) => setDraft({...draft, ...patch});
  const choose = (only: number[]) => set({only: only.length === threads.length ? null : only});
  const chosen = useMemo(() => new Set(draft.only ?? threads.map(({id}) => id)), [draft.only, threads]);
  const toggle = useEvent(({id}: ThreadRow) => choose(toggled([...chosen], id)));
  const columns = useMemo(() => [tickColumn(chosen, toggle), ...threadColumns], [chosen]);
  const apply = () => {
    show({filter: draft});
    onClose();
  };
  const visible = filtered(threads, draft).length;
  return (
    <Dialog title="Select threads" onClose={onClose} wide>
      <Criteria draft={draft} set={set} apply={apply} />
      <div class="criteria">
        <Selection listed={listed.map(({id}) => id)} chosen={chosen} onChoose={choose} />
        <span class="hint">
          {count(visible)} of {many(allThreads, "thread")} selected; double-click or press Enter to select only one
        </span>
      </div>
      <div class="dialog-table">
        <Table
          label="Threads"
          columns={columns}
          rows={listed}
          id={({id}) => id}
          sort={{key: "name", order: "asc"}}
          onToggle={toggle}
          onOpen={({id}) => choose([id])}
          empty="No thread matches."
        />
      </div>
      <footer>
        <Button text="Reset" onClick={() => setDraft(noFilter)} />
        <span class="apart" />
        <Button text="Cancel" onClick={onClose} />
        <Button text={`Show ${many(visible, "thread")}`} kind="primary" onClick={apply} />
      </footer>
    </Dialog>
  );
}

function tickColumn(chosen: ReadonlySet<number>, toggle: (thread: ThreadRow) => void): Column<ThreadRow> {
  return {
    key: "chosen",
    title: "Show",
    width: 64,
    value: ({id}) => (chosen.has(id) ? 1 : 0),
    show: (thread) => (
      <input
        type="checkbox"
        checked={chosen.has(thread.id)}
        aria-label={`Show ${thread.name}`}
        onClick={(e) => e.stopPropagation()}
        onDblClick={(e) => e.stopPropagation()}
        onChange={() => toggle(thread)}
      />
    ),
  };
}

interface CriteriaProps {
  draft: Filter;
  set: (patch: Partial<Filter>) => void;
  apply: () => void;
}

function Criteria({draft, set, apply}: CriteriaProps) {
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key !== "Enter") return;
    e.preventDefault(); // the focus returns to the button of the dialog, which Enter would press again
    apply();
  };
  const properties = {contended: "blocked at least once", alive: "alive", platform: "platform threads only"};
  return (
    <div class="criteria">
      <label class="field grow">
        Name
        <input
          type="search"
          value={draft.pattern}
          placeholder="part of a name, worker-*, /expression/, !not"
          onInput={(e) => set({pattern: e.currentTarget.value})}
          onKeyDown={onKeyDown}
        />
      </label>
      {(Object.keys(properties) as (keyof typeof properties)[]).map((key) => (
        <Choice key={key} checked={draft[key]} onChange={(checked) => set({[key]: checked})}>
          {properties[key]}
        </Choice>
      ))}
    </div>
  );
}

interface SelectionProps {
  listed: number[];
  chosen: ReadonlySet<number>;
  onChoose: (threads: number[]) => void;
}

/** Buttons that change the listed threads, and leave the others as they are. */
function Selection({listed, chosen, onChoose}: SelectionProps) {
  const others = [...chosen].filter((id) => !listed.includes(id));
  const results: [string, number[]][] = [
    ["Select all", listed],
    ["Select none", []],
    ["Invert", listed.filter((id) => !chosen.has(id))],
  ];
  return (
    <>
      {results.map(([title, threads]) => (
        <Button key={title} text={title} onClick={() => onChoose([...others, ...threads])} />
      ))}
    </>
  );
}
