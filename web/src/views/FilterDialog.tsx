// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Which threads the visualizer shows: a table to choose from, and criteria that narrow each other.
import {useMemo, useState} from "preact/hooks";
import {useKnown} from "../known";
import {count} from "../lib/format";
import {type Filter, filtered, noFilter} from "../lib/rows";
import type {ThreadRow} from "../lib/types";
import {show} from "../store";
import {Dialog} from "../ui/parts";
import {Table} from "../ui/Table";
import {threadColumns} from "./columns";

export function FilterDialog({filter, onClose}: {filter: Filter; onClose: () => void}) {
  const {threads, allThreads} = useKnown();
  const [draft, setDraft] = useState(filter);
  const shownRows = useMemo(() => filtered(threads, {...draft, only: null}), [threads, draft]);
  const chosen = draft.only ?? threads.map(({id}) => id);
  const set = (patch: Partial<Filter>) => setDraft({...draft, ...patch});
  const choose = (only: number[]) => set({only: only.length === threads.length ? null : only});
  const shown = shownRows.map(({id}) => id);
  const all = new Set(chosen);
  const toggle = ({id}: ThreadRow) => choose(all.has(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  const columns = useMemo(
    () => [
      {
        key: "chosen",
        title: "Show",
        value: (thread: ThreadRow) => (all.has(thread.id) ? 1 : 0),
        show: (thread: ThreadRow) => (
          <input
            type="checkbox"
            checked={all.has(thread.id)}
            aria-label={`Show ${thread.name}`}
            onClick={(e) => e.stopPropagation()}
            onDblClick={(e) => e.stopPropagation()}
            onChange={() => toggle(thread)}
          />
        ),
      },
      ...threadColumns,
    ],
    [draft, threads],
  );
  const apply = () => {
    show({filter: draft});
    onClose();
  };
  const visible = filtered(threads, draft).length;
  return (
    <Dialog title="Which threads are shown" onClose={onClose} wide>
      <div class="criteria">
        <label class="field grow">
          Name
          <input
            type="search"
            value={draft.pattern}
            placeholder="part of a name, worker-*, /expression/, !not"
            onInput={(e) => set({pattern: e.currentTarget.value})}
            onKeyDown={(e) => e.key === "Enter" && apply()}
          />
        </label>
        <label class="choice">
          <input
            type="checkbox"
            checked={draft.contended}
            onChange={(e) => set({contended: e.currentTarget.checked})}
          />
          were blocked
        </label>
        <label class="choice">
          <input type="checkbox" checked={draft.alive} onChange={(e) => set({alive: e.currentTarget.checked})} />
          are alive
        </label>
        <label class="choice">
          <input type="checkbox" checked={draft.platform} onChange={(e) => set({platform: e.currentTarget.checked})} />
          are no virtual threads
        </label>
      </div>
      <div class="criteria">
        <button type="button" class="button" onClick={() => choose([...new Set([...chosen, ...shown])])}>
          Select all
        </button>
        <button type="button" class="button" onClick={() => choose(chosen.filter((id) => !shown.includes(id)))}>
          Select none
        </button>
        <button
          type="button"
          class="button"
          onClick={() => choose([...chosen.filter((id) => !shown.includes(id)), ...shown.filter((id) => !all.has(id))])}
        >
          Invert
        </button>
        <span class="hint">
          {count(visible)} of {count(allThreads)} threads will be shown; a double click or Enter chooses one alone
        </span>
      </div>
      <div class="dialog-table">
        <Table
          label="Threads"
          columns={columns}
          rows={shownRows}
          id={(thread) => thread.id}
          sort={{key: "name", order: "asc"}}
          onToggle={toggle}
          onOpen={(thread) => choose([thread.id])}
          empty="No thread has all of these properties"
        />
      </div>
      <footer>
        <button type="button" class="button" onClick={() => setDraft(noFilter)}>
          Reset
        </button>
        <span class="apart" />
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button primary" onClick={apply}>
          Show {visible} {visible === 1 ? "thread" : "threads"}
        </button>
      </footer>
    </Dialog>
  );
}
