// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The words of the page: states and kinds of interactions, in the order in which the server numbers them.

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
  unknown: "History is missing: the session was joined in its middle, or events were lost",
  runnable: "Running or ready to run; the JVM does not tell which",
  blocked: "Wants a monitor that another thread owns",
  waiting: "In Object.wait, until it is notified, interrupted or its time is over",
  reentering: "Notified or timed out, wants the monitor back",
  joining: "Waits for another thread to end",
  sleeping: "In Thread.sleep",
  parked: "In LockSupport.park: java.util.concurrent's locks, queues and pools wait so",
  deadlocked: "Waits in a cycle of threads: it will never go on",
  suspended: "Stopped by Thread.suspend or a debugger",
  dead: "Has ended",
};

/** The order of the legend: what hurts first. */
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

/** What a line of the log can say that a thread did. */
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

/** The kinds that are drawn, each with its own entry in the legend. */
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
  start: "From the thread that called Thread.start to the thread that began",
  handoff: "From the thread that released a lock to the thread that got it",
  notify: "From the caller of Object.notify to the thread that it woke",
  notify_all: "From the caller of Object.notifyAll to each thread that it woke",
  interrupt: "From the caller of Thread.interrupt to the thread that it woke",
  join: "From the thread that ended to the thread that waited for its end",
  unpark: "From the caller of LockSupport.unpark to the thread that it woke",
};

export const confidenceHelp: Record<string, string> = {
  exact: "nothing else is possible, or the JVM said so",
  fifo: "HotSpot wakes the thread that waited longest",
  inferred: "the last owner that showed itself",
  ambiguous: "several fit what was seen",
};

export function stateNumber(name: State): number {
  return states.indexOf(name);
}
