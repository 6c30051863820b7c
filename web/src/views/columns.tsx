// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Columns that several tables have.
import {count, duration, shortClass, shortMethod} from "../lib/format";
import {isDeadlocked} from "../lib/rows";
import type {ClassRow, Saving, Stats, ThreadRow} from "../lib/types";
import type {State} from "../lib/words";
import {Icon} from "../ui/Icon";
import {Distribution, Name, Time} from "../ui/parts";
import type {Column} from "../ui/tableState";

export function countColumn<R>(key: string, title: string, help: string, value: (row: R) => number): Column<R> {
  return {key, title, help, value, show: (row) => count(value(row))};
}

export function timeColumn<R>(key: string, title: string, help: string, value: (row: R) => number): Column<R> {
  return {key, title, help, width: 84, value, show: (row) => <Time ns={value(row)} />};
}

/** A column that is left out before those of a lower priority. */
export function less<R>(priority: number, column: Column<R>): Column<R> {
  return {...column, priority};
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
    priority: 0,
    value: ({name}) => name,
    show: (thread) => (
      <>
        {isDeadlocked(thread) && <Icon name="warn" />}
        {thread.id ? <Name name={thread.name} /> : thread.name}
      </>
    ),
    tip: ({name}) => name,
  },
  {key: "id", title: "ID", priority: 3, width: 60, value: ({id}) => id, show: ({id}) => id || ""}, // a sum has none
  {key: "group", title: "Group", priority: 4, value: ({group}) => group},
  less(
    2,
    countColumn("blocked.count", "Blocked", "Number of times the thread was blocked", ({blocked}) => blocked.count),
  ),
  timeColumn("blocked.time", "Blocked time", "Time the thread was blocked", ({blocked}) => blocked.time),
  less(
    2,
    countColumn("waited.count", "Waited", "Number of waits in Object.wait", ({waited}) => waited.count),
  ),
  timeColumn("waited.time", "Waited time", "Time in Object.wait", ({waited}) => waited.time),
];

/** The columns of a distribution; `prefix` is its name on the server. `later` is added to their priorities. */
export function statsColumns<R>(
  prefix: string,
  title: string,
  of: (row: R) => Stats,
  state: State | ((row: R) => State),
  later = 0,
): Column<R>[] {
  const time = (key: "time" | "average" | "min" | "max", priority: number, name: string, help: string) =>
    less(
      later + priority,
      timeColumn<R>(`${prefix}.${key}`, name, `${help} time ${title}`, (row) => of(row)[key]),
    );
  return [
    less(
      later + 2,
      countColumn(`${prefix}.count`, "Count", `Number of times ${title}`, (row) => of(row).count),
    ),
    time("time", 1, "Total", "Total"),
    time("average", 2, "Average", "Average"),
    time("min", 4, "Min", "Shortest"),
    time("max", 3, "Max", "Longest"),
    {
      key: `${prefix}.p95`,
      title: "Distribution",
      priority: later + 2,
      width: 110,
      help: `Times ${title} from short to long, by powers of two; sorts by the 95th percentile`,
      value: (row) => of(row).p95,
      show: (row) => <Distribution stats={of(row)} state={typeof state === "function" ? state(row) : state} />,
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
      priority: 3,
      help: "What threads had to wait for: a lock, a permit, or a pooled object",
      value: ({kind}) => kind,
    },
    {
      key: "names.0",
      title: "Locks",
      grow: true,
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
      statsColumns("waited", "waited", (row) => row.waited, "waiting", 2),
    ),
    less(
      3,
      timeColumn(
        "parked.time",
        "Parked",
        "Time threads were parked on synchronizers of this class",
        ({parked}) => parked.time,
      ),
    ),
    less(
      3,
      countColumn("monitors", "Objects", "Number of lock objects", ({monitors}) => monitors),
    ),
    less(
      3,
      countColumn("threads", "Threads", "Number of threads that blocked, waited or parked", ({threads}) => threads),
    ),
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
