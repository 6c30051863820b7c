// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Columns that several tables have.
import {count, duration, shortClass, shortMethod} from "../lib/format";
import {isDeadlocked} from "../lib/rows";
import type {ClassRow, Saving, Stats, ThreadRow} from "../lib/types";
import type {State} from "../lib/words";
import {Icon} from "../ui/Icon";
import {Distribution, Time} from "../ui/parts";
import type {Column} from "../ui/tableState";

export function countColumn<R>(key: string, title: string, help: string, value: (row: R) => number): Column<R> {
  return {key, title, help, value, show: (row) => count(value(row))};
}

export function timeColumn<R>(key: string, title: string, help: string, value: (row: R) => number): Column<R> {
  return {key, title, help, value, show: (row) => <Time ns={value(row)} />};
}

/** A column for rows that may have no saving. */
export function savingColumn<R extends {saving: Saving | null}>(
  key: string,
  title: string,
  help: string,
  part: keyof Saving,
): Column<R> {
  return {
    key,
    title,
    help,
    value: ({saving}) => saving?.[part] ?? 0,
    show: ({saving}) => (saving ? <Time ns={saving[part]} /> : <span class="zero">–</span>),
  };
}

export const threadColumns: Column<ThreadRow>[] = [
  {
    key: "name",
    title: "Name",
    grow: true,
    value: ({name}) => name,
    show: (thread) => (
      <>
        {isDeadlocked(thread) && <Icon name="warn" />}
        {thread.name}
      </>
    ),
    tip: ({name}) => name,
  },
  {key: "id", title: "ID", value: ({id}) => id, show: ({id}) => id || ""}, // a sum has none
  {key: "group", title: "Group", value: ({group}) => group},
  countColumn("blocked.count", "Blocked", "Number of times the thread was blocked", ({blocked}) => blocked.count),
  timeColumn("blocked.time", "Blocked time", "Time the thread was blocked", ({blocked}) => blocked.time),
  countColumn("waited.count", "Waited", "Number of waits in Object.wait", ({waited}) => waited.count),
  timeColumn("waited.time", "Waited time", "Time in Object.wait", ({waited}) => waited.time),
];

/** The columns of a distribution; `prefix` is its name on the server. */
export function statsColumns<R>(prefix: string, title: string, of: (row: R) => Stats, state: State): Column<R>[] {
  const time = (key: "time" | "average" | "min" | "max", name: string, help: string) =>
    timeColumn<R>(`${prefix}.${key}`, name, `${help} time ${title}`, (row) => of(row)[key]);
  return [
    countColumn(`${prefix}.count`, "Count", `Number of times ${title}`, (row) => of(row).count),
    time("time", "Total", "Total"),
    time("average", "Average", "Average"),
    time("min", "Min", "Shortest"),
    time("max", "Max", "Longest"),
    {
      key: `${prefix}.p95`,
      title: "Distribution",
      help: `Times ${title} from short to long, by powers of two; sorts by the 95th percentile`,
      value: (row) => of(row).p95,
      show: (row) => <Distribution stats={of(row)} state={state} />,
    },
  ];
}

export function classColumns(sum: ClassRow | undefined): Column<ClassRow>[] {
  const grouped = (group: string, columns: Column<ClassRow>[]) => columns.map((column) => ({...column, group}));
  return [
    {
      key: "class",
      title: "Class",
      grow: true,
      value: (row) => row.class,
      show: (row) => (row === sum ? "Total" : poolOf(row) || shortClass(row.class) || "(unknown)"),
      tip: (row) => row.class,
    },
    {
      key: "kind",
      title: "Kind",
      help: "What threads had to wait for: a lock, a permit, or a pooled object",
      value: ({kind}) => kind,
    },
    {
      key: "names.0",
      title: "Locks",
      help: "What the source calls the locks, the most contended first",
      value: ({names}) => names[0] ?? "",
      show: (row) => (poolOf(row) ? shortClass(row.class) : some(row.names)),
      tip: ({names}) => names.join(", "),
    },
    {
      ...savingColumn(
        "saving.drag",
        "Saves",
        "How much earlier the thread of the critical path would finish without contention for this class",
        "drag",
      ),
      tip: ({saving}) => (saving ? `at most ${duration(saving.bound)}` : ""),
    },
    ...grouped(
      "Blocked",
      statsColumns("blocked", "blocked", (row) => row.blocked, "blocked"),
    ),
    ...grouped(
      "Object.wait",
      statsColumns("waited", "waited", (row) => row.waited, "waiting"),
    ),
    timeColumn(
      "parked.time",
      "Parked",
      "Time threads were parked on synchronizers of this class",
      ({parked}) => parked.time,
    ),
    countColumn("monitors", "Objects", "Number of lock objects", ({monitors}) => monitors),
    countColumn("threads", "Threads", "Number of threads that blocked, waited or parked", ({threads}) => threads),
  ];
}

/** The name of the pool, which says more than the class of the queue that it waits on. */
function poolOf({kind, names}: ClassRow): string {
  return (kind === "pool" && names[0]) || "";
}

function some(names: readonly string[]): string {
  return names.length > 2 ? `${names.slice(0, 2).join(", ")}, …` : names.join(", ");
}

export function method(name: string): string {
  return name === "" ? "(no stack)" : shortMethod(name);
}
