// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// States and kinds of interactions, in the order in which the server numbers them, and their descriptions.

export const states = [
  "unknown",
  "runnable",
  "blocked",
  "waiting",
  "reentering",
  "joining",
  "sleeping",
  "parked",
  "deadlocked",
  "suspended",
  "dead",
] as const;
export type State = (typeof states)[number];

export const stateHelp: Record<State, string> = {
  unknown: "History is missing: the agent was attached late, or events were lost",
  runnable: "Running or ready to run; the JVM does not report which",
  blocked: "Waiting to enter a monitor that another thread owns",
  waiting: "In Object.wait, until notified, interrupted or timed out",
  reentering: "Notified or timed out, waiting to re-enter the monitor",
  joining: "Waiting for another thread to end",
  sleeping: "In Thread.sleep",
  parked: "In LockSupport.park, as used by the locks, queues and pools of java.util.concurrent",
  deadlocked: "Part of a cycle of waiting threads: it will never continue",
  suspended: "Suspended by Thread.suspend or a debugger",
  dead: "Ended",
};

/** The order of the legend: the costliest states first. */
export const legend: State[] = [
  "blocked",
  "deadlocked",
  "reentering",
  "waiting",
  "parked",
  "joining",
  "sleeping",
  "suspended",
  "runnable",
  "unknown",
  "dead",
];

/** The operations in the log. */
export const operations = [
  "block",
  "handoff",
  "wait",
  "notify",
  "notifyAll",
  "timeout",
  "join",
  "start",
  "end",
  "interrupt",
  "park",
  "unpark",
  "sleep",
  "deadlock",
] as const;

export const kinds = ["none", "start", "handoff", "notify", "notify_all", "interrupt", "join", "unpark"] as const;
export type Kind = (typeof kinds)[number];

/** The kinds that have an arrow and an entry in the legend. */
export const arrowKinds: Kind[] = ["handoff", "notify", "notify_all", "join", "start", "interrupt", "unpark"];

export const kindTitle: Record<Kind, string> = {
  none: "none",
  start: "start",
  handoff: "release → acquire",
  notify: "notify",
  notify_all: "notifyAll",
  interrupt: "interrupt",
  join: "terminate → join",
  unpark: "unpark",
};

export const kindHelp: Record<Kind, string> = {
  none: "",
  start: "From the caller of Thread.start to the new thread",
  handoff: "From the thread that released a lock to the thread that acquired it",
  notify: "From the caller of Object.notify to the thread it woke",
  notify_all: "From the caller of Object.notifyAll to each thread it woke",
  interrupt: "From the caller of Thread.interrupt to the thread it woke",
  join: "From the thread that ended to the thread that joined it",
  unpark: "From the caller of LockSupport.unpark to the thread it woke",
};

export const confidenceHelp: Record<string, string> = {
  exact: "reported by the JVM, or the only possibility",
  fifo: "assumes that HotSpot wakes the longest waiter",
  inferred: "the last known owner",
  ambiguous: "several candidates match",
};

export function stateNumber(name: State): number {
  return states.indexOf(name);
}
