// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Columns that several tables have.
import {count, duration, shortClass, shortMethod} from "../lib/format";
import {isDeadlocked} from "../lib/rows";
import type {ClassRow, Stats, ThreadRow} from "../lib/types";
import type {State} from "../lib/words";
import {Icon} from "../ui/Icon";
import {Distribution, Time} from "../ui/parts";
import type {Column} from "../ui/Table";

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
  {
    key: "blocked.count",
    title: "Blocked",
    help: "How often it was blocked",
    value: ({blocked}) => blocked.count,
    show: ({blocked}) => count(blocked.count),
  },
  {
    key: "blocked.time",
    title: "Blocked time",
    help: "For how long it was blocked",
    value: ({blocked}) => blocked.time,
    show: ({blocked}) => <Time ns={blocked.time} />,
  },
  {
    key: "waited.count",
    title: "Waited",
    help: "How often it waited for an object",
    value: ({waited}) => waited.count,
    show: ({waited}) => count(waited.count),
  },
  {
    key: "waited.time",
    title: "Waited time",
    help: "For how long it waited for an object",
    value: ({waited}) => waited.time,
    show: ({waited}) => <Time ns={waited.time} />,
  },
];

/** The columns of a distribution; `of` leads to it, `prefix` is its name at the server. */
export function statsColumns<R>(prefix: string, title: string, of: (row: R) => Stats, state: State): Column<R>[] {
  const time = (key: keyof Stats & string, name: string, help: string): Column<R> => ({
    key: `${prefix}.${key}`,
    title: name,
    help,
    value: (row) => of(row)[key] as number,
    show: (row) => <Time ns={of(row)[key] as number} />,
  });
  return [
    {
      key: `${prefix}.count`,
      title: "Count",
      help: `How often: ${title}`,
      value: (row) => of(row).count,
      show: (row) => count(of(row).count),
    },
    time("time", "Total", `For how long in all: ${title}`),
    time("average", "Average", `The mean: ${title}`),
    time("min", "Min", `The shortest: ${title}`),
    time("max", "Max", `The longest: ${title}`),
    {
      key: `${prefix}.p95`,
      title: "Distribution",
      help: `From short to long, by powers of two; sorts by the length that 95 % do not exceed: ${title}`,
      value: (row) => of(row).p95,
      show: (row) => <Distribution stats={of(row)} state={state} />,
    },
  ];
}

export const classColumns = (sum: ClassRow | undefined): Column<ClassRow>[] => [
  {
    key: "class",
    title: "Class",
    grow: true,
    value: (row) => row.class,
    show: (row) => (row === sum ? "Total" : shortClass(row.class) || "(unknown)"),
    tip: (row) => row.class,
  },
  {
    key: "saving.drag",
    title: "Would save",
    help: "How much earlier the thread that was blocked longest would be done without contention of this class",
    value: (row) => row.saving?.drag ?? 0,
    show: (row) => (row.saving ? <Time ns={row.saving.drag} /> : <span class="zero">–</span>),
    tip: (row) => (row.saving ? `never more than ${duration(row.saving.bound)}` : ""),
  },
  ...statsColumns<ClassRow>("blocked", "blocked", (row) => row.blocked, "blocked").map((column) => ({
    ...column,
    group: "Blocked",
  })),
  ...statsColumns<ClassRow>("waited", "waited", (row) => row.waited, "waiting").map((column) => ({
    ...column,
    group: "Waited for notify",
  })),
  {
    key: "parked.time",
    title: "Parked",
    help: "For how long threads were parked on synchronizers of this class",
    value: (row) => row.parked.time,
    show: (row) => <Time ns={row.parked.time} />,
  },
  {
    key: "monitors",
    title: "Objects",
    help: "How many lock objects",
    value: (row) => row.monitors,
    show: (row) => count(row.monitors),
  },
  {
    key: "threads",
    title: "Threads",
    help: "How many threads were stopped",
    value: (row) => row.threads,
    show: (row) => count(row.threads),
  },
];

export function method(name: string): string {
  return name === "" ? "(no stack was taken)" : shortMethod(name);
}
